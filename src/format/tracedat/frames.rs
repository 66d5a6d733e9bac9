//! An event as a trace frame.

use std::borrow::Cow;

use super::TraceDat;
use super::event_types::{EventType, probe_address};
use super::events::{EventFormat, Integer, LostEvents, StackEntries};
use super::last_boot::{LastBootPlaces, moved};
use super::losses;
use super::positions::Position;
use super::streams::{Found, Kept};
use super::variables::{EVERY, LOST, number};
use crate::arch::Register;
use crate::image::made;
use crate::trace::{Frame, Location, MemoryBlock, ProgramCounter, RegisterBlock};

/// How many entries of a stack are shown; the kernel records a thousand at most.
const MOST_CALLERS: usize = 1024;

/// An event where it was found.
pub(super) struct Event<'p> {
    pub record: &'p [u8],
    pub found: Found,
    pub cpu: u32,
    /// Where the kernel lay, if an earlier boot made it.
    pub last_boot: Option<&'p LastBootPlaces>,
    pub kind: &'p EventType,
    pub format: Option<&'p EventFormat>,
    pub lost: LostEvents,
}

impl TraceDat {
    /// Where the program, or the kernel, was when an event was made.
    fn pc(&self, event: &Event<'_>) -> ProgramCounter {
        let (order, kind, record) = (self.formats.order(), event.kind, event.record);
        let Some(format) = event.format else { return ProgramCounter::Inferred(kind.address) };
        let recorded = |address: u64| match moved(address, event.last_boot) {
            moved if moved == address => ProgramCounter::Recorded(address),
            moved => ProgramCounter::Inferred(moved),
        };
        if self.roles.is_kernel_stack(kind.id) {
            let innermost = StackEntries::of(format, record, order).and_then(|mut entries| entries.next());
            return innermost.map_or(ProgramCounter::Unknown, recorded);
        }
        if kind.is_probe {
            let return_to = format.return_field().and_then(|field| field.integer(record, order));
            let address = return_to.map(Integer::bits).or_else(|| probe_address(format, record, order));
            return address.map_or(ProgramCounter::Unknown, recorded);
        }
        ProgramCounter::Inferred(kind.address)
    }

    /// The thread that a task is shown as.
    pub(super) fn thread_of(&self, pid: Option<i32>, cpu: u32) -> u32 {
        match pid {
            _ if self.threads.is_empty() => 1,
            Some(pid) if pid > 0 => pid as u32,
            _ => super::tasks::idle(cpu),
        }
    }

