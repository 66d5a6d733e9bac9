use riscv_etrace::packet::ext::{BranchCount, BranchKind};
use riscv_etrace::packet::payload::{AddressInfo, Branch, InstructionTrace};
use riscv_etrace::packet::sync::{Context, QualStatus, Start, Support, Synchronization, Trap};
use riscv_etrace::packet::unit::ReferenceIOptions;
use riscv_etrace::types::trap::Info;
use riscv_etrace::types::{Privilege, branch};

use super::*;
use crate::format::itrace::Step;
use crate::format::itrace::instruction::{Blocks, Code, Ends, InstructionSet};
use crate::format::itrace::tests::{data, truth};
use crate::image::Image;

struct Program(Image);

impl Code for Program {
    fn code(&self, address: u64) -> &[u8] {
        self.0.read_only(address)
    }
}

type Named = &'static [(&'static str, u64)];

/// Streams of four encoders, all of them with 64 bits an address, with the list of what they tell and what each is like.
///
/// The last three are of the encoder in C that the authors of the specification published beside its draft of 2021
/// (`te_codec`), which keeps what its branch predictor learned; the list of the last has loops that were made longer.
const STREAMS: [(&str, &str, Named); 6] = [
    ("rv64.200.te_inst", "rv64.200.pcs.gz", &[]),
    ("rv64.200.etrace.smi", "rv64.200.pcs.gz", &[]),
    (
        "rv64.200.ir.te_inst",
        "rv64.200.pcs.gz",
        &[("return_stack_size_p", 8), ("call_counter_size_p", 8), KEEPS_RETURNS],
    ),
    ("rv64.200.jumps.te_inst", "rv64.200.pcs.gz", &[("cache_size_p", 7)]),
    ("rv64.200.modes.te_inst", "rv64.200.pcs.gz", &ALL_MODES),
    (
        "rv64.loops.te_inst",
        "rv64.loops.pcs.gz",
        &[ALL_MODES[0], ALL_MODES[1], ALL_MODES[2], ALL_MODES[3], KEEPS_PREDICTIONS],
    ),
];

const ALL_MODES: [(&str, u64); 4] =
    [("call_counter_size_p", 9), ("bpred_size_p", 7), ("cache_size_p", 7), ("f0s_width_p", 1)];
const KEEPS_RETURNS: (&str, u64) = ("keeps_returns", 1);
const KEEPS_PREDICTIONS: (&str, u64) = ("keeps_predictions", 1);

fn parameters(named: &[(&str, u64)]) -> Parameters {
    Parameters::new(&[&[("iaddress_width_p", 64)], named].concat()).unwrap()
}

#[test]
fn every_instruction_is_the_one_that_was_executed() {
    for (name, list, named) in STREAMS {
        let (truth, parameters) = (truth(list), parameters(named));
        let bytes = std::fs::read(data(name)).unwrap();
        let program = Program(Image::open(&data("prog.rv64.200")).unwrap());
        let mut blocks = Blocks::new(&program, Ends::default());
        let mut walk = Reconstruction::new(InstructionSet::Rv64, &parameters);
        let mut seen = Vec::new();
        let packets = Packets::new(&bytes, Framing::Siemens { hart_bits: 0 }, &parameters);
        walk.take_all(packets, &mut blocks, &mut |at, step| match step {
            Step::Run(run) => {
                seen.extend((0..run.instructions()).map(|nth| run.address(nth).unwrap()));
                assert_eq!(seen.last().copied(), run.last());
            }
            Step::State(state) => assert_eq!(state.to_string(), "user"),
            // It ends as it was meant to.
            Step::End if seen.len() == truth.len() => {}
            other => panic!("{name}: {other:?} behind {} instructions, at byte {at}", seen.len()),
        });
        let differs = seen.iter().zip(&truth).position(|(seen, truth)| seen != truth);
        assert_eq!((differs, seen.len()), (None, truth.len()), "{name}");
    }
}

