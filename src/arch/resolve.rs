//! The choice of a target description: from `--tdesc`, from the recording, or built in.

use super::builtin::{self, Architecture, Candidate};
use super::description::Description;
use super::{ArchError, Choice, Known, Layout, Machine, Origin, operating_system, traits};

/// Chooses the target description.
///
/// `--tdesc` wins over the recording's, which wins over the built-in ones; among these `--arch` wins over what the
/// recording names, and that over the image's machine. The registers of a description must take at least as many
/// bytes as a register block has: what a shorter block lacks is unavailable, and nothing of a block is ever cut.
///
/// A description in the recording that cannot be read costs registers, not the recording; a wrong `--tdesc` or
/// `--arch` is an error.
pub fn resolve(known: &Known<'_>) -> Result<Choice, ArchError> {
    let mut remarks = Vec::new();
    let mut unusable = None;
    let chosen = match known.given {
        Some(xml) => given(known, xml, &mut remarks)?,
        None => recorded_or_built_in(known, &mut remarks, &mut unusable)?,
    };
    let architecture = chosen.architecture;
    let machine = known.machine.filter(|machine| {
        let fits = is_for(machine, &architecture);
        if !fits {
            remarks.push(format!(
                "the program image is for {}, the registers are those of {architecture}",
                machine.architecture().map_or("another machine", |image| image.name)
            ));
        }
        fits
    });
    let implied = traits::fixed_byte_order(&architecture).or(machine.map(|machine| machine.byte_order));
    if let (Some(named), Some(implied)) = (known.byte_order, implied)
        && named != implied
    {
        let who = if traits::fixed_byte_order(&architecture).is_some() { &architecture } else { "the program image" };
        remarks.push(format!("--endian says {named}, though {who} is {implied}"));
    }
    if let (Some(layout), Some(block)) = (&chosen.layout, known.block_size) {
        remarks.extend(missing(layout, block));
    }
    let pc_size = chosen.layout.as_ref().map(|layout| layout.pc().size).filter(|size| matches!(size, 4 | 8));
    Ok(Choice {
        byte_order: known.byte_order.or(implied).or(traits::usual_byte_order(&architecture)),
        address_size: traits::address_size(&architecture)
            .or(machine.map(|machine| machine.address_size))
            .or(pc_size)
            .unwrap_or(8),
        architecture,
        layout: chosen.layout,
        description: chosen.description,
        origin: chosen.origin,
        image_is_foreign: machine.is_none() && known.machine.is_some(),
        unusable,
        remarks,
    })
}

struct Chosen {
    architecture: String,
    layout: Option<Layout>,
    description: Option<String>,
    origin: Origin,
}

fn given(known: &Known<'_>, xml: &str, remarks: &mut Vec<String>) -> Result<Chosen, ArchError> {
    let description = Description::parse(xml).map_err(ArchError::Given)?;
    let architecture = architecture_of(&description, known, "--tdesc", remarks);
    let layout = description.layout(&architecture).map_err(ArchError::Given)?;
    if let Some(block) = known.block_size.filter(|block| *block > layout.size()) {
        return Err(ArchError::GivenTooShort { registers: layout.size(), block });
    }
    if known.recorded.is_some() {
        remarks.push("the target description in the recording gives way to that of --tdesc".to_owned());
    }
    let description = Some(for_gdb(xml, &architecture, remarks));
    Ok(Chosen { architecture, layout: Some(layout), description, origin: Origin::Option })
}

/// The description as gdb takes it: an XML declaration must come first. Other blank lines in front stay, as gdb's
/// `tsave` writes one, and writes it again from what it is told. Stepping is left to the server.
fn for_gdb(xml: &str, architecture: &str, remarks: &mut Vec<String>) -> String {
    let trimmed = xml.trim_start();
    let xml = if trimmed.starts_with("<?xml") { trimmed } else { xml };
    match operating_system::without(xml, architecture) {
        Ok(Some((changed, remark))) => {
            remarks.push(remark);
            changed
        }
        // What cannot be read is said where the registers are.
        Ok(None) | Err(_) => xml.to_owned(),
    }
}

