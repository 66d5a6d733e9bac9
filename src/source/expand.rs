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

    /// Expands a file; what of it could be, and what is wrong behind that.
    pub(super) fn expand(self, stored: &[u8], limit: usize) -> Result<(Vec<u8>, Option<String>), Failure> {
        let mut expanded = Vec::new();
        let wrong = match self {
            Compression::Gzip => read(flate2::bufread::MultiGzDecoder::new(stored), &mut expanded, limit)?,
            Compression::Xz => read(lzma_rust2::XzReader::new(stored, true), &mut expanded, limit)?,
            Compression::Zstd => match zstd::Decoder::with_buffer(stored) {
                Ok(decoder) => read(decoder, &mut expanded, limit)?,
                Err(cause) => Some(cause.to_string()),
            },
        };
        match wrong {
            Some(cause) if expanded.is_empty() => Err(Failure::Damaged(cause)),
            wrong => Ok((expanded, wrong)),
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

/// Reads to the end, or to what is wrong.
fn read(mut from: impl Read, expanded: &mut Vec<u8>, limit: usize) -> Result<Option<String>, Failure> {
    loop {
        let before = expanded.len();
        if before >= limit || expanded.try_reserve(STEP).is_err() {
            return Err(Failure::TooLarge);
        }
        expanded.resize(before + STEP, 0);
        let read = from.read(&mut expanded[before..]);
        expanded.truncate(before + read.as_ref().map_or(0, |count| *count));
        match read {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Err(cause) => return Ok(Some(cause.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            assert_eq!(compression.expand(&stored, LIMIT), Ok((text.clone(), None)), "{name}");
            let twice = [stored.clone(), stored.clone()].concat();
            assert_eq!(compression.expand(&twice, LIMIT), Ok((text.repeat(2), None)), "{name}");
            assert_eq!(compression.expand(&stored, text.len() - 1), Err(Failure::TooLarge), "{name}");
        }
        assert_eq!(Compression::of(b"\x7fTRACE0\n"), None);
    }

    #[test]
    fn what_comes_before_damage_is_had() {
        let bytes: Vec<u8> = (0..150_000u32).flat_map(|at| (at.wrapping_mul(at) >> 7).to_le_bytes()).collect();
        for stored in [gzip(&bytes), xz(&bytes), zstd(&bytes)] {
            let compression = Compression::of(&stored).unwrap();
            let (expanded, wrong) = compression.expand(&stored[..stored.len() / 2], LIMIT).unwrap();
            assert!(wrong.is_some(), "{compression}");
            assert!(expanded.len() > bytes.len() / 4 && bytes.starts_with(&expanded), "{compression}");
            let head = compression.expand(&stored[..7], LIMIT);
            assert!(matches!(head, Err(Failure::Damaged(_))), "{compression}: {head:?}");
        }
    }
}
