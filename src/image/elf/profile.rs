//! Which of Arm's architecture profiles a program is for.

use object::elf;
use object::read::elf::{AttributesSection, FileHeader, SectionHeader};
use object::{Endianness, Result};

/// The tags of build attributes that matter here, and those below 32 whose values are text (ABI for the Arm Architecture,
/// "Addenda to, and Errata in, the ABI", 3.3).
const ARCHITECTURE_PROFILE: u64 = 7;
const COMPATIBILITY: u64 = 32;
const TEXTS: [u64; 2] = [4, 5];

/// Whether the build attributes say that a program is for the M-profile. Damage in them says nothing.
pub(super) fn is_m<H: FileHeader<Endian = Endianness>>(
    data: &[u8],
    endian: Endianness,
    headers: &[H::SectionHeader],
) -> bool {
    let attributes = headers.iter().filter(|header| header.sh_type(endian) == elf::SHT_ARM_ATTRIBUTES);
    let profile = |header: &H::SectionHeader| profile(&header.attributes(endian, data).ok()?).ok()?;
    attributes.filter_map(profile).any(|profile| profile == u64::from(b'M'))
}

fn profile<H: FileHeader>(section: &AttributesSection<'_, H>) -> Result<Option<u64>> {
    let mut subsections = section.subsections()?;
    while let Some(subsection) = subsections.next()? {
        if subsection.vendor() != b"aeabi" {
            continue;
        }
        let mut parts = subsection.subsubsections();
        while let Some(part) = parts.next()? {
            let mut attributes = part.attributes();
            while let Some(tag) = attributes.read_tag()? {
                let is_text = TEXTS.contains(&tag) || tag > COMPATIBILITY && tag % 2 == 1;
                if !is_text {
                    let value = attributes.read_integer()?;
                    if tag == ARCHITECTURE_PROFILE {
                        return Ok(Some(value));
                    }
                }
                if is_text || tag == COMPATIBILITY {
                    attributes.read_string()?;
                }
            }
        }
    }
    Ok(None)
}
