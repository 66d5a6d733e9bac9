//! Version 7: options, and the sections they point to.

use std::collections::{HashMap, HashSet};

use super::buffers::{self, Described};
use super::compression::Algorithm;
use super::extent::Extent;
use super::header::{Header, Version};
use super::options::{self, BufferOption, Next, TraceOption, Value};
use super::parts::{BufferText, Parts};
use super::section::{self, Reader, Section, id};
use super::{btf, recovered, texts};

/// Reads everything but the data of buffers.
pub(super) fn read(reader: &mut Reader<'_>, header: &Header) -> Parts {
    let mut parts = Parts {
        sections: section::chain(reader.source, reader.order, header.end, &mut reader.damage),
        ..Parts::default()
    };
    let sections = parts.sections.clone();
    for section in sections.iter().filter(|section| section.id == id::STRINGS) {
        if let Some(content) = reader.content(section) {
            parts.strings.0.extend(content.bytes(reader.source));
        }
    }
    let nameless = |section: &&Section| section.description > 0 && parts.strings.get(section.description).is_none();
    if let Some(first) = sections.iter().find(nameless) {
        let what = format!(
            "there is no string {}, the description of this section; others may lack theirs",
            first.description
        );
        reader.damaged(first.at, what);
    }
    all_options(reader, header.options_at.unwrap_or(0), &sections, &mut parts.options);
    let mut located = Located::new(&parts.options, &sections);
    texts(reader, &mut located, &mut parts);
    let mut known = HashSet::new();
    for option in std::mem::take(&mut parts.options) {
        match &option.value {
            Value::Buffer(buffer) => {
                known.insert(buffer.at);
                parts.described.push(described(reader, buffer, option.at));
            }
            Value::BufferText(buffer) => {
                if !known.insert(buffer.at) {
                    let words = section::called(id::BUFFER_TEXT);
                    reader.damaged(option.at, format!("{words} at {:#x} is named again; it is shown once", buffer.at));
                    parts.options.push(option);
                    continue;
                }
                let section = reader.section(buffer.at, id::BUFFER_TEXT);
                if let Some(content) = section.and_then(|section| reader.chunks(&section)) {
                    let (name, clock) = (buffer.name.clone(), buffer.clock.clone());
                    parts.texts.push(BufferText { name, clock, content });
                }
            }
            _ => {}
        }
        parts.options.push(option);
    }
    undescribed(reader, &known, header.page_size, &mut parts);
    parts
}

/// Reads the options sections from `first` on, each of which says where the next is. Where that ends in damage, those
/// that the chain of sections leads to are read too.
fn all_options(reader: &mut Reader<'_>, first: u64, chain: &[Section], into: &mut Vec<TraceOption>) {
    let mut visited = HashSet::new();
    // Sections do not overlap, so together they cannot be larger than the file.
    let mut left = reader.source.length();
    let mut next = Some(first);
    while let Some(at) = next.filter(|at| *at != 0) {
        if !visited.insert(at) {
            reader.damaged(at, "the options lead back to a section that was read; they end here".to_owned());
            next = None;
            break;
        }
        let section = reader.section(at, id::OPTIONS);
        let Some(section) = section else {
            next = None;
            break;
        };
        let length = Extent::in_file(reader.source, section.data_at(), section.size).length() as u64;
        let Some(rest) = left.checked_sub(length) else {
            reader.damaged(at, "this options section overlaps others; the options end here".to_owned());
            next = None;
            break;
        };
        left = rest;
        next = options_of(reader, &section, into);
    }
    if next.is_none() || first == 0 {
        for section in chain.iter().filter(|section| section.id == id::OPTIONS && !visited.contains(&section.at)) {
            options_of(reader, section, into);
        }
    }
}

/// Reads the options of one section; where the next section is, 0 for none, `None` where that is lost.
fn options_of(reader: &mut Reader<'_>, section: &Section, into: &mut Vec<TraceOption>) -> Option<u64> {
    let content = reader.content(section)?;
    let mut cursor = content.cursor(reader.source, reader.order);
    while !cursor.is_at_end() {
        let position = cursor.position();
        if into.len() >= options::MOST {
            let what = format!("there are more than {} options; the rest is lost", options::MOST);
            reader.damage.push(content.damage(position, what));
            return None;
        }
        match options::next(&mut cursor, &content, reader.order, Version::Seven) {
            Next::Option(option, wrong) => {
                if let Some(wrong) = wrong {
                    let what = format!("{} cannot be read as a whole: {wrong}", options::called(option.id));
                    reader.damage.push(content.damage(position, what));
                }
                let next = match option.value {
                    Value::Done(next) => Some(next),
                    _ => None,
                };
                into.push(*option);
                if next.is_some() {
                    return next;
                }
            }
            Next::End => return None,
            Next::Cut(id, cause) => {
                let named = id.map_or_else(|| "an option".to_owned(), options::called);
                let what = format!(
                    "{named} is cut: {} bytes belong here, of which {} are there; it and the rest of these options are lost",
                    cause.wanted, cause.left
                );
                reader.damage.push(content.damage(position, what));
                return None;
            }
        }
    }
    let what = "the options end without one that says where the next are (DONE)".to_owned();
    reader.damage.push(content.damage(content.length() as u64, what));
    None
}

