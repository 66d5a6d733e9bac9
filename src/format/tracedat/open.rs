//! The opening of a file: everything that is known before the first frame.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::container::options::Value;
use super::container::{Container, ContainerError};
use super::event_types::{self, EventType, Roles, is_probe};
use super::events::{
    Clock, Content, Field, FieldKind, Formats, LongSize, PageLayout, TaskCollector, TimeSample, TimeShift, Tsc2Nsec,
};
use super::last_boot::LastBootPlaces;
use super::losses::Losses;
use super::places::Places;
use super::positions::Positions;
use super::probe::Probe;
use super::program::{Given, Program};
use super::programs_place::{self, Kernel, KernelFunctions};
use super::streams::Streams;
use super::survey::survey;
use super::trace_buffer::Sequence;
use super::variables::{EVERY, Variables};
use super::{Choices, TraceDat, machine, status, tasks};
use crate::arch::{self, Known, Machine};
use crate::format::tfile::pieces;
use crate::format::{FormatError, OpenOptions};
use crate::image::Image;
use crate::source::{ByteOrder, Source};
use crate::trace::{Damage, DamageList, SourceStrings, Tracepoint};

/// How many characters of variables are put into one `collect`.
const LINE: usize = 160;

impl TraceDat {
    /// Reads a file that begins with [`MAGIC`](super::MAGIC).
    pub fn open(source: Source, options: &OpenOptions<'_>) -> Result<TraceDat, FormatError> {
        let (name, choices) = (source.name().to_owned(), &options.tracedat);
        let container =
            Container::open(source).map_err(|ContainerError { name, cause }| FormatError::TraceDat { name, cause })?;
        let order = container.byte_order();
        let mut damage = container.damage().clone();
        let (layout, assumed) = page_layout(&container, order);
        let formats = formats(&container, order, layout.long, &mut damage);
        let refused = |cause| FormatError::Choice { name: name.clone(), cause };
        choices.check(&container, &formats).map_err(refused)?;
        let uname = container.options().iter().find_map(|option| match &option.value {
            Value::Uname(uname) => Some(uname.as_str()),
            _ => None,
        });
        let mut taken_as = None;
        let recorded = machine::of_uname(uname.unwrap_or(""), order).or_else(|| {
            let (machine, remark) = machine::of_symbols(&container, layout.long.bytes(), order)?;
            taken_as = Some(remark);
            Some(machine)
        });
        let kernel_functions = KernelFunctions::new(&container);
        let is_refused = |image: &Image| programs_place::refusal(&kernel_functions, recorded, image).is_some();
        let image = options.image.filter(|image| !is_refused(image));
        let mut of_boots = Vec::new();
        let last_boots = LastBootPlaces::of(&container, recorded, &mut of_boots);
        let streams = Streams::new(&container, choices, layout, clock(&container), last_boots);
        let mut collector = TaskCollector::new(&formats);
        for (pid, name) in container.command_lines() {
            if let Ok(pid) = i32::try_from(pid) {
                collector.add(pid, &name);
            }
        }
        let chosen = choices.chosen(&formats);
        let progress = options.expanding.unwrap_or(&|_| ());
        let survey = survey(&container, &streams, &formats, &mut collector, |id| chosen.has(id), progress);
        let names = collector.finish();
        let known = Known {
            recorded: None,
            given: options.description,
            name: options.architecture,
            machine: image.map(Image::machine).or(recorded),
            byte_order: Some(options.byte_order.unwrap_or(order)),
            block_size: None,
        };
        let mut choice =
            arch::resolve(&known).map_err(|cause| FormatError::Arch { name: name.clone(), at: None, cause })?;
        let mut remarks = std::mem::take(&mut choice.remarks);
        remarks.extend(assumed.into_iter().chain(taken_as).chain(of_boots));
        let target = choice.with_byte_order(order);
        let recorded = recorded.or_else(|| machine::of_architecture(&target.architecture, order));
        choices.check_mappings(&formats, target.layout.as_ref()).map_err(refused)?;
        let address_size = recorded.map_or(layout.long.bytes(), |machine| machine.address_size);
        let places = Places::new(address_size);
        let types = event_types::event_types(&container, &formats, &survey, places);
        let variables = Variables::new(&types, &formats, target.layout.as_ref());
        let probes = probes(&types, &formats, &target, choices);
        let made_for = match image.map(Image::machine) {
            None => recorded,
            // gdb takes no two programs of different machines.
            Some(given) => {
                let is_alike = |recorded: Machine| Machine { elf_flags: given.elf_flags, ..recorded } == given;
                recorded.is_some_and(is_alike).then_some(given)
            }
        };
        let given = image.map(|image| match kernel_functions.compare(image) {
            Kernel::Moved(bias) => Given::Kernel(image, bias),
            _ => Given::Program,
        });
        let program = Program::new(&container, &formats, &types, &survey, made_for, given, &mut damage);
        remarks.extend(program.remarks.iter().cloned());
        remarks.extend(image.and_then(|image| programs_place::remark(&container, choices.process, image)));
        if streams.left_out > 0 {
            remarks.push(format!("there are more CPUs than can be shown; the last {} are left out", streams.left_out));
        }
        remarks.extend(status::remarks(&container, &survey, &streams));
        let cpus: Vec<u32> = streams.all().iter().map(|stream| stream.cpu).collect();
        let threads = tasks::threads(&survey.tasks, &cpus, &names);
        let tracepoints = types.iter().rev().map(|event| tracepoint(event, &variables, &formats, &probes)).collect();
        let mut by_id = vec![0; types.last().map_or(0, |last| usize::from(last.id) + 1)];
        for (event, place) in types.iter().zip(1..) {
            if let Some(entry) = by_id.get_mut(usize::from(event.id)) {
                *entry = place;
            }
        }
        let instances = streams.buffers(&container).map(|buffer| buffer.name.clone()).collect();
        Ok(TraceDat {
            status: status::status(&container, &survey, choices),
            roles: Roles::of(&formats),
            damage: listed(&damage),
            positions: Positions::new(),
            losses: Losses::default(),
            sequence: Sequence::default(),
            machine: recorded,
            kernel_functions,
            container,
            formats,
            instances,
            streams,
            survey,
            types,
            by_id,
            probes,
            variables,
            places,
            target,
            program,
            shown_with: OnceLock::new(),
            names,
            threads,
            tracepoints,
            process: choices.process,
            remarks,
        })
    }
}