fn recorded_or_built_in(
    known: &Known<'_>,
    remarks: &mut Vec<String>,
    unusable: &mut Option<String>,
) -> Result<Chosen, ArchError> {
    let Some(xml) = known.recorded else {
        return Ok(built_in(known, None, remarks)?.unwrap_or_else(|| unknown(known, remarks)));
    };
    let description = match Description::parse(xml) {
        Ok(description) => description,
        Err(error) => {
            *unusable = Some(format!("the target description cannot be used, {error}"));
            return Ok(built_in(known, None, remarks)?.unwrap_or_else(|| unknown(known, remarks)));
        }
    };
    if !description.has_registers() {
        let named = description.architecture.as_deref();
        if let Some(chosen) = built_in(known, named, remarks)? {
            return Ok(chosen);
        }
        let chosen = unknown(known, remarks);
        let architecture = named.unwrap_or(&chosen.architecture).to_owned();
        let description = Some(for_gdb(xml, &architecture, remarks));
        return Ok(Chosen { architecture, description, origin: Origin::Recording, ..chosen });
    }
    let architecture = architecture_of(&description, known, "the recording", remarks);
    let layout = match description.layout(&architecture) {
        Ok(layout) => match known.block_size {
            Some(block) if block > layout.size() => {
                return Err(ArchError::RecordedTooShort { registers: layout.size(), block });
            }
            _ => Some(layout),
        },
        Err(error) => {
            *unusable = Some(format!("registers cannot be told apart by the target description, {error}"));
            None
        }
    };
    let description = Some(for_gdb(xml, &architecture, remarks));
    Ok(Chosen { architecture, layout, description, origin: Origin::Recording })
}

/// A built-in description; `None` where nothing tells the architecture, or it is not built in.
///
/// `named` is the architecture that the recording names.
fn built_in(known: &Known<'_>, named: Option<&str>, remarks: &mut Vec<String>) -> Result<Option<Chosen>, ArchError> {
    let (architecture, why) = if let Some(name) = known.name {
        let unknown = || ArchError::UnknownArchitecture {
            name: name.to_owned(),
            known: builtin::names().collect::<Vec<_>>().join(", "),
        };
        (builtin::find(name).ok_or_else(unknown)?, "--arch")
    } else if let Some(name) = named {
        match builtin::find(name) {
            Some(architecture) => (architecture, "the recording names it"),
            None => return Ok(None),
        }
    } else {
        match known.machine.and_then(|machine| machine.architecture()) {
            Some(architecture) => (architecture, "the program image is for it"),
            None => return Ok(None),
        }
    };
    let candidates = candidates(architecture, known.machine);
    let chosen = builtin::fitting(&candidates, known.block_size).map_err(|misfit| ArchError::BuiltInTooShort {
        architecture: architecture.name,
        registers: misfit.longest,
        block: known.block_size.unwrap_or(0),
    })?;
    remarks.push(format!(
        "the registers are those of {} {}, {} bytes, as built in ({why})",
        chosen.architecture,
        chosen.variant,
        chosen.layout.size()
    ));
    Ok(Some(Chosen {
        architecture: architecture.gdb.to_owned(),
        layout: Some(chosen.layout),
        description: Some(chosen.xml),
        origin: Origin::BuiltIn,
    }))
}

/// The variants that gdb accepts together with the program image.
fn candidates(architecture: &'static Architecture, machine: Option<Machine>) -> Vec<Candidate> {
    let float_size = machine
        .filter(|machine| machine.architecture().is_some_and(|image| image.name == architecture.name))
        .map_or(0, |machine| machine.float_size());
    let has = |candidate: &Candidate| {
        float_size == 0 || candidate.variant.size_of("ft0").is_some_and(|size| size >= float_size)
    };
    builtin::of(architecture).filter(has).collect()
}

fn unknown(known: &Known<'_>, remarks: &mut Vec<String>) -> Chosen {
    let cause = match known.machine {
        Some(machine) => format!("none is built in for machine {} of the program image", machine.elf_machine),
        None => "none is recorded and no program image tells the machine".to_owned(),
    };
    let hint = if known.machine.is_some() { "give it with --tdesc" } else { "give --exec, --arch or --tdesc" };
    let fitting = known.block_size.filter(|block| *block > 0).map_or_else(String::new, |block| {
        let fitting: Vec<_> = builtin::candidates()
            .filter(|one| one.variant.block_size() == block)
            .map(|one| format!("{} {}", one.architecture.name, one.variant.what))
            .collect();
        match fitting.is_empty() {
            true => format!("; no built-in architecture has a register block of {block} bytes"),
            false => format!("; a register block of {block} bytes is that of {}", fitting.join(", or ")),
        }
    });
    remarks.push(format!("registers cannot be told apart without a target description: {cause}{fitting} ({hint})"));
    Chosen { architecture: String::new(), layout: None, description: None, origin: Origin::None }
}

