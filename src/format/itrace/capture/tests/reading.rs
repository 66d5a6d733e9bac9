//! What was said is enough to read a trace by.

use super::*;
use crate::format::itrace::Step;
use crate::format::itrace::coresight::Reconstruction;
use crate::format::itrace::coresight::etm4::Source as Elements;
use crate::format::itrace::instruction::{Blocks, Code};
use crate::format::itrace::tests::data;
use crate::source::Source;

struct Memory(Vec<Part>);

enum Part {
    Program(Box<Image>, u64),
    Bytes(MemoryAt, Source),
}

impl Part {
    fn open(image: &ImageAt) -> Part {
        match image {
            ImageAt::Elf(elf) => {
                let program = Box::new(Image::open(&elf.path).unwrap());
                let bias = elf.bias(&program).unwrap();
                Part::Program(program, bias)
            }
            ImageAt::Memory(memory) => Part::Bytes(memory.clone(), Source::open(&memory.path).unwrap()),
        }
    }

    fn code(&self, address: u64) -> &[u8] {
        match self {
            Part::Program(program, bias) => program.read_only(address.wrapping_sub(*bias)),
            Part::Bytes(memory, source) => {
                let at = address.checked_sub(memory.address).and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| memory.bytes(source).get(at..)).unwrap_or_default()
            }
        }
    }
}

impl Code for Memory {
    fn code(&self, address: u64) -> &[u8] {
        self.0.iter().map(|part| part.code(address)).find(|code| !code.is_empty()).unwrap_or_default()
    }
}

/// How many instructions each source executed.
fn executed(capture: &Capture) -> Vec<u64> {
    let sources = capture.sinks.iter().flat_map(|sink| sink.sources.iter().map(move |source| (sink, source)));
    let counts = sources.map(|(sink, source)| {
        let bytes = fs::read(&sink.path).unwrap();
        let (Framing::CoreSight(framing), Protocol::Etm4(configuration)) = (sink.framing, &source.protocol) else {
            panic!("{source:?}")
        };
        let own = source.core.iter().flat_map(|core| &core.images);
        let memory = own.chain(&capture.images).map(Part::open);
        let mut count = 0;
        let mut blocks = Blocks::new(Memory(memory.collect()), Reconstruction::ends(configuration));
        let mut reconstruction = Reconstruction::new(configuration);
        let elements = Elements::new(&bytes, framing, *configuration);
        reconstruction.take_all(elements, &mut blocks, &mut |_, step| match step {
            Step::Run(run) => count += u64::from(run.instructions()),
            Step::State(_) => {}
            other => panic!("{other:?}"),
        });
        count
    });
    counts.collect()
}

#[test]
fn what_snapshots_say_is_enough() {
    assert_eq!(executed(&Capture::from_snapshot(&data("gen-etm4-one")).unwrap()), [63_383]);
    assert_eq!(executed(&Capture::from_snapshot(&data("gen-etm4-two-rs")).unwrap())[1], 3_191);
}

#[test]
fn what_options_say_is_enough() {
    let folder = data("gen-etm4-one");
    let registers = REGISTERS.replace("TRCCONFIGR=0x1001", "TRCCONFIGR=1");
    // The dump begins as the program does, and so is taken for one, cut as it is.
    for image in [format!("{}@0x400000", folder.join("code.bin").display()), data("prog.a64.200").display().to_string()]
    {
        let options = Options {
            framing: None,
            sources: vec![format!("0x10=etm4,{registers}").parse().unwrap()],
            images: vec![image.parse().unwrap()],
        };
        let capture = Capture::open(&folder.join("cstrace.bin"), &options).unwrap().unwrap();
        assert_eq!(executed(&capture), [63_383], "{image}");
    }
}