/// What nobody told is found out, or asked for.
#[test]
fn what_an_encoder_keeps_is_found_out_from_its_trace() {
    let program = Program(Image::open(&data("prog.rv64.200")).unwrap());
    let fit = |name: &str, named: &[(&str, u64)]| {
        let (bytes, parameters) = (std::fs::read(data(name)).unwrap(), parameters(named));
        let packets = Packets::new(&bytes, Framing::Siemens { hart_bits: 0 }, &parameters);
        let packets = packets.read_on(Place::default(), (0, &[]), (&program, InstructionSet::Rv64));
        parameters.fitted(InstructionSet::Rv64, 0, &packets, &program).1
    };
    let untold = |(name, _, named): (&'static str, &'static str, Named)| {
        let named: Vec<_> = named.iter().copied().filter(|(name, _)| !name.starts_with("keeps_")).collect();
        fit(name, &named)
    };
    let said = STREAMS.map(|stream| fit(stream.0, stream.2));
    assert_eq!(said, [Fit::AsSaid; 6]);
    let keeps_returns = Fit::Keeps("calls (as keeps_returns=1 would say)");
    let open = Fit::Open("keeps_predictions");
    let found = STREAMS.map(untold);
    assert_eq!(found, [Fit::AsSaid, Fit::AsSaid, keeps_returns, Fit::AsSaid, Fit::AsSaid, open]);
}

/// What is executed by a stream, and how many discontinuities there are; with a program that is moved by so many bytes.
fn walked(bytes: &[u8], moved: u64) -> (u64, usize) {
    struct Moved<'p>(&'p Program, u64);
    impl Code for Moved<'_> {
        fn code(&self, address: u64) -> &[u8] {
            self.0.code(address.wrapping_sub(self.1))
        }
    }
    let parameters = Parameters::new(&[("iaddress_width_p", 64)]).unwrap();
    let program = Program(Image::open(&data("prog.rv64.200")).unwrap());
    let mut blocks = Blocks::new(Moved(&program, moved), Ends::default());
    let mut walk = Reconstruction::new(InstructionSet::Rv64, &parameters);
    let (mut executed, mut gaps) = (0, 0);
    let packets = Packets::new(bytes, Framing::Siemens { hart_bits: 0 }, &parameters);
    walk.take_all(packets, &mut blocks, &mut |_, step| match step {
        Step::Run(run) => executed += u64::from(run.instructions()),
        Step::Discontinuity(_) => gaps += 1,
        Step::Trap { .. } | Step::End | Step::State(_) | Step::Time(_) => {}
    });
    (executed, gaps)
}

#[test]
fn whatever_the_bytes_are_it_ends_and_what_does_not_fit_is_a_discontinuity() {
    let bytes = std::fs::read(data("rv64.200.te_inst")).unwrap();
    assert_eq!(walked(&bytes, 0), (63_108, 0));
    for cut in (0..bytes.len()).step_by(97) {
        assert!(walked(&bytes[..cut], 0).0 <= 63_108);
    }
    for at in (0..bytes.len()).step_by(53) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        walked(&changed, 0);
    }
    // Another program: a function moved by four bytes.
    let (executed, gaps) = walked(&bytes, 4);
    assert!(gaps > 0 && executed < 63_108, "{executed} {gaps}");
}

#[test]
fn parameters_are_asked_for_and_not_guessed() {
    let error = |named: &[(&str, u64)]| Parameters::new(named).unwrap_err();
    assert_eq!(error(&[("notime_p", 1)]), ParametersError::Missing("iaddress_width_p"));
    assert_eq!(error(&[("iaddress_width", 64)]), ParametersError::Unknown("iaddress_width".to_owned()));
    assert_eq!(
        error(&[("iaddress_width_p", 64), ("sijump_p", 1)]),
        ParametersError::Missing("sequentially_inferred_jumps")
    );
    let sizes = [("iaddress_width_p", 64), ("bpred_size_p", 7), ("cache_size_p", 7)];
    assert_eq!(error(&sizes), ParametersError::Missing("f0s_width_p"));
    let jumps = error(&[("iaddress_width_p", 64), ("sequentially_inferred_jumps", 1)]);
    assert!(matches!(jumps, ParametersError::Value { value: 1, .. }), "{jumps:?}");
    for (name, value, expected) in
        [("iaddress_width_p", 0, "1 to 64"), ("cache_size_p", 17, "0 to 16"), ("notime_p", 2, "0 or 1")]
    {
        assert_eq!(error(&[(name, value)]), ParametersError::Value { name: name.to_owned(), value, expected });
    }
}

