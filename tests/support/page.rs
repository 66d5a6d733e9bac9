//! The pages that show what is typed and what is seen: the README, and one for each other client.

use std::path::{Path, PathBuf};

/// A page in Markdown.
pub struct Page {
    text: String,
}

/// A command, and the lines that it shows.
pub type Typed = (String, Vec<String>);

impl Page {
    /// A page by its path in the project.
    pub fn read(path: impl AsRef<Path>) -> Page {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        Page { text: std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())) }
    }

    /// The page of a client.
    pub fn of_client(name: &str) -> Page {
        Page::read(Path::new("src/rsp/clients").join(name).with_extension("md"))
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The contents of its code blocks of one kind.
    pub fn blocks(&self, kind: &str) -> Vec<String> {
        let mark = format!("```{kind}\n");
        self.text.split(&mark).skip(1).map(|block| block.split_once("```").unwrap().0.to_owned()).collect()
    }

    /// The one code block of a kind.
    pub fn block(&self, kind: &str) -> String {
        match &self.blocks(kind)[..] {
            [block] => block.clone(),
            blocks => panic!("{} blocks of {kind}", blocks.len()),
        }
    }

    /// The commands of its sessions behind a prompt, and what it shows for each.
    pub fn typed(&self, prompt: &str) -> Vec<Typed> {
        let mut typed: Vec<Typed> = Vec::new();
        for block in self.blocks("console").iter().filter(|block| block.starts_with(prompt)) {
            for line in block.lines() {
                match line.strip_prefix(prompt) {
                    Some(command) => typed.push((command.to_owned(), Vec::new())),
                    None => typed.last_mut().unwrap().1.push(line.to_owned()),
                }
            }
        }
        assert!(!typed.is_empty(), "nothing is typed behind {prompt}");
        typed
    }
}

/// The commands alone.
pub fn commands(typed: &[Typed]) -> Vec<String> {
    typed.iter().map(|(command, _)| command.clone()).collect()
}

/// What a transcript with each command behind its prompt must be.
pub fn transcript(typed: &[Typed], prompt: &str) -> String {
    let lines = typed.iter().flat_map(|(command, lines)| [vec![format!("{prompt}{command}")], lines.clone()].concat());
    lines.map(|line| line + "\n").collect()
}

/// The folder of the demo's recording, program and source, which the pages call `/home/me`.
pub fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/demo")
}

/// Names in a page, and what they stand for in a test.
pub struct Names(Vec<(String, String)>);

impl Names {
    /// Pairs of a name and what it stands for.
    pub fn new(pairs: &[(&str, &str)]) -> Names {
        Names(pairs.iter().map(|(name, meant)| ((*name).to_owned(), (*meant).to_owned())).collect())
    }

    /// A text of the page as it is meant.
    pub fn meant(&self, text: &str) -> String {
        let mut pairs: Vec<_> = self.0.iter().collect();
        pairs.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        pairs.iter().fold(text.to_owned(), |text, (name, meant)| text.replace(name, meant))
    }

    /// What is seen, in the names of the page.
    pub fn shown(&self, text: &str) -> String {
        let mut pairs: Vec<_> = self.0.iter().collect();
        pairs.sort_by_key(|(_, meant)| std::cmp::Reverse(meant.len()));
        pairs.iter().fold(text.to_owned(), |text, (name, meant)| text.replace(meant, name))
    }

    /// Commands of the page as they are meant.
    pub fn commands(&self, typed: &[Typed]) -> Vec<String> {
        typed.iter().map(|(command, _)| self.meant(command)).collect()
    }
}

/// Whether a text is as the page shows it, where `...` stands for anything.
pub fn fits(text: &str, shown: &str) -> bool {
    let mut parts = shown.split("...");
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (at, part) in parts.iter().enumerate() {
        let found = if at + 1 == parts.len() { rest.strip_suffix(part).map(str::len) } else { rest.find(part) };
        match found {
            Some(start) => rest = &rest[start + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}
