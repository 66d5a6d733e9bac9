//! Where a program that the user gives lay, by what the recording says of it.

use std::collections::{BTreeMap, BTreeSet};

use super::container::Container;
use super::container::options::{ProcessMap, Value};
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

/// So many functions must agree.
const AGREE: usize = 3;

/// How far the kernel lay from where it is linked (KASLR): its functions by the recording's symbols, and by the file's.
pub(super) fn of_kernel(container: &Container, image: &Image) -> Option<u64> {
    let kallsyms = container.kallsyms().filter(|kallsyms| !kallsyms.are_addresses_hidden())?;
    let mut biases: Vec<u64> = Vec::new();
    for symbol in kallsyms.symbols().filter(|symbol| symbol.module.is_none() && FUNCTIONS.contains(&symbol.name)) {
        let linked = image.addresses_of(symbol.name);
        biases.extend(linked.iter().take(AGREE).map(|linked| symbol.address.wrapping_sub(*linked)));
    }
    let agreeing = |bias: &u64| biases.iter().filter(|other| *other == bias).count();
    biases.iter().copied().max_by_key(agreeing).filter(|bias| agreeing(bias) >= AGREE)
}

/// Where the processes that were traced had the file of this name, by the maps of their memory; `None` where they had it
/// at several places.
pub(super) fn of_process(container: &Container, image: &Image) -> Option<u64> {
    let maps = maps(container).filter(|_| image.is_position_independent());
    let starts: BTreeSet<u64> = maps.filter_map(|map| start_in(map, image)).collect();
    match starts.into_iter().collect::<Vec<_>>()[..] {
        [start] => Some(start.wrapping_sub(image.first_page())),
        _ => None,
    }
}

/// The files that the processes had mapped beside a program, in the order of their addresses. Where several processes ran
/// it, those that lay at one place in all.
pub(super) fn libraries(container: &Container, program: &PlacedImage) -> Vec<Library> {
    let image = &program.image;
    let at = program.bias.wrapping_add(image.first_page());
    let ran = maps(container).filter(|map| program.is_placed() && start_in(map, image) == Some(at));
    let common = ran.map(|map| beside(map, image)).reduce(|common, other| &common & &other);
    let mut libraries: Vec<Library> = common.unwrap_or_default().into_iter().collect();
    libraries.sort_by_key(|library| library.address);
    libraries
}

/// The maps of the memory of processes (option 10).
fn maps(container: &Container) -> impl Iterator<Item = &ProcessMap> {
    let maps = container.options().iter().filter_map(|option| match &option.value {
        Value::ProcessMaps(maps) => Some(maps),
        _ => None,
    });
    maps.flatten()
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
    for file in map.libraries.iter().filter(|file| file.path.starts_with('/') && !is_path_of(&file.path, image)) {
        let start = starts.entry(&file.path).or_insert(file.start);
        *start = file.start.min(*start);
    }
    starts.into_iter().map(|(path, address)| Library { path: path.into(), address }).collect()
}