/// What is wrong, and at the end how much more, where that is too much to list.
fn listed(damage: &DamageList) -> Vec<Damage> {
    let mut listed = damage.kept().to_vec();
    let more = damage.total() - listed.len() as u64;
    if more > 0 {
        let at = listed.last().map_or(0, |last| last.at);
        listed.push(Damage { at, frame: None, what: format!("{more} more places are damaged, and not listed") });
    }
    listed
}

fn page_layout(container: &Container, order: ByteOrder) -> (PageLayout, Option<String>) {
    let long = LongSize::of(usize::from(container.header().long_size)).unwrap_or(LongSize::Eight);
    match container.header_page() {
        Some(text) => PageLayout::read(text.bytes, order, long),
        None => {
            let remark = format!(
                "the file does not describe its pages (header_page): taken as those of a kernel with a long of {} bytes",
                long.bytes()
            );
            (PageLayout::assumed(order, long), Some(remark))
        }
    }
}

fn formats(container: &Container, order: ByteOrder, long: LongSize, damage: &mut DamageList) -> Formats {
    let mut formats = Formats::new(order, long);
    for text in container.ftrace_formats() {
        formats.add("ftrace", text.bytes, text.at, damage);
    }
    for event in container.event_formats() {
        formats.add(&event.system.text(), event.format.bytes, event.format.at, damage);
    }
    formats
}

