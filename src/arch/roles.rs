//! Which register is the program counter, and which the stack pointer.

/// What of a register tells its role.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) name: &'a str,
    pub(super) number: usize,
    /// The description's type of the register.
    pub(super) kind: &'a str,
}

/// The number of the program counter.
pub(super) fn program_counter(registers: &[Candidate<'_>]) -> Option<usize> {
    named(registers, &["rip", "eip", "pc", "pswa", "rpc", "PC"]).or_else(|| only_one(registers, "code_ptr"))
}

/// The number of the stack pointer.
///
/// A register called `sp` comes first; some architectures have a number of the calling convention instead.
pub(super) fn stack_pointer(architecture: &str, registers: &[Candidate<'_>]) -> Option<usize> {
    let by_convention: &[&str] = match architecture.split(':').next() {
        Some("powerpc" | "rs6000" | "MicroBlaze") => &["r1"],
        Some("mips") => &["r29"],
        Some("s390") => &["r15"],
        Some("Loongarch64" | "Loongarch32") => &["r3"],
        _ => &[],
    };
    named(registers, &["rsp", "esp", "sp", "SP"])
        .or_else(|| named(registers, by_convention))
        .or_else(|| only_one(registers, "data_ptr"))
}

fn named(registers: &[Candidate<'_>], names: &[&str]) -> Option<usize> {
    let of = |name: &&str| registers.iter().find(|register| register.name == *name);
    names.iter().find_map(of).map(|register| register.number)
}

fn only_one(registers: &[Candidate<'_>], kind: &str) -> Option<usize> {
    let mut of_kind = registers.iter().filter(|register| register.kind == kind);
    of_kind.next().filter(|_| of_kind.next().is_none()).map(|register| register.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers<'a>(of: &[(&'a str, &'a str)]) -> Vec<Candidate<'a>> {
        of.iter().enumerate().map(|(number, (name, kind))| Candidate { name, number, kind }).collect()
    }

    #[test]
    fn names_come_before_types() {
        let power = registers(&[("lr", "code_ptr"), ("pc", "int"), ("toc", "data_ptr"), ("r1", "int")]);
        assert_eq!(program_counter(&power), Some(1));
        assert_eq!(stack_pointer("powerpc:common64", &power), Some(3));
    }

    #[test]
    fn an_architecture_nobody_knows_has_roles_by_type_where_only_one_register_fits() {
        let one = registers(&[("ip", "code_ptr"), ("stk", "data_ptr")]);
        assert_eq!((program_counter(&one), stack_pointer("zip", &one)), (Some(0), Some(1)));
        let two = registers(&[("ip", "code_ptr"), ("ra", "code_ptr"), ("stk", "data_ptr"), ("fp", "data_ptr")]);
        assert_eq!((program_counter(&two), stack_pointer("zip", &two)), (None, None));
    }
}