/// What packets prove of a program: the addresses of the first and the last instruction of each run, and what is said of
/// discontinuities.
fn proven(named: &[(&str, u64)], payloads: &[InstructionTrace]) -> Vec<Result<(u64, u64), String>> {
    let packets = (0..).zip(payloads).map(|(at, payload)| packet(at, *payload, None));
    let found = steps(named, packets).into_iter().filter_map(|step| match step {
        Step::Run(run) => Some(Ok((run.start, run.last))),
        Step::Discontinuity(gap) => Some(Err(gap.reason)),
        Step::Trap { .. } | Step::End | Step::State(_) | Step::Time(_) => None,
    });
    found.collect()
}

fn packet(at: u64, payload: InstructionTrace, time: Option<u64>) -> Packet {
    Packet { at, source: Some(0), payload: Ok(Some(payload)), is_cut: false, time }
}

/// All that packets prove of a program.
fn steps(named: &[(&str, u64)], packets: impl IntoIterator<Item = Packet>) -> Vec<Step> {
    /// `nop`, `beq zero, zero, .+8`, `nop`, `jr a0`, `nop`, `ret`, three times `nop`, `ret`; at 0x28 `auipc t1, 0`,
    /// `jalr ra, -8(t1)`, `nop`, `beq zero, zero, .-4`; at 0x38 `nop`, and the first two once more.
    const CODE: [u32; 17] = [
        0x13,
        0x463,
        0x13,
        0x0005_0067,
        0x13,
        0x8067,
        0x13,
        0x13,
        0x13,
        0x8067,
        0x317,
        0xff83_00e7,
        0x13,
        0xfe00_0ee3,
        0x13,
        0x317,
        0xff83_00e7,
    ];
    struct Words(Vec<u8>);
    impl Code for Words {
        fn code(&self, address: u64) -> &[u8] {
            self.0.get(address as usize..).unwrap_or_default()
        }
    }
    let parameters = parameters(named);
    let code = Words(CODE.iter().flat_map(|word| word.to_le_bytes()).collect());
    let mut blocks = Blocks::new(&code, Ends::default());
    let mut walk = Reconstruction::new(InstructionSet::Rv64, &parameters);
    let mut found = Vec::new();
    walk.take_all(packets, &mut blocks, &mut |_, step| found.push(step));
    found
}

/// A state begins with the very instruction that a packet tells; a time lies behind what a packet proves.
#[test]
fn states_and_times_have_their_places() {
    let in_state = |address, privilege, time, context| {
        let ctx = Context { privilege, time, context };
        InstructionTrace::Synchronization(Synchronization::Start(Start { branch: false, ctx, address }))
    };
    let named = [("nocontext_p", 0), ("context_width_p", 8), ("notime_p", 0), ("time_width_p", 16)];
    let packets = [
        packet(0, begin(), None),
        packet(1, in_state(0x18, Privilege::User, Some(100), 7), None),
        packet(2, in_state(0x20, Privilege::Machine, Some(200), 7), Some(250)),
        packet(3, in_state(0x24, Privilege::Machine, None, 7), None),
        packet(
            4,
            InstructionTrace::Synchronization(Synchronization::Context(Context {
                privilege: Privilege::Supervisor,
                time: None,
                context: 9,
            })),
            Some(300),
        ),
    ];
    let words = steps(&named, packets).into_iter().map(|step| match step {
        Step::Run(run) => format!("{:#x} to {:#x}", run.start, run.last),
        Step::State(state) => state.to_string(),
        Step::Time(time) => format!("time {time}"),
        other => panic!("{other:?}"),
    });
    let expected = [
        "user, context 0x7",
        "0x18 to 0x18",
        "time 100",
        "0x1c to 0x1c",
        "machine, context 0x7",
        "0x20 to 0x20",
        "time 250",
        "0x24 to 0x24",
        "supervisor, context 0x9",
        "time 300",
    ];
    assert_eq!(words.collect::<Vec<_>>(), expected);
}

/// An encapsulation has a timestamp where bit 7 of its header is set, and else no room for one.
#[test]
fn an_encapsulation_has_a_timestamp_or_none() {
    let parameters = Parameters::new(&[("iaddress_width_p", 64)]).unwrap();
    let framing = Framing::Encapsulation { source_bits: 8, timestamp_bytes: 2 };
    // Header, source, timestamp, and two bytes; the same without a timestamp; a filler.
    let bytes = [0x82, 0x05, 0x34, 0x12, 0x01, 0x00, 0x02, 0x05, 0x01, 0x00, 0x00, 0x82, 0x06, 0x35, 0x12, 0x01, 0x00];
    let found: Vec<_> = Packets::new(&bytes, framing, &parameters).collect();
    let told = found.iter().map(|packet| (packet.at, packet.source, packet.time));
    assert_eq!(told.collect::<Vec<_>>(), [(0, Some(5), Some(0x1234)), (6, Some(5), None), (11, Some(6), Some(0x1235))]);
}