/// gdb's name of the architecture of a description; where it tells none, that of `--arch` or of the image.
fn architecture_of(description: &Description, known: &Known<'_>, whose: &str, remarks: &mut Vec<String>) -> String {
    let by_option = known.name.map(|name| builtin::find(name).map_or(name, |found| found.gdb));
    if let Some(architecture) = &description.architecture {
        let differs =
            |name: &&str| *name != architecture && builtin::find(architecture).is_none_or(|found| found.gdb != *name);
        if let (Some(_), Some(name)) = (by_option.filter(differs), known.name) {
            remarks.push(format!("--arch {name} is not used: the target description of {whose} is for {architecture}"));
        }
        return architecture.clone();
    }
    let by_image = || known.machine.and_then(|machine| machine.gdb_architecture());
    by_option.or_else(by_image).unwrap_or("").to_owned()
}

/// Whether a program for this machine could run on the architecture; also where that is not known.
fn is_for(machine: &Machine, architecture: &str) -> bool {
    let Some(image) = machine.architecture().filter(|_| !architecture.is_empty()) else {
        return true;
    };
    match builtin::find(architecture) {
        Some(found) => found.gdb == image.gdb,
        None => architecture.split(':').next() == image.gdb.split(':').next(),
    }
}

/// What a register block lacks that is shorter than the registers of the description.
fn missing(layout: &Layout, block: usize) -> Option<String> {
    let lacking = layout.registers().iter().filter(|register| register.end() > block).count();
    if lacking == 0 || block == 0 {
        return None;
    }
    let mut remark = format!(
        "the register blocks have {block} bytes, the registers take {}: {lacking} of {} registers are unavailable",
        layout.size(),
        layout.registers().len()
    );
    if layout.pc().end() > block {
        remark.push_str(", the program counter among them");
    }
    if let Some(cut) = layout.registers().iter().find(|register| register.offset < block && block < register.end()) {
        remark.push_str(&format!("; {} is cut and counts as unavailable", cut.name));
    }
    Some(remark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ByteOrder;

    const RECORDED: &str = "\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target><architecture>powerpc:common64\
        </architecture><feature name='org.gnu.gdb.power.core'><reg name='r0' bitsize='64'/><reg name='r1' bitsize='64'/>\
        <reg name='pc' bitsize='64' regnum='64'/></feature></target>";

    fn machine(elf_machine: u16, address_size: usize, byte_order: ByteOrder) -> Option<Machine> {
        Some(Machine { elf_machine, elf_flags: 0, address_size, byte_order })
    }

    fn size(choice: &Choice) -> Option<usize> {
        choice.layout.as_ref().map(Layout::size)
    }

    #[test]
    fn the_recording_comes_before_what_is_built_in() {
        let image = machine(21, 8, ByteOrder::Big);
        let known = Known { recorded: Some(RECORDED), machine: image, block_size: Some(24), ..Known::default() };
        let choice = resolve(&known).unwrap();
        assert_eq!((choice.architecture.as_str(), choice.origin), ("powerpc:common64", Origin::Recording));
        assert_eq!((size(&choice), choice.address_size, choice.byte_order), (Some(24), 8, Some(ByteOrder::Big)));
        assert_eq!(choice.layout.as_ref().unwrap().sp().unwrap().name, "r1");
        assert_eq!(choice.description.as_deref(), Some(RECORDED), "to the letter");
        assert_eq!(choice.remarks, [""; 0]);
        let declared = format!("\n<?xml version=\"1.0\"?>{RECORDED}");
        let choice = resolve(&Known { recorded: Some(&declared), ..known }).unwrap();
        assert_eq!(choice.description.as_deref(), Some(declared.trim_start()), "a declaration comes first");
    }

    #[test]
    fn the_users_description_comes_first_and_must_be_right() {
        let given = "<target><feature name='f'><reg name='pc' bitsize='32'/></feature></target>";
        let known = Known { recorded: Some(RECORDED), given: Some(given), name: Some("arm"), ..Known::default() };
        let choice = resolve(&known).unwrap();
        assert_eq!((choice.architecture.as_str(), choice.origin, size(&choice)), ("arm", Origin::Option, Some(4)));
        assert_eq!((choice.address_size, choice.byte_order), (4, None));
        assert_eq!(choice.remarks, ["the target description in the recording gives way to that of --tdesc"]);
        let known = Known { block_size: Some(8), ..known };
        assert_eq!(resolve(&known).unwrap_err(), ArchError::GivenTooShort { registers: 4, block: 8 });
        let known = Known { given: Some("<target/>"), ..known };
        assert!(
            resolve(&known)
                .unwrap_err()
                .to_string()
                .starts_with("--tdesc: the target description cannot be used, it has no")
        );
    }

    #[test]
    fn a_useless_recorded_description_costs_registers_only() {
        let recorded = "<target><architecture>i386</architecture><feature name='f'><reg name='pc' bitsize='1'/></feature></target>";
        let choice = resolve(&Known { recorded: Some(recorded), ..Known::default() }).unwrap();
        assert_eq!((size(&choice), choice.origin), (None, Origin::Recording));
        assert_eq!((choice.description.as_deref(), choice.byte_order), (Some(recorded), Some(ByteOrder::Little)));
        assert!(choice.unusable.is_some_and(|what| what.contains("bitsize=\"1\"")));

        let known = Known { recorded: Some("<target>"), ..Known::default() };
        let choice = resolve(&known).unwrap();
        assert_eq!((size(&choice), choice.description, choice.origin), (None, None, Origin::None));
        assert!(choice.unusable.is_some_and(|what| what.contains("not well-formed")));
        let choice = resolve(&Known { name: Some("nios2"), ..known }).unwrap();
        assert_eq!((size(&choice), choice.origin), (Some(196), Origin::BuiltIn));
    }

    #[test]
    fn a_recorded_description_without_registers_names_a_built_in_one() {
        let recorded = "<target><architecture>i386:x86-64</architecture></target>";
        let known = Known { recorded: Some(recorded), block_size: Some(536), ..Known::default() };
        let choice = resolve(&known).unwrap();
        assert_eq!((size(&choice), choice.origin, choice.address_size), (Some(536), Origin::BuiltIn, 8));
        let other = "<target><architecture>sparc</architecture></target>";
        let choice = resolve(&Known { recorded: Some(other), ..known }).unwrap();
        assert_eq!((choice.architecture.as_str(), choice.origin, size(&choice)), ("sparc", Origin::Recording, None));
        assert_eq!(choice.description.as_deref(), Some(other));
    }

    #[test]
    fn arch_comes_before_the_image_and_after_a_description() {
        let image = machine(183, 8, ByteOrder::Little);
        let choice = resolve(&Known { name: Some("s390x"), machine: image, ..Known::default() }).unwrap();
        assert_eq!((choice.architecture.as_str(), choice.byte_order), ("s390:64-bit", Some(ByteOrder::Big)));
        assert!(
            choice
                .remarks
                .contains(&"the program image is for aarch64, the registers are those of s390:64-bit".to_owned())
        );
        let choice = resolve(&Known { name: Some("mips"), recorded: Some(RECORDED), ..Known::default() }).unwrap();
        assert_eq!(choice.architecture, "powerpc:common64");
        assert_eq!(
            choice.remarks,
            ["--arch mips is not used: the target description of the recording is for powerpc:common64"]
        );
        let same = resolve(&Known { name: Some("ppc64"), recorded: Some(RECORDED), ..Known::default() }).unwrap();
        assert_eq!(same.remarks, [""; 0]);
        let error = resolve(&Known { name: Some("z8000"), ..Known::default() }).unwrap_err().to_string();
        assert!(error.contains("\"z8000\"") && error.contains("x86-64, ") && error.contains("nios2"), "{error}");
    }

    #[test]
    fn the_images_machine_and_the_block_choose_the_variant() {
        let known = Known { machine: machine(62, 8, ByteOrder::Little), block_size: Some(816), ..Known::default() };
        let choice = resolve(&known).unwrap();
        assert_eq!((choice.architecture.as_str(), size(&choice)), ("i386:x86-64", Some(816)));
        assert_eq!(
            choice.remarks,
            [
                "the registers are those of x86-64 with AVX, as on GNU/Linux, 816 bytes, as built in (the program image is for it)"
            ]
        );
        let error = resolve(&Known { block_size: Some(2424), ..known }).unwrap_err();
        assert_eq!(error, ArchError::BuiltInTooShort { architecture: "x86-64", registers: 2420, block: 2424 });
        let error = resolve(&Known { recorded: Some(RECORDED), block_size: Some(25), ..known }).unwrap_err();
        assert_eq!(error, ArchError::RecordedTooShort { registers: 24, block: 25 });
    }

    #[test]
    fn a_riscv_image_needs_the_registers_that_its_abi_names() {
        let double = Machine { elf_machine: 243, elf_flags: 4, address_size: 8, byte_order: ByteOrder::Little };
        let known = Known { machine: Some(double), block_size: Some(264), ..Known::default() };
        let choice = resolve(&known).unwrap();
        assert_eq!(size(&choice), Some(532));
        assert!(choice.description.unwrap().contains("<osabi>none</osabi>"));
        assert!(choice.remarks[1].contains("35 of 68 registers are unavailable"), "{:?}", choice.remarks);
        let soft = Machine { elf_flags: 0, ..double };
        assert_eq!(size(&resolve(&Known { machine: Some(soft), ..known }).unwrap()), Some(264));
        assert_eq!(size(&resolve(&Known { name: Some("nios2"), block_size: None, ..known }).unwrap()), Some(196));
    }

    #[test]
    fn a_short_block_says_what_is_missing() {
        let short = |block| {
            let known = Known { name: Some("nios2"), block_size: Some(block), ..Known::default() };
            resolve(&known).unwrap().remarks.get(1).cloned().unwrap_or_default()
        };
        assert_eq!(short(196), "");
        assert_eq!(short(0), "");
        assert_eq!(
            short(132),
            "the register blocks have 132 bytes, the registers take 196: 16 of 49 registers are unavailable"
        );
        assert!(short(131).ends_with(
            "17 of 49 registers are unavailable, the program counter among them; pc is cut and counts as unavailable"
        ));
    }

    #[test]
    fn byte_order_and_address_size_come_from_whoever_knows() {
        let order = |known: Known<'_>| resolve(&known).unwrap().byte_order;
        let big = machine(8, 4, ByteOrder::Big);
        assert_eq!(order(Known { name: Some("mips"), ..Known::default() }), None);
        assert_eq!(order(Known { machine: big, ..Known::default() }), Some(ByteOrder::Big));
        assert_eq!(order(Known { name: Some("riscv32"), ..Known::default() }), Some(ByteOrder::Little));
        assert_eq!(order(Known { machine: machine(2, 4, ByteOrder::Big), ..Known::default() }), Some(ByteOrder::Big));
        assert_eq!(
            order(Known { name: Some("arm"), machine: big, ..Known::default() }),
            None,
            "image of another machine"
        );

        let named = Known { name: Some("i386"), byte_order: Some(ByteOrder::Big), ..Known::default() };
        let choice = resolve(&named).unwrap();
        assert_eq!(choice.byte_order, Some(ByteOrder::Big));
        assert_eq!(choice.remarks[1], "--endian says big-endian, though i386 is little-endian");

        let n32 = Machine { elf_machine: 8, elf_flags: 0x20, address_size: 4, byte_order: ByteOrder::Big };
        let choice = resolve(&Known { machine: Some(n32), ..Known::default() }).unwrap();
        assert_eq!((size(&choice), choice.address_size), (Some(576), 4));
        assert_eq!(resolve(&Known { name: Some("mips64"), ..Known::default() }).unwrap().address_size, 8);
    }

    #[test]
    fn nothing_known_is_said() {
        let choice = resolve(&Known { block_size: Some(2416), ..Known::default() }).unwrap();
        assert_eq!((choice.architecture.as_str(), choice.origin, choice.address_size), ("", Origin::None, 8));
        assert!(choice.layout.is_none() && choice.description.is_none() && choice.byte_order.is_none());
        let remark = &choice.remarks[0];
        assert!(remark.contains("2416 bytes is that of x86-64 with AVX-512") && remark.contains("--arch"), "{remark}");
        let choice =
            resolve(&Known { block_size: Some(3), machine: machine(2, 4, ByteOrder::Big), ..Known::default() });
        let choice = choice.unwrap();
        assert_eq!((choice.address_size, choice.byte_order), (4, Some(ByteOrder::Big)));
        assert!(choice.remarks[0].contains("machine 2 of the program image; no built-in"), "{:?}", choice.remarks);
    }
}
