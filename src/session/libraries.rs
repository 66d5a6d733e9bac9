//! Shared libraries: the files that the user gives, at the places that the recording tells.

use std::sync::Arc;

use crate::image::{Image, PlacedImage, Placement};
use crate::trace::Library;

/// What is known of the shared libraries of a process.
#[derive(Default)]
pub(super) struct Libraries {
    /// Files that are given, where they lay.
    pub placed: Vec<PlacedImage>,
    /// Those that nobody gives.
    pub missing: Vec<Library>,
    /// Files that are given, of which it is not told where they lay.
    pub unplaced: Vec<Arc<Image>>,
}

impl Libraries {
    /// Files go with the recording's libraries by their names; where they lie now need not be where they lay.
    pub fn new(given: Vec<Arc<Image>>, recorded: Vec<Library>) -> Libraries {
        let mut libraries = Libraries { missing: recorded, ..Libraries::default() };
        for image in given {
            let found =
                libraries.missing.iter().position(|library| library.path.file_name() == image.path().file_name());
            match found.map(|found| libraries.missing.remove(found)) {
                Some(library) => {
                    let bias = library.address.wrapping_sub(image.first_page());
                    libraries.placed.push(PlacedImage { image, bias, placement: Placement::Recorded });
                }
                None => libraries.unplaced.push(image),
            }
        }
        libraries
    }
}