fn begin() -> InstructionTrace {
    Support::default().into()
}

fn start(address: u64) -> InstructionTrace {
    InstructionTrace::Synchronization(Synchronization::Start(Start { branch: false, ctx: CONTEXT, address }))
}

const CONTEXT: Context = Context { privilege: Privilege::User, time: None, context: 0 };

fn branches(count: u8, address: Option<i64>) -> InstructionTrace {
    let mut branch_map = branch::Map::default();
    (0..count).for_each(|_| branch_map.push_branch_taken(true).unwrap());
    let address = address.map(|address| AddressInfo { address, notify: false, updiscon: false, irdepth: None });
    InstructionTrace::Branch(Branch { branch_map, address })
}

#[test]
fn a_synchronization_that_does_not_fit_is_where_it_goes_on() {
    let words = format!("no packet tells whether the branch at 0x4 was taken{EITHER}");
    assert_eq!(proven(&[], &[begin(), start(0), start(16)]), [Err(words), Ok((16, 16))]);
}

#[test]
fn of_a_packet_that_does_not_fit_nothing_is_shown() {
    let words = format!("no packet tells where the instruction at 0xc led{EITHER}");
    assert_eq!(proven(&[], &[begin(), start(0), branches(2, None)]), [Err(words)]);
}

#[test]
fn a_packet_that_tells_a_branch_as_its_address_tells_whether_it_was_taken() {
    let back = branches(1, Some(-12));
    assert_eq!(proven(&[], &[begin(), start(16), back]), [Ok((16, 16)), Ok((20, 20)), Ok((4, 4))]);
    let Some(InstructionTrace::Branch(Branch { address: Some(address), .. })) = Some(back) else { panic!() };
    let words = format!("0 branches are left to be met at 0x4, expected 1{EITHER}");
    let untold = InstructionTrace::Address(address);
    assert_eq!(proven(&[], &[begin(), start(16), untold]), [Err(words)]);
}

#[test]
fn without_the_options_of_the_encoder_nothing_is_believed() {
    let words =
        "no packet before it tells how addresses and returns are told: full_address or implicit_return must be named";
    assert_eq!(proven(&[], &[start(0), start(16)]), [Err(words.to_owned())]);
    assert_eq!(proven(&[("full_address", 0)], &[start(16)]), [Ok((16, 16))]);
    assert_eq!(proven(&[], &[start(0), begin(), start(16)]), [Err(words.to_owned()), Ok((16, 16))]);
}

#[test]
fn behind_an_exception_no_packet_is_believed_before_one_tells_where_the_handler_is() {
    let trap = Trap { branch: false, ctx: CONTEXT, thaddr: false, address: 4, info: Info { ecause: 5, tval: None } };
    let trap = InstructionTrace::Synchronization(Synchronization::Trap(trap));
    let words = format!("no packet tells where the handler of an exception is{EITHER}");
    let payloads = [begin(), start(0), trap, branches(1, None), start(16)];
    assert_eq!(proven(&[], &payloads), [Err(words), Ok((16, 16))]);
}

#[test]
fn a_return_from_before_a_gap_leads_nobody_knows_where() {
    let named = [("return_stack_size_p", 4), ("call_counter_size_p", 4), ("keeps_returns", 1)];
    let options = ReferenceIOptions { implicit_return: true, ..ReferenceIOptions::default() };
    let begin = InstructionTrace::from(Support { ioptions: options, ..Support::default() });
    let lost = Support { qual_status: QualStatus::TraceLost, ioptions: options, ..Support::default() };
    let back = InstructionTrace::Address(AddressInfo { address: -8, notify: false, updiscon: false, irdepth: None });
    // When tracing began there was no call.
    assert_eq!(proven(&named, &[begin, start(16), back]), [Ok((16, 16)), Ok((20, 20)), Ok((8, 8))]);
    // Behind the gap it is one from before, or one that the packet tells: what is certain is where execution is then.
    let payloads = [begin, start(0), lost.into(), start(16), back, back];
    let found = proven(&named, &payloads);
    let [Ok((0, 0)), Err(_), Ok((16, 16)), Ok((20, 20)), Err(reason), Ok((8, 8)), Ok((12, 12)), Ok((0, 0))] =
        &found[..]
    else {
        panic!("{found:?}")
    };
    assert!(reason.starts_with("the return at 0x14 may be from a call before a gap"), "{reason}");
    // By the specification there is none from before a synchronization.
    let told = [Ok((16, 16)), Ok((20, 20)), Ok((8, 8)), Ok((12, 12)), Ok((0, 0))];
    assert_eq!(proven(&named[..2], &payloads)[2..], told);
}

