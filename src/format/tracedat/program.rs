//! The program image that the recording itself gives: the kernel's symbols, the types of records, and the rule by which
//! gdb finds recorded stacks.

use std::borrow::Cow;
use std::ops::Range;

use super::container::{Container, Symbol};
use super::event_types::EventType;
use super::events::Formats;
use super::places::Places;
use super::record_types::record_types;
use super::survey::Survey;
use crate::arch::Machine;
use crate::image::Image;
use crate::image::made::{self, FrameRule, MadeImage, MadeSymbol, Records};
use crate::trace::DamageList;

/// How many symbols are taken. A kernel with all its modules has some hundred thousand.
const MOST_SYMBOLS: usize = 1 << 20;

/// What a program of the user's is, beside which the image lies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given<'i> {
    /// That of a probe.
    Program,
    /// The kernel that was recorded, and what is added to its addresses. It has symbols and rules for its stacks; not
    /// those of its modules.
    Kernel(&'i Image, u64),
}

/// The image, and where functions begin.
#[derive(Debug, Default)]
pub(super) struct Program {
    bytes: Option<Vec<u8>>,
    is_beside_kernel: bool,
    /// The addresses in recorded stacks, ascending: where gdb gets the rule for them besides the kernel's code.
    entries: Vec<u64>,
    /// The first addresses of the kernel's functions, ascending.
    functions: Vec<u64>,
    /// What a person should know about it.
    pub remarks: Vec<String>,
}

impl Program {
    pub fn new(
        container: &Container,
        formats: &Formats,
        types: &[EventType],
        survey: &Survey,
        machine: Option<Machine>,
        given: Option<Given<'_>>,
        damage: &mut DamageList,
    ) -> Program {
        let mut program = Program::default();
        let symbols = kernel_symbols(container, &mut program.remarks);
        program.functions.extend(symbols.iter().filter(is_code).map(|symbol| symbol.address));
        program.functions.sort_unstable();
        program.functions.dedup();
        let Some(machine) = machine else { return program };
        let is_kernel_given = matches!(given, Some(Given::Kernel(..)));
        let lacks = |symbol: &&Symbol<'_>| match given {
            Some(Given::Kernel(kernel, bias)) => kernel.function(symbol.address.wrapping_sub(bias)).is_none(),
            _ => true,
        };
        // Beside a kernel, a symbol reaches to the next of the recording, and not over those that are the kernel's. Where
        // that is far away nothing is known of what lies between.
        let mut addresses: Vec<u64> = symbols.iter().filter(|_| is_kernel_given).map(|symbol| symbol.address).collect();
        addresses.sort_unstable();
        let size = |address: u64| {
            let next = addresses.get(addresses.partition_point(|other| *other <= address))?;
            Some(next - address).filter(|size| *size <= made::FURTHEST)
        };
        let mut made_symbols: Vec<MadeSymbol<'_>> = symbols
            .iter()
            .filter(lacks)
            .map(|symbol| MadeSymbol {
                name: symbol.name.as_bytes(),
                address: symbol.address,
                size: size(symbol.address),
                is_function: is_code(&symbol),
                is_global: symbol.kind.is_ascii_uppercase(),
            })
            .collect();
        // The probes of a program that nobody gives: where they are is all that is known of it.
        let is_alone = |event: &EventType| {
            let is_given = matches!(given, Some(Given::Program));
            event.is_probe && !event.is_made && !is_given && !program.is_of_kernel(event.address)
        };
        let probes: Vec<Range<u64>> = types
            .iter()
            .filter(|event| is_alone(event))
            .filter_map(|event| Some(event.address..event.address.checked_add(1)?))
            .collect();
        let events: Vec<_> = types
            .iter()
            .filter(|event| event.is_made || is_alone(event))
            .map(|event| (event, symbol(&event.name)))
            .collect();
        made_symbols.extend(events.iter().map(|(event, name)| MadeSymbol {
            name: name.as_bytes(),
            address: event.address,
            size: Some(if event.is_made { Places::EVENT_SIZE } else { 1 }),
            is_function: true,
            is_global: true,
        }));
        let ends = survey.outermost.iter().filter_map(|end| Some(end.checked_sub(1)?..*end));
        // Of the callers of a probe's function nothing is made.
        let outermost = ends.chain(probes).collect();
        // An entry is looked up where it is, if it is the first, and else one byte before.
        let also = survey.entries.iter().map(|entry| entry.saturating_sub(1)..entry.saturating_add(1)).collect();
        let records = if is_kernel_given { Records::Plain } else { Records::Named };
        let image = MadeImage {
            machine,
            text: if is_kernel_given { 0..0 } else { text(&symbols) },
            symbols: made_symbols,
            types: record_types(container, formats, types, machine.address_size, damage),
            frame_rule: Some(FrameRule { records, also, outermost }),
        };
        program.entries.clone_from(&survey.entries);
        program.is_beside_kernel = is_kernel_given;
        match made::write(&image) {
            Ok(bytes) => program.bytes = Some(bytes),
            Err(error) => program.remarks.push(format!("gdb gets no symbols from the recording: {error}")),
        }
        program
    }

    /// The image as an ELF file.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// Whether an address lies where gdb gets the rule for recorded stacks.
    pub fn has_rule(&self, address: u64) -> bool {
        self.bytes.is_some() && (self.is_of_kernel(address) || self.entries.binary_search(&address).is_ok())
    }

    /// Whether it lies beside a kernel of the user's, by whose rules stacks are made.
    pub fn is_beside_kernel(&self) -> bool {
        self.is_beside_kernel
    }

    /// Whether an address lies in the kernel, or behind it.
    fn is_of_kernel(&self, address: u64) -> bool {
        self.functions.first().is_some_and(|first| *first <= address)
    }

    /// Whether two addresses lie in one function of the kernel.
    pub fn same_function(&self, one: u64, other: u64) -> bool {
        let place = |address: u64| self.functions.partition_point(|function| *function <= address);
        place(one) > 0 && place(one) == place(other)
    }
}

