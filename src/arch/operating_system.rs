//! What a target description says of the operating system, where that decides who steps.

use super::description::{self, DescriptionError};
use super::traits;

/// The element that keeps gdb from supposing any (gdb manual, "Target Description Format").
const NONE: &str = "<osabi>none</osabi>";

/// A description with which gdb leaves stepping to the server, where it would not with `xml`; and what was changed.
///
/// For RISC-V with GNU/Linux, which gdb also supposes where nothing is said, it computes each next instruction itself
/// and has the server continue to it (riscv-linux-tdep.c, `riscv_software_single_step`): that runs past everything
/// that was not recorded. Seen with gdb 13.1.
pub(super) fn without(xml: &str, architecture: &str) -> Result<Option<(String, String)>, DescriptionError> {
    if !traits::is_riscv(architecture) {
        return Ok(None);
    }
    let places = description::places(xml)?;
    let (place, was) = match (places.operating_system, places.behind_architecture) {
        (Some((_, named)), _) if named == "none" => return Ok(None),
        (Some((place, named)), _) => (place, format!("has {}", description::quoted(&named))),
        (None, Some(at)) => (at..at, "has none".to_owned()),
        (None, None) => return Ok(None),
    };
    let (Some(before), Some(behind)) = (xml.get(..place.start), xml.get(place.end..)) else { return Ok(None) };
    let remark = format!(
        "gdb is told not to suppose an operating system (the target description {was}): it would compute each next \
         instruction itself, and run past what was not recorded"
    );
    Ok(Some((format!("{before}{NONE}{behind}"), remark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gdb_is_told_none_for_riscv_wherever_it_would_suppose_one() {
        let with = |osabi: &str| {
            format!(
                "\n<!-- <osabi>x</osabi> --><target version='1.0'><architecture>riscv:rv64</architecture>{osabi}<feature name='f'/></target>"
            )
        };
        let told = |xml: &str| without(xml, "riscv:rv64").unwrap();
        for osabi in ["<osabi>GNU/Linux</osabi>", "", "<osabi/>", "<osabi> FreeBSD\n</osabi>"] {
            let (changed, remark) = told(&with(osabi)).unwrap();
            assert_eq!(changed, with(NONE), "{osabi}");
            assert!(remark.contains(if osabi.contains("Linux") { "has GNU/Linux" } else { "has " }), "{remark}");
            assert_eq!(told(&changed), None);
        }
        assert_eq!(without(&with(""), "aarch64").unwrap(), None);
        let bare = told("<target><feature name='f'/></target>").unwrap().0;
        assert_eq!(bare, format!("<target>{NONE}<feature name='f'/></target>"));
        assert_eq!(told("<target/>"), None, "there is nothing to be told in");
    }
}