/// Behind damage any bytes may look like a packet that says how the encoder tells things.
#[test]
fn an_encoder_is_switched_where_a_synchronization_follows_at_once() {
    let options = ReferenceIOptions { implicit_return: true, ..ReferenceIOptions::default() };
    let switched = InstructionTrace::from(Support { ioptions: options, ..Support::default() });
    let lost = Support { qual_status: QualStatus::TraceLost, ..Support::default() };
    let back = InstructionTrace::Address(AddressInfo { address: -8, notify: false, updiscon: false, irdepth: None });
    // The return is told: it is none of before a gap.
    let is_told = [Ok((16, 16)), Ok((20, 20)), Ok((8, 8))];
    let keeps = [KEEPS_RETURNS, ("call_counter_size_p", 4)];
    let payloads = [begin(), start(0), lost.into(), switched, branches(1, None), start(16), back];
    assert_eq!(proven(&keeps, &payloads)[2..], is_told);
    let payloads = [begin(), start(0), lost.into(), switched, start(16), back];
    assert!(matches!(proven(&keeps, &payloads)[2..], [Ok((16, 16)), Ok((20, 20)), Err(_), Ok((8, 8))]));
    // Where the size of something is missing, it is asked for where it is true.
    let options = ReferenceIOptions { branch_prediction: true, ..ReferenceIOptions::default() };
    let switched = InstructionTrace::from(Support { ioptions: options, ..Support::default() });
    let words = |what: &str| Err(format!("the encoder was switched to {what} must be named, which tells its size"));
    let predictor = words("a branch predictor: bpred_size_p");
    assert_eq!(proven(&[], &[begin(), start(16), switched, start(20)]), [Ok((16, 16)), predictor]);
    assert_eq!(proven(&[], &[begin(), start(16), switched, back]), is_told);
    let options = ReferenceIOptions { implicit_return: true, ..ReferenceIOptions::default() };
    let begin = InstructionTrace::from(Support { ioptions: options, ..Support::default() });
    let returns = words("implicit returns: return_stack_size_p or call_counter_size_p");
    assert_eq!(proven(&[], &[begin, start(16)]), [returns]);
}

#[test]
fn a_jump_to_where_the_instruction_before_says_is_told_or_not() {
    let jumps = [("sijump_p", 1), ("sequentially_inferred_jumps", 1)];
    let back = InstructionTrace::Address(AddressInfo { address: 0, notify: false, updiscon: false, irdepth: None });
    // `auipc` at 0x28, `jalr` to 0x20, and the `ret` at 0x24 that leads back to where the packet says.
    let inferred = [Ok((0x28, 0x28)), Ok((0x2c, 0x2c)), Ok((0x20, 0x24)), Ok((0x28, 0x28))];
    assert_eq!(proven(&jumps, &[begin(), start(0x28), back]), inferred);
    // Not where only the jump was traced, or the encoder tells it.
    assert_eq!(proven(&jumps, &[begin(), start(0x2c), back]), [Ok((0x2c, 0x2c)), Ok((0x2c, 0x2c))]);
    let told = InstructionTrace::Address(AddressInfo { address: -8, notify: false, updiscon: false, irdepth: None });
    let shown = [Ok((0x28, 0x28)), Ok((0x2c, 0x2c)), Ok((0x20, 0x20))];
    assert_eq!(proven(&[("sijump_p", 1), ("sequentially_inferred_jumps", 0)], &[begin(), start(0x28), told]), shown);
    // Where it tells another place, it was switched to what nobody named.
    let [Err(words)] = &proven(&[], &[begin(), start(0x38), back])[..] else { panic!() };
    assert!(words.starts_with("the jump at 0x40 leads to 0x34, as the instruction before it says"), "{words}");
}

