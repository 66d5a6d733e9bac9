//! Files that were compressed as a whole: gzip (RFC 1952), xz (the .xz format, 1.2) and zstd (RFC 8878).

use std::io::Read;

/// How many bytes a compressed file is expanded to at most. They are kept in memory, and a few megabytes can be made
/// to expand to any number.
pub(super) const LIMIT: usize = 4 << 30;

/// How many bytes are expanded at a time.
const STEP: usize = 256 * 1024;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip, of one or several members.
    Gzip,
    /// xz, of one or several streams.
    Xz,
    /// zstd, of one or several frames.
    Zstd,
}

/// Why a file could not be expanded.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// More than [`LIMIT`] bytes, or than there is memory.
    TooLarge,
    /// Not even the first byte.
    Damaged(String),
}

impl Compression {
    /// How a file that begins with these bytes is compressed.
    pub fn of(bytes: &[u8]) -> Option<Compression> {
        let all = [
            (&b"\x1f\x8b"[..], Compression::Gzip),
            (b"\xfd7zXZ\0", Compression::Xz),
            (b"\x28\xb5\x2f\xfd", Compression::Zstd),
        ];
        all.into_iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, compression)| compression)
    }

    /// Expands a file; what of it could be, and what is wrong behind that. `watch` is told how many bytes there are.
    pub(super) fn expand(
        self,
        stored: &[u8],
        limit: usize,
        watch: &dyn Fn(u64),
    ) -> Result<(Vec<u8>, Option<String>), Failure> {
        let mut expanded = Expanded { bytes: Vec::new(), limit, watch };
        let wrong = match self {
            Compression::Gzip => expanded.read(flate2::bufread::MultiGzDecoder::new(stored))?,
            Compression::Xz => expanded.read(lzma_rust2::XzReader::new(stored, true))?,
            Compression::Zstd => match zstd::Decoder::with_buffer(stored) {
                Ok(decoder) => expanded.read(decoder)?,
                Err(cause) => Some(cause.to_string()),
            },
        };
        match wrong {
            Some(cause) if expanded.bytes.is_empty() => Err(Failure::Damaged(cause)),
            wrong => Ok((expanded.bytes, wrong)),
        }
    }
}

impl std::fmt::Display for Compression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Compression::Gzip => "gzip",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
        })
    }
}

/// What there is so far.
struct Expanded<'a> {
    bytes: Vec<u8>,
    limit: usize,
    watch: &'a dyn Fn(u64),
}

impl Expanded<'_> {
    /// Reads to the end, or to what is wrong.
    fn read(&mut self, mut from: impl Read) -> Result<Option<String>, Failure> {
        let Expanded { bytes, limit, watch } = self;
        loop {
            let before = bytes.len();
            if before >= *limit || bytes.try_reserve(STEP).is_err() {
                return Err(Failure::TooLarge);
            }
            bytes.resize(before + STEP, 0);
            let read = from.read(&mut bytes[before..]);
            bytes.truncate(before + read.as_ref().map_or(0, |count| *count));
            match read {
                Ok(0) => return Ok(None),
                Ok(_) => watch(bytes.len() as u64),
                Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
                Err(cause) => return Ok(Some(cause.to_string())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).unwrap()
    }

    #[test]
    fn each_is_told_by_its_magic_and_expands() {
        let text = b"\x7fTRACE0\n".repeat(100_000);
        for (stored, name) in [(gzip(&text), "gzip"), (xz(&text), "xz"), (zstd(&text), "zstd")] {
            let compression = Compression::of(&stored).unwrap();
            assert_eq!(compression.to_string(), name);
            assert!(stored.len() < text.len());
            let said = Cell::new(0);
            let expand = |stored: &[u8], limit| compression.expand(stored, limit, &|bytes| said.set(bytes));
            assert_eq!(expand(&stored, LIMIT), Ok((text.clone(), None)), "{name}");
            assert_eq!(said.get(), text.len() as u64, "{name}");
            let twice = [stored.clone(), stored.clone()].concat();
            assert_eq!(expand(&twice, LIMIT), Ok((text.repeat(2), None)), "{name}");
            assert_eq!(expand(&stored, text.len() - 1), Err(Failure::TooLarge), "{name}");
        }
        assert_eq!(Compression::of(b"\x7fTRACE0\n"), None);
    }

    #[test]
    fn what_comes_before_damage_is_had() {
        let bytes: Vec<u8> = (0..150_000u32).flat_map(|at| (at.wrapping_mul(at) >> 7).to_le_bytes()).collect();
        for stored in [gzip(&bytes), xz(&bytes), zstd(&bytes)] {
            let compression = Compression::of(&stored).unwrap();
            let expand = |stored| compression.expand(stored, LIMIT, &|_| ());
            let (expanded, wrong) = expand(&stored[..stored.len() / 2]).unwrap();
            assert!(wrong.is_some(), "{compression}");
            assert!(expanded.len() > bytes.len() / 4 && bytes.starts_with(&expanded), "{compression}");
            let head = expand(&stored[..7]);
            assert!(matches!(head, Err(Failure::Damaged(_))), "{compression}: {head:?}");
        }
    }
}
