//! Build IDs: whether a program is the one that ran.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::DescriptionError;
use crate::image::Image;

/// The build ID that a program must have: `NT_GNU_BUILD_ID`, which the linker leaves and `file` and `readelf -n` show.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildId(Vec<u8>);

/// A program that is another build than the one that was said to have run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: {}, but what ran has {expected}: the trace would be read wrongly (give the program that ran, or, if you know \
     better, --allow-mismatch)", path.display(), has(found)
)]
pub struct Mismatch {
    /// The program.
    pub path: PathBuf,
    /// Its build ID, if it has one.
    pub found: Option<BuildId>,
    /// The one of what ran.
    pub expected: BuildId,
}

fn has(found: &Option<BuildId>) -> String {
    found.as_ref().map_or("has no build ID".to_owned(), |found| format!("has the build ID {found}"))
}

impl BuildId {
    /// Checks that a program has this build ID.
    ///
    /// # Errors
    ///
    /// It has another, or none.
    pub fn check(&self, image: &Image) -> Result<(), Mismatch> {
        match image.build_id() {
            Some(found) if found == self.0 => Ok(()),
            found => Err(Mismatch {
                path: image.path().to_owned(),
                found: found.map(|found| BuildId(found.to_vec())),
                expected: self.clone(),
            }),
        }
    }

    /// Its bytes, usually 20.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl FromStr for BuildId {
    type Err = DescriptionError;

    fn from_str(text: &str) -> Result<BuildId, DescriptionError> {
        match hex::decode(text) {
            Ok(bytes) if !bytes.is_empty() => Ok(BuildId(bytes)),
            _ => Err(DescriptionError::BuildId { found: text.to_owned() }),
        }
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}