/// The last instruction before an interrupt was executed.
#[test]
fn of_a_call_before_an_interrupt_the_return_is_known() {
    let options = ReferenceIOptions { implicit_return: true, ..ReferenceIOptions::default() };
    let begin = InstructionTrace::from(Support { ioptions: options, ..Support::default() });
    let trap = Trap { branch: false, ctx: CONTEXT, thaddr: true, address: 0x20, info: Info { ecause: 5, tval: None } };
    let trap = InstructionTrace::Synchronization(Synchronization::Trap(trap));
    let payloads = [begin, start(0x2c), trap, branches(1, Some(0x14))];
    // `jalr ra` at 0x2c, the handler with its `ret` at 0x24, and what is behind the call.
    let shown = [Ok((0x2c, 0x2c)), Ok((0x20, 0x20)), Ok((0x24, 0x24)), Ok((0x30, 0x34))];
    assert_eq!(proven(&[("call_counter_size_p", 4), KEEPS_RETURNS], &payloads), shown);
    // By the specification it is forgotten, and the return told.
    let shown = [Ok((0x2c, 0x2c)), Ok((0x20, 0x20)), Ok((0x24, 0x24)), Ok((0x34, 0x34))];
    assert_eq!(proven(&[("call_counter_size_p", 4)], &payloads), shown);
}

#[test]
fn where_exceptions_are_handled_is_told_or_known() {
    let options = ReferenceIOptions { implicit_exception: true, ..ReferenceIOptions::default() };
    let begin = InstructionTrace::from(Support { ioptions: options, ..Support::default() });
    let ctx = Context { privilege: Privilege::Machine, ..CONTEXT };
    let trap = Trap { branch: false, ctx, thaddr: true, address: 0, info: Info { ecause: 1, tval: None } };
    let trap = InstructionTrace::Synchronization(Synchronization::Trap(trap));
    let payloads = [begin, start(0), trap];
    assert_eq!(proven(&[("mtvec", 0x19)], &payloads), [Ok((0, 0)), Ok((0x1c, 0x1c))]);
    let words =
        "no packet tells where exceptions are handled: mtvec, as it was while tracing, must be named".to_owned();
    assert_eq!(proven(&[], &payloads), [Ok((0, 0)), Err(words)]);
    let again = [begin, start(0), trap, start(16)];
    assert!(matches!(&proven(&[], &again)[..], [Ok((0, 0)), Err(_), Ok((16, 16))]));
}

#[test]
fn branches_that_went_as_predicted_are_counted() {
    let options = ReferenceIOptions { branch_prediction: true, ..ReferenceIOptions::default() };
    let begin = InstructionTrace::from(Support { ioptions: options, ..Support::default() });
    let count = |branch_count| InstructionTrace::from(BranchCount { branch_count, kind: BranchKind::NoAddr });
    let size = [("bpred_size_p", 2)];
    // The branch at 0x34 back to 0x30 is taken 31 times as told, then 31 times as predicted, and not the next time.
    let (first, more) = (branches(31, None), count(0));
    let found = proven(&size, &[begin, start(0x30), first, more]);
    let turns = found.iter().filter(|found| matches!(found, Ok((0x30, 0x34)))).count();
    assert_eq!((turns, found.first(), found.len()), (62, Some(&Ok((0x30, 0x30))), 64), "{found:?}");
    // Of too many at once, or such as were predicted by what was lost, nothing is shown.
    let words = |payloads: &[InstructionTrace]| proven(&size, payloads).into_iter().find_map(Result::err).unwrap();
    assert!(words(&[begin, start(0x30), first, count(u32::MAX)]).contains("4294967326 predicted branches"));
    let keeps = [size[0], KEEPS_PREDICTIONS];
    let lost = Support { qual_status: QualStatus::TraceLost, ioptions: options, ..Support::default() };
    let found = proven(&keeps, &[begin, start(0x30), lost.into(), start(0x30), first, more]);
    let words = "it tells of predicted branches, and what was predicted depends on what was lost";
    assert!(found.contains(&Err(words.to_owned())), "{found:?}");
}

const EITHER: &str = "; what was told from byte 0x1 on is not believed either";
