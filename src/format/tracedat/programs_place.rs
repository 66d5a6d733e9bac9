//! Where a program that the user gives lay, by what the recording says of it.

use std::collections::{BTreeMap, BTreeSet};

use object::elf;

use super::container::Container;
use super::container::options::{Library as MappedFile, ProcessMap, Value};
use crate::arch::Machine;
use crate::image::{Image, PlacedImage};
use crate::trace::Library;

/// Functions that every kernel has, some of them on some machines only. A program that is no kernel has few of them.
const FUNCTIONS: [&str; 12] = [
    "schedule",
    "__schedule",
    "do_exit",
    "vfs_read",
    "vfs_write",
    "do_wait",
    "kernel_wait4",
    "kernel_clone",
    "wake_up_process",
    "do_syscall_64",
    "el0_svc",
    "start_kernel",
];

/// A file with so many of them is a kernel.
const KERNEL: usize = 3;

/// A kernel moves itself by whole pages, at least, and files are mapped by pages.
const PAGE: u64 = 0x1000;

/// What a program of the user's is to the kernel that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// It is no kernel, as far as it can be known.
    None,
    /// It is that kernel, and was moved so far from where it is linked (KASLR).
    Moved(u64),
    /// It is another, or another build: of so many functions, so many lie where they would be if it was moved as a
    /// whole.
    Other(usize, usize),
}