    /// The frame at a place.
    pub(super) fn read(&self, location: Location, position: Position) -> Frame<'_> {
        let mut frame = Frame::empty(location, 0);
        let Some(page) = self.streams.kept(&self.container, position.stream, position.page) else { return frame };
        let Ok(place) = page.records().binary_search_by_key(&position.offset, |found| found.offset) else {
            return frame;
        };
        let (Some(found), Some(stream)) = (page.records().get(place), self.streams.all().get(position.stream)) else {
            return frame;
        };
        let record = page.bytes(*found);
        let Some(kind) = self.kind_of(record) else { return frame };
        let lost = self.losses.get(location.0);
        let format = self.formats.get(kind.id);
        let last_boot = self.streams.last_boot(position.stream);
        let event = Event { record, found: *found, cpu: stream.cpu, last_boot, kind, format, lost };
        self.fill(&event, &mut frame);
        frame.variables = self.variables_of(&event);
        frame.memory.push(MemoryBlock { address: self.places.record, bytes: Cow::Owned(record.to_vec()) });
        if let Some(format) = format.filter(|_| kind.is_probe) {
            self.fill_probe(&event, format, &mut frame);
        } else {
            let callers = self.callers(&event, &page, place, position);
            self.fill_chain(&callers, &mut frame);
        }
        frame
    }

    /// What a walk shows of an event.
    pub(super) fn fill(&self, event: &Event<'_>, frame: &mut Frame<'_>) {
        frame.tracepoint = event.kind.number;
        frame.time = Some(event.found.time);
        let pid = event.format.and_then(|format| self.formats.pid(format, event.record));
        frame.thread = self.thread_of(pid, event.cpu);
        frame.pc = self.pc(event);
    }

    fn variables_of(&self, event: &Event<'_>) -> Vec<(i32, i64)> {
        let order = self.formats.order();
        let pid = event.format.and_then(|format| self.formats.pid(format, event.record));
        let record = self.places.record;
        let mut values = Vec::new();
        for (name, number) in EVERY.into_iter().zip(1..) {
            let value = match name {
                "timestamp" => Some(event.found.time),
                "raw_timestamp" => Some(event.found.raw),
                "cpu" => Some(u64::from(event.cpu)),
                "pid" => pid.map(|pid| i64::from(pid).cast_unsigned()),
                "event_id" => Some(u64::from(event.kind.id)),
                "rec" => Some(record),
                _ => Some(event.record.len() as u64),
            };
            values.extend(value.map(|value| (number, value.cast_signed())));
        }
        values.extend(losses::value(event.lost).map(|lost| (number(LOST), lost)));
        for (place, number) in self.variables.fields(event.kind.id) {
            let Some(field) = event.format.and_then(|format| format.fields.get(*place)) else { continue };
            let value = match field.integer(event.record, order) {
                Some(value) => Some(value.bits()),
                None if field.kind.content().is_some() => {
                    field.extent(event.record, order).map(|extent| record + extent.range.start as u64)
                }
                None => None,
            };
            values.extend(value.map(|value| (*number, value.cast_signed())));
        }
        values
    }

    /// Registers and memory of a probe.
    fn fill_probe(&self, event: &Event<'_>, format: &EventFormat, frame: &mut Frame<'_>) {
        let (Some(probe), Some(layout)) = (self.probes.get(&event.kind.id), &self.target.layout) else { return };
        let order = self.formats.order();
        let mut known: Vec<(usize, usize, u64)> = Vec::new();
        for (place, offset, size) in &probe.registers {
            let value = format.fields.get(*place).and_then(|field| field.integer(event.record, order));
            known.extend(value.map(|value| (*offset, *size, value.bits())));
        }
        let pc = layout.pc();
        if frame.pc.is_inferred() {
            // What was moved is no register that was recorded.
            known.retain(|(offset, ..)| *offset != pc.offset);
        } else if let Some((.., value)) = known.iter().find(|(offset, ..)| *offset == pc.offset) {
            frame.pc = ProgramCounter::Recorded(*value);
        } else {
            known.extend(frame.pc.address().map(|address| (pc.offset, pc.size, address)));
        }
        frame.registers = Some(self.block(known));
        for (place, holder, offset) in &probe.memory {
            let fields = (format.fields.get(*place), format.fields.get(*holder));
            let (Some(field), Some(holder)) = fields else { continue };
            let at = holder.integer(event.record, order).map(Integer::bits);
            let bytes = field.bytes(event.record, order).filter(|bytes| !bytes.is_empty());
            if let (Some(at), Some(bytes)) = (at, bytes) {
                let address = at.wrapping_add_signed(*offset);
                if address.checked_add(bytes.len() as u64).is_some() {
                    frame.memory.push(MemoryBlock { address, bytes: Cow::Owned(bytes.to_vec()) });
                }
            }
        }
    }

    /// A register block in which nothing but these is there: offset, size and value of each.
    fn block(&self, known: Vec<(usize, usize, u64)>) -> RegisterBlock<'static> {
        let size = self.target.layout.as_ref().map_or(0, crate::arch::Layout::size);
        RegisterBlock::holding(size, self.target.byte_order, known)
    }

    /// The addresses of the stack at an event, its own first: those that the event itself holds, or those of the kernel
    /// that the next event of its CPU and task does.
    fn callers(&self, event: &Event<'_>, page: &Kept<'_>, place: usize, position: Position) -> Vec<u64> {
        let order = self.formats.order();
        let entries = |format: &EventFormat, record: &[u8]| -> Vec<u64> {
            let entries = StackEntries::of(format, record, order).into_iter().flatten().take(MOST_CALLERS);
            entries.map(|entry| moved(entry, event.last_boot)).collect()
        };
        if self.roles.is_kernel_stack(event.kind.id) {
            return event.format.map_or_else(Vec::new, |format| entries(format, event.record));
        }
        let next;
        let record = match page.records().get(place + 1) {
            Some(found) => page.bytes(*found),
            None => {
                let page = self.streams.kept(&self.container, position.stream, position.page + 1);
                let Some(page) = page.filter(|page| page.lost() == LostEvents::None) else { return Vec::new() };
                next = page;
                next.records().first().map_or(&[][..], |found| next.bytes(*found))
            }
        };
        let format = self.formats.of(record).filter(|format| self.roles.is_kernel_stack(format.id));
        let (Some(stack), Some(own)) = (format, event.format) else { return Vec::new() };
        if self.formats.pid(stack, record) != self.formats.pid(own, event.record) {
            return Vec::new();
        }
        let found = entries(stack, record);
        let iterator = event.kind.address;
        // The functions that record are called by the event's own, whose place the frame shows.
        let own = found.iter().position(|entry| self.program.same_function(*entry, iterator));
        let callers = own.map_or(&found[..], |own| &found[own + 1..]);
        [&[iterator], callers].concat()
    }

    /// The stack as gdb finds it: by the rule of the program that the recording gives ([`made::frame_chain`]), or by
    /// those of the user's ([`PlacedImage::stack`](crate::image::PlacedImage::stack)).
    fn fill_chain(&self, stack: &[u64], frame: &mut Frame<'_>) {
        let Some(layout) = &self.target.layout else { return };
        let mut known: Vec<(usize, usize, u64)> = Vec::new();
        let mut hold = |register: Option<&Register>, value: u64| {
            // What was inferred is no register that was recorded.
            let register = register.filter(|register| *register != layout.pc() || !frame.pc.is_inferred());
            known.extend(register.map(|register| (register.offset, register.size, value)));
        };
        if let Some(pc) = frame.pc.address() {
            hold(Some(layout.pc()), pc);
        }
        let is_of_kernel = stack.first().is_some_and(|first| self.program.has_rule(*first));
        let is_kernel_given = self.program.is_beside_kernel();
        let made = self.machine.filter(|_| is_of_kernel && stack.len() > 1 && !is_kernel_given);
        let thread = self.threads.binary_search_by_key(&frame.thread, |thread| thread.id).unwrap_or(0);
        let base = self.places.chain(thread);
        let chain = made.and_then(|machine| made::frame_chain(&machine, base, stack));
        if let Some(chain) = chain {
            for (name, value) in &chain.registers {
                hold(layout.by_name(name).filter(|register| *register != layout.pc()), *value);
            }
            let (address, bytes) = chain.memory;
            frame.memory.push(MemoryBlock { address, bytes: bytes.into() });
        }
        let given = self.shown_with.get();
        // Also where nothing is known but the place: there gdb would look for a rule of its own.
        let pc = frame.pc.address().filter(|pc| stack.is_empty() && self.program.has_rule(*pc));
        let unknown: Vec<u64> = stack
            .iter()
            .copied()
            .chain(pc)
            .filter(|address| given.is_none_or(|image| image.read_only(*address).is_empty()))
            .collect();
        let code = self.machine.filter(|_| is_of_kernel || pc.is_some());
        let code = code.map_or_else(Vec::new, |machine| made::unknown_code(&machine, &unknown));
        frame
            .memory
            .extend(code.into_iter().map(|(at, code)| MemoryBlock { address: at, bytes: code.to_vec().into() }));
        let beside = |address: u64| is_kernel_given && self.program.has_rule(address);
        if let Some(stack) = given.and_then(|image| image.stack(base, stack, beside)) {
            for (number, value) in stack.registers {
                hold(self.target.dwarf_register(number), value);
            }
            for (address, value) in stack.words {
                let mut word = vec![0; self.target.address_size];
                self.target.byte_order.store(value, &mut word);
                frame.memory.push(MemoryBlock { address, bytes: word.into() });
            }
        }
        if !known.is_empty() {
            frame.registers = Some(self.block(known));
        }
    }
}