/// The kernel's symbols that gdb can use. What a person should know about them is added to the remarks.
fn kernel_symbols<'c>(container: &'c Container, remarks: &mut Vec<String>) -> Vec<Symbol<'c>> {
    let Some(kallsyms) = container.kallsyms() else { return Vec::new() };
    if kallsyms.are_addresses_hidden() {
        let remark = "the kernel hid the addresses of its symbols from who recorded (kptr_restrict), so that addresses \
                      in the kernel have no names (record as root, or with kernel.kptr_restrict=0)";
        remarks.push(remark.to_owned());
        return Vec::new();
    }
    // Absolute values of old kernels, per-CPU variables, lie at 0 and up, where programs are. gdb shows names as they
    // are, so that those that no compiler makes are left out.
    let is_wanted = |symbol: &Symbol<'_>| {
        symbol.address != 0 && !"aA".contains(symbol.kind) && symbol.name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let symbols: Vec<Symbol<'_>> = kallsyms.symbols().filter(is_wanted).take(MOST_SYMBOLS).collect();
    if symbols.len() == MOST_SYMBOLS {
        remarks.push(format!("there are more symbols than {MOST_SYMBOLS}; the others have no names"));
    }
    symbols
}

fn is_code(symbol: &&Symbol<'_>) -> bool {
    "tTwW".contains(symbol.kind)
}

/// The addresses of the kernel's main code: where it does not say, from its first function to its last.
fn text(symbols: &[Symbol<'_>]) -> Range<u64> {
    let named = |name: &str| symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address);
    let own = symbols.iter().filter(is_code).filter(|symbol| symbol.module.is_none()).map(|symbol| symbol.address);
    match (named("_stext"), named("_etext")) {
        (Some(first), Some(end)) if first < end => first..end,
        _ => own.clone().min().unwrap_or(0)..own.max().map_or(0, |last| last.saturating_add(1)),
    }
}

/// The name of an event as the name of its symbol, which gdb shows as it is.
fn symbol(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Cow::Borrowed(name);
    }
    made::identifier(name).unwrap_or_default()
}