/// Where sections are: as the options say, and where they do not, as the chain of sections has it.
struct Located<'a> {
    told: HashMap<u16, u64>,
    chain: &'a [Section],
}

impl<'a> Located<'a> {
    fn new(options: &[TraceOption], chain: &'a [Section]) -> Located<'a> {
        let told = options.iter().filter_map(|option| match option.value {
            Value::Section(at) => Some((option.id, at)),
            _ => None,
        });
        Located { told: told.collect(), chain }
    }

    fn content(&mut self, reader: &mut Reader<'_>, id: u16) -> Option<(Section, Extent)> {
        let told = self.told.get(&id).and_then(|at| reader.section(*at, id));
        let section = told.or_else(|| self.chain.iter().find(|section| section.id == id).copied())?;
        Some((section, reader.content(&section)?))
    }
}

fn texts(reader: &mut Reader<'_>, located: &mut Located<'_>, parts: &mut Parts) {
    let order = reader.order;
    let source = reader.source;
    let wrong = |reader: &mut Reader<'_>, content: &Extent, result: Result<(), texts::Wrong>| {
        if let Err((position, what)) = result {
            reader.damage.push(content.damage(position, what));
        }
    };
    if let Some((_, content)) = located.content(reader, id::HEADER_INFO) {
        let result = texts::header_info(&mut content.cursor(source, order), &content, &mut parts.header_info);
        wrong(reader, &content, result);
    }
    if let Some((_, content)) = located.content(reader, id::FTRACE_EVENTS) {
        let result = texts::ftrace_formats(&mut content.cursor(source, order), &content, &mut parts.ftrace);
        wrong(reader, &content, result);
    }
    if let Some((_, content)) = located.content(reader, id::EVENT_FORMATS) {
        let result = texts::event_formats(&mut content.cursor(source, order), &content, &mut parts.events);
        wrong(reader, &content, result);
    }
    let lines = [
        (id::KALLSYMS, 4, &mut parts.kallsyms),
        (id::PRINTK, 4, &mut parts.printk),
        (id::CMDLINES, 8, &mut parts.command_lines),
    ];
    for (id, width, into) in lines {
        if let Some((_, content)) = located.content(reader, id) {
            let (text, result) = texts::lines(&mut content.cursor(source, order), &content, width);
            *into = text;
            let named = |(position, what)| (position, format!("the text of {}: {what}", section::called(id)));
            wrong(reader, &content, result.map_err(named));
        }
    }
    if let Some((section, content)) = located.content(reader, id::BTF_FILE) {
        parts.btf = btf::btf(&content, source);
        if parts.btf.is_none() {
            let what = "the BTF FILE section does not begin with the magic number of BTF, eb9f; it is lost".to_owned();
            reader.damaged(section.at, what);
        }
    }
    if let Some((_, content)) = located.content(reader, id::MODULES_FILE) {
        parts.modules = Some(btf::modules(&content, source, order));
    }
}

fn described(reader: &mut Reader<'_>, buffer: &BufferOption, at: u64) -> Described {
    // Where the section's header is damaged, its data are as the file says that its data are.
    let section = reader.section(buffer.at, id::BUFFER);
    let compressed = section.map_or(*reader.algorithm != Algorithm::None, |section| section.is_compressed());
    Described {
        name: buffer.name.clone(),
        clock: buffer.clock.clone(),
        page_size: buffer.page_size.unwrap_or(0),
        cpus: buffer.cpus.clone(),
        compressed,
        recovered: false,
        at,
    }
}

/// What there is of the data that no option describes.
fn undescribed(reader: &mut Reader<'_>, known: &HashSet<u64>, page_size: u32, parts: &mut Parts) {
    let clock = parts.options.iter().find_map(|option| match &option.value {
        Value::TraceClock(clock) => clock.selected.clone(),
        _ => None,
    });
    for section in parts.sections.iter().filter(|section| !known.contains(&section.at)) {
        let (at, words) = (section.at, section::called(section.id));
        match section.id {
            id::BUFFER if buffers::is_page_size(page_size) => {
                let cpus = recovered::cpus(reader.source, reader.order, section, page_size);
                // trace-cmd's writer calls the section so.
                let description = parts.strings.get(section.description).unwrap_or("");
                let name = description.strip_prefix("buffer flyrecord ").unwrap_or("").to_owned();
                let what = format!(
                    "no option says which CPUs' data are in {words}; they are taken for {}, of which {} CPUs are counted from 0",
                    buffers::called(&name),
                    cpus.len()
                );
                reader.damaged(at, what);
                let (clock, compressed) = (clock.clone(), section.is_compressed());
                parts.described.push(Described { name, clock, page_size, cpus, compressed, recovered: true, at });
            }
            id::BUFFER => reader.damaged(at, format!("no option says what the pages of {words} are; it is lost")),
            id::BUFFER_TEXT => {
                reader.damaged(at, format!("no option says which buffer {words} is of; it is taken for the top one's"));
                if let Some(content) = reader.chunks(section) {
                    parts.texts.push(BufferText { name: String::new(), clock: clock.clone(), content });
                }
            }
            _ => {}
        }
    }
}
