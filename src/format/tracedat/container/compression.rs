//! The algorithms that sections and chunks are compressed with.
//!
//! zlib writes one zlib stream (RFC 1950), zstd one frame (RFC 8878), for each section and for each chunk. A zlib stream
//! has a checksum; trace-cmd's zstd frames have none, so that a changed byte of them need not be found.

use std::cell::RefCell;

use flate2::{Decompress, FlushDecompress, Status};
use zstd::zstd_safe::{self, DCtx, zstd_sys::ZSTD_ErrorCode};

use super::header::CompressionHeader;

/// An algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Nothing is compressed.
    None,
    /// zlib (RFC 1950).
    Zlib,
    /// Zstandard (RFC 8878).
    Zstd,
    /// One that is not known here.
    Unknown(String),
}

impl Algorithm {
    /// The algorithm that a header names.
    pub fn of(header: Option<&CompressionHeader>) -> Algorithm {
        match header.map_or("none", |header| header.name.as_str()) {
            "none" => Algorithm::None,
            "zlib" => Algorithm::Zlib,
            "zstd" => Algorithm::Zstd,
            other => Algorithm::Unknown(other.to_owned()),
        }
    }

    /// To how many bytes one compressed byte can expand at most: deflate writes 258 bytes with 2 bits (zlib's technical
    /// notes), a zstd block of 4 bytes expands to 128 KiB (RFC 8878, 3.1.1.2).
    fn ratio(&self) -> u64 {
        match self {
            Algorithm::None | Algorithm::Unknown(_) => 1,
            Algorithm::Zlib => 1032,
            Algorithm::Zstd => (128 << 10) / 4,
        }
    }

    /// Whether `stored` compressed bytes can be what `size` bytes were compressed to.
    pub(super) fn can_hold(&self, stored: u64, size: u64) -> bool {
        stored > 0 && size <= stored.saturating_mul(self.ratio())
    }

    /// Expands what was compressed from `size` bytes; it must expand to exactly that many. The caller has checked
    /// `size` against what it allows.
    pub(super) fn expand(&self, stored: &[u8], size: usize) -> Result<Vec<u8>, String> {
        match self {
            Algorithm::None => return Err("the file says that nothing is compressed".to_owned()),
            Algorithm::Unknown(name) => return Err(format!("the algorithm {name:?} is not known")),
            Algorithm::Zlib | Algorithm::Zstd => {}
        }
        if !self.can_hold(stored.len() as u64, size as u64) {
            return Err(format!("{} bytes cannot expand to {size} bytes", stored.len()));
        }
        let bytes = if *self == Algorithm::Zlib { inflate(stored, size)? } else { unpack(stored, size)? };
        match bytes.len() == size {
            true => Ok(bytes),
            false => Err(format!("it expands to {} bytes, expected {size}", bytes.len())),
        }
    }
}

/// How many bytes there is room for at first; the room grows with what is expanded, not with what is announced.
const FIRST: usize = 64 << 10;

thread_local! {
    /// To make one takes a tenth of the time that expanding a chunk does.
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// How many times larger than its zstd data a text usually is, at most.
const USUAL_RATIO: usize = 16;

/// What zstd returns where the data expand to more than there is room for (`zstd_errors.h`).
const NO_ROOM: usize = 0_usize.wrapping_sub(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize);

fn unpack(stored: &[u8], size: usize) -> Result<Vec<u8>, String> {
    // A frame may say how long it is; where that is something else, one of the two is damaged, and nothing is expanded.
    if let Ok(Some(said)) = zstd_safe::get_frame_content_size(stored)
        && said != size as u64
    {
        return Err(format!("the zstd data say that they expand to {said} bytes, expected {size}"));
    }
    let mut bytes = Vec::new();
    let mut room = stored.len().saturating_mul(USUAL_RATIO).max(FIRST).min(size);
    loop {
        bytes.try_reserve_exact(room).map_err(|_| format!("there is no memory for {size} bytes"))?;
        // Begun anew in more room: going on in more room takes zstd a window, whose size is announced too.
        match DECOMPRESSOR.with_borrow_mut(|decompressor| decompressor.decompress(&mut bytes, stored)) {
            Ok(_) => return Ok(bytes),
            Err(NO_ROOM) if room < size => room = room.saturating_mul(4).min(size),
            Err(cause) => return Err(format!("damaged zstd data: {}", zstd_safe::get_error_name(cause))),
        }
    }
}

fn inflate(stored: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut decompress = Decompress::new(true);
    // One byte more than there should be, so that the end of the stream is read, and what is too long is found.
    let most = size.saturating_add(1);
    let mut bytes = Vec::with_capacity(most.min(FIRST));
    loop {
        let rest = stored.get(decompress.total_in() as usize..).unwrap_or(&[]);
        match decompress.decompress_vec(rest, &mut bytes, FlushDecompress::None) {
            Ok(Status::StreamEnd) => return Ok(bytes),
            Ok(_) if bytes.len() >= most => return Err("it expands to more bytes than stated".to_owned()),
            Ok(_) if bytes.len() == bytes.capacity() => {
                let more = bytes.len().max(FIRST).min(most - bytes.len());
                bytes.try_reserve_exact(more).map_err(|_| format!("there is no memory for {size} bytes"))?;
            }
            Ok(_) => return Err("the zlib data are cut".to_owned()),
            Err(cause) => return Err(format!("damaged zlib data: {cause}")),
        }
    }
}

impl std::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Algorithm::None => "none",
            Algorithm::Zlib => "zlib",
            Algorithm::Zstd => "zstd",
            Algorithm::Unknown(name) => name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn what_was_compressed_expands_to_exactly_what_it_was() {
        let bytes: Vec<u8> = (0..40_960u32).map(|at| (at.wrapping_mul(at) >> 9) as u8).collect();
        for (algorithm, stored) in
            [(Algorithm::Zlib, zlib(&bytes)), (Algorithm::Zstd, zstd::encode_all(&bytes[..], 3).unwrap())]
        {
            assert_eq!(algorithm.expand(&stored, bytes.len()).as_deref(), Ok(&bytes[..]), "{algorithm}");
            for size in [0, 1, bytes.len() - 1, bytes.len() + 1, usize::MAX] {
                assert!(algorithm.expand(&stored, size).is_err(), "{algorithm} to {size}");
            }
            for length in (0..stored.len()).step_by(97) {
                assert!(algorithm.expand(&stored[..length], bytes.len()).is_err(), "{algorithm} cut to {length}");
            }
            let unknown = Algorithm::Unknown("lz4".to_owned());
            assert_eq!(unknown.expand(&stored, 10), Err("the algorithm \"lz4\" is not known".to_owned()));
        }
    }

    #[test]
    fn a_long_run_of_one_byte_is_within_what_can_be_held() {
        let zeros = vec![0; 8 << 20];
        for (algorithm, stored) in
            [(Algorithm::Zlib, zlib(&zeros)), (Algorithm::Zstd, zstd::encode_all(&zeros[..], 19).unwrap())]
        {
            assert!(algorithm.expand(&stored, zeros.len()).is_ok_and(|bytes| bytes == zeros), "{algorithm}");
        }
    }
}
