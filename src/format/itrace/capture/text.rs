//! Small text files.

use std::path::Path;

use super::CaptureError;
use crate::source::Source;

/// No file that describes a capture is larger.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a file, without a byte order mark. Bytes that are not UTF-8, which old tools leave in comments, are
/// replaced.
pub(super) fn read(path: &Path) -> Result<String, CaptureError> {
    let failed = |cause: String| CaptureError::Text { path: path.to_owned(), line: None, cause };
    let source = Source::open(path)?;
    let length = source.length();
    if length > MOST_BYTES {
        return Err(failed(format!("has {length} bytes, which is no description of a trace (at most 1 MiB is read)")));
    }
    // Cut off too: the file may have grown.
    let bytes = source.slice(0, MOST_BYTES as usize);
    if bytes.contains(&0) {
        return Err(failed("is not UTF-8 text (a zero byte is in it; save it as UTF-8)".to_owned()));
    }
    let text = String::from_utf8_lossy(bytes);
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}
