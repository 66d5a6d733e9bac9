//! The descriptions of sections.
//!
//! trace-cmd.dat.v7(5), "Strings section": NUL-terminated strings, which are named by their offset; several sections of
//! them make one.

/// How many bytes a string is looked for in. The longest that trace-cmd writes hold the name of an instance.
const LONGEST: usize = 1024;

/// All strings of a file, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Strings(pub Vec<u8>);

impl Strings {
    /// The string at an offset. `None` where there is none; a file that trace-cmd restored has no strings at all.
    pub fn get(&self, offset: u32) -> Option<&str> {
        let rest = self.0.get(usize::try_from(offset).ok()?..)?;
        let length = memchr::memchr(0, rest.get(..LONGEST).unwrap_or(rest))?;
        std::str::from_utf8(rest.get(..length)?).ok()
    }

    /// Every string with its offset.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut at = 0u32;
        std::iter::from_fn(move || {
            let found = (at, self.get(at)?);
            at = at.checked_add(u32::try_from(found.1.len()).ok()?)?.checked_add(1)?;
            Some(found)
        })
    }
}