/// Where the recorded kernel had the functions that are looked at.
#[derive(Debug)]
pub(super) struct KernelFunctions(Vec<(&'static str, u64)>);

impl KernelFunctions {
    pub(super) fn new(container: &Container) -> KernelFunctions {
        let kallsyms = container.kallsyms().filter(|kallsyms| !kallsyms.are_addresses_hidden());
        let own = kallsyms.iter().flat_map(|kallsyms| kallsyms.symbols()).filter(|symbol| symbol.module.is_none());
        let name = |name: &str| FUNCTIONS.into_iter().find(|function| *function == name);
        KernelFunctions(own.filter_map(|symbol| Some((name(symbol.name)?, symbol.address))).collect())
    }

    /// Compares them with those of the file.
    pub(super) fn compare(&self, image: &Image) -> Kernel {
        if self.0.is_empty() {
            return Kernel::None;
        }
        let linked = image.addresses_of(&FUNCTIONS);
        // Of each function the distances that it may have been moved by.
        let mut moves: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        for (name, address) in &self.0 {
            let found = linked.get(name).into_iter().flatten().map(|linked| address.wrapping_sub(*linked));
            moves.entry(name).or_default().extend(found);
        }
        moves.retain(|_, found| !found.is_empty());
        let agreeing = |bias: &u64| moves.values().filter(|found| found.contains(bias)).count();
        let whole = moves.values().flatten().copied().filter(|bias| bias.is_multiple_of(PAGE));
        let best = whole.max_by_key(agreeing);
        match (best, best.map_or(0, |best| agreeing(&best)), moves.len()) {
            (.., ..KERNEL) => Kernel::None,
            // One may be another function of the same name.
            (Some(best), agree, of) if agree + 1 >= of => Kernel::Moved(best),
            (_, agree, of) => Kernel::Other(agree, of),
        }
    }
}

/// Why a program is not one that ran on the recorded machine; `None` if it may be one.
pub(super) fn refusal(functions: &KernelFunctions, recorded: Option<Machine>, image: &Image) -> Option<String> {
    let path = image.path().display();
    if let Some(recorded) = recorded.filter(|recorded| !runs_on(&image.machine(), recorded)) {
        let name = |machine: Machine| machine.gdb_architecture().unwrap_or("a machine that is not known here");
        let (own, recorded) = (name(image.machine()), name(recorded));
        return Some(format!("{path} is for {own}, and the recording is of {recorded}; it is not used"));
    }
    match functions.compare(image) {
        Kernel::Other(agree, of) => Some(format!(
            "{path} is not the kernel that was recorded, or another build of it: of {of} functions, {agree} lie where \
             the recording's symbols have them, however far it was moved; it is not used"
        )),
        Kernel::None | Kernel::Moved(_) => None,
    }
}

/// Whether a machine runs programs for another: its own, and many of 64 bits those of 32.
fn runs_on(program: &Machine, machine: &Machine) -> bool {
    let numbers = (elf::Machine(program.elf_machine), elf::Machine(machine.elf_machine));
    let is_own = numbers.0 == numbers.1 && program.address_size <= machine.address_size;
    let is_older = matches!(
        numbers,
        (elf::EM_386, elf::EM_X86_64) | (elf::EM_ARM, elf::EM_AARCH64) | (elf::EM_PPC, elf::EM_PPC64)
    );
    is_own || is_older
}

/// Where the processes that were traced had the file of this name, by the maps of their memory; `None` where they had it
/// at several places.
pub(super) fn of_process(container: &Container, process: Option<u32>, image: &Image) -> Option<u64> {
    let maps = maps(container, process).filter(|_| image.is_position_independent());
    let starts: BTreeSet<u64> = maps.filter_map(|map| start_in(map, image)).collect();
    match starts.into_iter().collect::<Vec<_>>()[..] {
        [start] => Some(start.wrapping_sub(image.first_page())),
        _ => None,
    }
}

/// The files that the processes had mapped beside a program, in the order of their addresses. Where several processes ran
/// it, those that lay at one place in all.
pub(super) fn libraries(container: &Container, process: Option<u32>, program: &PlacedImage) -> Vec<Library> {
    let image = &program.image;
    let at = program.bias.wrapping_add(image.first_page());
    let ran = maps(container, process).filter(|map| program.is_placed() && start_in(map, image) == Some(at));
    let common = ran.map(|map| beside(map, image)).reduce(|common, other| &common & &other);
    let mut libraries: Vec<Library> = common.unwrap_or_default().into_iter().collect();
    libraries.sort_by_key(|library| library.address);
    libraries
}

/// What a person should know where processes had a program, or its libraries, at several places.
pub(super) fn remark(container: &Container, process: Option<u32>, image: &Image) -> Option<String> {
    let ran: Vec<&ProcessMap> = maps(container, process).filter(|map| start_in(map, image).is_some()).collect();
    let differ = ran.windows(2).any(|pair| match pair {
        [one, other] => start_in(one, image) != start_in(other, image) || beside(one, image) != beside(other, image),
        _ => false,
    });
    differ.then(|| {
        let pids: Vec<String> = ran.iter().take(10).map(|map| map.pid.to_string()).collect();
        format!(
            "{} processes had {} or its libraries at different places ({}): only what is the same in all is used \
             (--process chooses one)",
            ran.len(),
            image.path().display(),
            pids.join(", ")
        )
    })
}

/// The maps of the memory of processes (option 10), or of the one that was chosen.
pub(super) fn maps(container: &Container, process: Option<u32>) -> impl Iterator<Item = &ProcessMap> {
    let maps = container.options().iter().filter_map(|option| match &option.value {
        Value::ProcessMaps(maps) => Some(maps),
        _ => None,
    });
    maps.flatten().filter(move |map| process.is_none_or(|process| map.pid == process))
}

/// Whether a path is that of a program, which need not lie here where it lay there.
fn is_path_of(path: &str, image: &Image) -> bool {
    let name = image.path().file_name().and_then(|name| name.to_str());
    name.is_some() && path.rsplit('/').next() == name
}

/// Where a process had a program.
fn start_in(map: &ProcessMap, image: &Image) -> Option<u64> {
    let own = map.libraries.iter().filter(|library| is_path_of(&library.path, image));
    own.map(|library| library.start).min()
}

/// The other files of a process, each where its first part was.
fn beside(map: &ProcessMap, image: &Image) -> BTreeSet<Library> {
    let mut starts: BTreeMap<&str, u64> = BTreeMap::new();
    let is_mapping = |file: &&MappedFile| file.start.is_multiple_of(PAGE) && file.start < file.end;
    let files = map.libraries.iter().filter(is_mapping);
    for file in files.filter(|file| file.path.starts_with('/') && !is_path_of(&file.path, image)) {
        let start = starts.entry(&file.path).or_insert(file.start);
        *start = file.start.min(*start);
    }
    starts.into_iter().map(|(path, address)| Library { path: path.into(), address }).collect()
}
