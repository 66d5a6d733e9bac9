//! Whether tracepoints lie where their own words say, in this build of the program.

use super::PlacedImage;
use super::location::{Location, parse};
use super::placement::{Anchor, Places};

/// So many tracepoints are compared with the program.
const MOST_ANCHORS: usize = 1000;

impl PlacedImage {
    /// The first of the tracepoints that this program contradicts, by its place in `anchors`, and in which way: its
    /// words name a place that is elsewhere in this program, or it lies where the program has no code. Another build
    /// was recorded then, or another program.
    ///
    /// A tracepoint outside the program is in a library, and says nothing as long as another lies inside.
    pub fn disagreement(&self, anchors: &[Anchor<'_>]) -> Option<(usize, String)> {
        if !self.is_placed() {
            return None;
        }
        let anchors = anchors.get(..MOST_ANCHORS).unwrap_or(anchors);
        let named: Vec<Option<Location<'_>>> = anchors.iter().map(|anchor| parse(anchor.at?)).collect();
        let places = Places::of(&self.image, named.iter().flatten().copied());
        let moved = anchors.iter().zip(&named).position(|(anchor, location)| {
            self.is_code(anchor.address)
                && location.is_some_and(|location| !self.is_at(anchor.address, location, &places))
        });
        if let Some(at) = moved {
            let Anchor { address, at: words } = anchors.get(at)?;
            let found = self.place_name(*address);
            return Some((at, format!("was set at {}, and {address:#x} is {found}", words.unwrap_or_default())));
        }
        let inside = anchors.iter().any(|anchor| self.is_code(anchor.address));
        let astray = anchors.iter().position(|anchor| {
            let in_reach = !self.read_only(anchor.address).is_empty();
            !self.is_code(anchor.address) && (in_reach || !inside)
        })?;
        let address = anchors.get(astray)?.address;
        Some((astray, format!("is at {address:#x}, where there is no code")))
    }

    /// Whether an address can be meant by words, or the words mean nothing in this program.
    fn is_at(&self, address: u64, location: Location<'_>, places: &Places<'_>) -> bool {
        let linked = address.wrapping_sub(self.bias);
        let candidates = places.candidates(&self.image, location);
        if candidates.is_nowhere() || candidates.contains(linked) {
            return true;
        }
        // A line may have been split up, and a function been inlined where it has no symbol: then the address is of
        // that line, or of a line of that function.
        let found = self.image.line(linked);
        match location {
            Location::Code(..) => false,
            Location::Line { line, .. } => found.is_some_and(|(_, found)| u64::from(found) == line),
            Location::Function(_) => {
                found.is_some() && candidates.addresses().any(|address| self.image.line(address) == found)
            }
        }
    }

    /// `step+4 case.c:19`.
    fn place_name(&self, address: u64) -> String {
        let function = self.function(address).map(|(name, offset)| format!("{name}+{offset}"));
        let line = self.line(address).map(|(file, line)| format!("{file}:{line}"));
        match (function, line) {
            (Some(function), Some(line)) => format!("{function} {line}"),
            (Some(place), None) | (None, Some(place)) => place,
            (None, None) => "a place without a name".to_owned(),
        }
    }
}