fn clock(container: &Container) -> Clock {
    let mut clock = Clock::default();
    for option in container.options() {
        match &option.value {
            Value::Date(microseconds) => clock.add_date(*microseconds),
            Value::Offset(nanoseconds) => clock.add_offset(*nanoseconds),
            Value::TimeShift(shift) => {
                let sample = |found: &super::container::options::Correction| TimeSample {
                    time: found.time,
                    offset: found.offset,
                    scaling: found.scaling,
                    fraction: found.fraction.cast_unsigned(),
                };
                let cpus = shift.cpus.iter().map(|samples| samples.iter().map(sample).collect()).collect();
                clock.set_time_shift(TimeShift { flags: shift.flags, cpus });
            }
            Value::TscToNanoseconds(scale) => {
                clock.set_tsc2nsec(Tsc2Nsec { multiplier: scale.multiplier, shift: scale.shift });
            }
            _ => {}
        }
    }
    clock
}

fn probes(types: &[EventType], formats: &Formats, target: &arch::Target, choices: &Choices) -> HashMap<u16, Probe> {
    let Some(layout) = &target.layout else { return HashMap::new() };
    let formats = types.iter().filter_map(|event| formats.get(event.id)).filter(|format| is_probe(format));
    formats.map(|format| (format.id, Probe::new(format, layout, &choices.mappings))).collect()
}

/// How gdb shows a variable that is a field: of types that it knows without a program.
fn expression(name: &str, field: Option<&Field>) -> String {
    let is_fixed = field.is_some_and(|field| matches!(field.kind, FieldKind::Array(_)));
    match field.and_then(|field| field.kind.content()) {
        Some(Content::Text) => format!("(char *) ${name}"),
        Some(Content::Integers(element) | Content::Mask(element)) if is_fixed => {
            let word = match element.size {
                1 => "char",
                2 => "short",
                4 => "int",
                _ => "long long",
            };
            let sign = if element.signed { "signed" } else { "unsigned" };
            let count = field.map_or(0, |field| field.size / element.size.max(1));
            format!("*({sign} {word} (*)[{count}]) ${name}")
        }
        // With the name of what it points to.
        None if field.is_some_and(|field| field.kind == FieldKind::Pointer) => format!("(void *) ${name}"),
        _ => format!("${name}"),
    }
}

/// What gdb is told of an event: where it is made, and what to show with `tdump`, in its first frame and, since gdb
/// takes a frame with another pc for a step, in others.
fn tracepoint(event: &EventType, variables: &Variables, formats: &Formats, probes: &HashMap<u16, Probe>) -> Tracepoint {
    let every = EVERY.iter().map(|name| format!("${name}"));
    let format = formats.get(event.id);
    let own = variables.fields(event.id).iter().map(|(place, number)| {
        expression(variables.name(*number), format.and_then(|format| format.fields.get(*place)))
    });
    let mut lines: Vec<String> = Vec::new();
    if probes.get(&event.id).is_some_and(|probe| !probe.registers.is_empty()) {
        lines.push("collect $regs".to_owned());
    }
    let mut line = String::new();
    for name in every.chain(own) {
        if line.len() + name.len() > LINE {
            lines.push(std::mem::take(&mut line));
        }
        line += if line.is_empty() { "collect " } else { ", " };
        line += &name;
    }
    lines.push(line);
    let mut commands = lines.clone();
    commands.push("while-stepping 1".to_owned());
    commands.extend(lines);
    commands.push("end".to_owned());
    let mut tracepoint = Tracepoint::new(event.number, event.address);
    tracepoint.step_count = 1;
    tracepoint.hits = Some(event.count);
    tracepoint.source = SourceStrings { at: Some(format!("*{:#x}", event.address)), condition: None, commands };
    tracepoint.pieces = pieces(&tracepoint);
    tracepoint
}
