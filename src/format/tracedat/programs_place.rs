//! Where a program that the user gives lay, by what the recording says of it.

use std::collections::BTreeSet;

use super::container::Container;
use super::container::options::Value;
use crate::image::Image;

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

/// Mappings begin at a page; files are linked so that this is enough to know of its size.
const PAGE: u64 = 0x1000;

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

/// Where the processes that were traced had the file of this name, by the maps of their memory (option 10); `None` where
/// they had it at several places.
pub(super) fn of_process(container: &Container, image: &Image) -> Option<u64> {
    let name = image.path().file_name()?.to_str().filter(|_| image.is_position_independent())?;
    let maps = container.options().iter().filter_map(|option| match &option.value {
        Value::ProcessMaps(maps) => Some(maps),
        _ => None,
    });
    let starts = maps.flatten().filter_map(|map| {
        let own = map.libraries.iter().filter(|library| library.path.rsplit('/').next() == Some(name));
        own.map(|library| library.start).min()
    });
    let starts: BTreeSet<u64> = starts.collect();
    match starts.into_iter().collect::<Vec<_>>()[..] {
        [start] => Some(start.wrapping_sub(image.first_address() & !(PAGE - 1))),
        _ => None,
    }
}
