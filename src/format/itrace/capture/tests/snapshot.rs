//! What a snapshot says.

use super::*;
use crate::format::itrace::tests::data;

pub(super) const INDEX: &str = "; DS-5\r
[snapshot]\r
version=1.0\r
\r
[device_list]\r
device0=cpu_0.ini\r
device1=etm_0.ini\r
\r
[trace]\r
metadata=trace.ini";
pub(super) const CORE: &str = "\
[device]
name=cpu_0
class=core
type=Cortex-A53

[regs]
PC(size:64)=0x0

[dump1]
file=code.bin
address=0x1000
length=0x4
";
pub(super) const UNIT: &str = "\
[device]
name=ETM_0
class=trace_source
type=ETM4.2

[regs]
TRCCONFIGR(0x004)=0x1001
trctraceidr(id:0x10)=0x10
TRCIDR0=0x28000EA1
TRCIDR1(0x079)=0x4100F403
TRCIDR2(0x07A)=0x488
TRCIDR8(0x060)=0
TRCCLAIMSET=?
";
pub(super) const TRACE: &str = "\
[trace_buffers]
buffers=buffer0,

[buffer0]
name=ETB_0
file=trace.bin
format=coresight

[source_buffers]
ETM_0=ETB_0

[core_trace_sources]
cpu_0=ETM_0
";

/// A file, what is replaced in it, and by what.
pub(super) type Change<'c> = (&'c str, &'c str, &'c str);

/// A snapshot with changes.
pub(super) fn snapshot(changes: &[Change<'_>]) -> TempDir {
    let mut files = [
        ("snapshot.ini", INDEX.to_owned()),
        ("cpu_0.ini", CORE.to_owned()),
        ("etm_0.ini", UNIT.to_owned()),
        ("trace.ini", TRACE.to_owned()),
        ("code.bin", "code".to_owned()),
        ("trace.bin", "trace".to_owned()),
    ];
    for (name, from, to) in changes {
        let text = &mut files.iter_mut().find(|(file, _)| file == name).unwrap().1;
        assert!(text.contains(from), "{name}: {from}");
        *text = text.replacen(from, to, 1);
    }
    folder(&files.each_ref().map(|(name, text)| (*name, text.as_str())))
}

fn refused(changes: &[Change<'_>]) -> String {
    let folder = snapshot(changes);
    said(&folder, Capture::from_snapshot(folder.path()))
}

fn remarked(changes: &[Change<'_>]) -> Vec<String> {
    let folder = snapshot(changes);
    remarks(&folder, &Capture::from_snapshot(folder.path()).unwrap())
}

#[test]
fn one_source_is_read() {
    let folder = data("gen-etm4-one");
    for path in [folder.clone(), folder.join("snapshot.ini")] {
        assert_eq!(Kind::of(&path), Some(Kind::Snapshot));
        let capture = Capture::from_snapshot(&path).unwrap();
        assert_eq!((capture.remarks, capture.images), (Vec::<String>::new(), Vec::new()));
        let [sink] = &capture.sinks[..] else { panic!("{:?}", capture.sinks) };
        assert_eq!((&sink.path, sink.framing.to_string().as_str()), (&folder.join("cstrace.bin"), "coresight"));
        let [source] = &sink.sources[..] else { panic!("{sink:?}") };
        assert_eq!((source.id, source.name.as_str()), (Some(0x10), "ETM_0"));
        let core = source.core.as_ref().unwrap();
        assert_eq!((core.name.as_str(), core.kind.as_deref()), ("cpu_0", Some("Cortex-A53")));
        let code = MemoryAt {
            path: folder.join("code.bin"),
            offset: 0,
            address: 0x40_0000,
            length: Some(0x3c4),
            space: Space::Any,
        };
        assert_eq!(core.images, [ImageAt::Memory(code)]);
    }
}

#[test]
fn two_sources_are_read() {
    let capture = Capture::from_snapshot(&data("gen-etm4-two-rs")).unwrap();
    assert_eq!(capture.remarks, [""; 0]);
    let sources = &capture.sinks[0].sources;
    let found: Vec<_> = sources.iter().map(|source| (source.id, source.core.as_ref().unwrap().name.as_str())).collect();
    assert_eq!(found, [(Some(0x10), "cpu_0"), (Some(0x11), "cpu_1")]);
    let returns = sources.iter().map(|source| match source.protocol {
        Protocol::Etm4(configuration) => configuration.has_return_stack(),
        Protocol::ETrace { .. } => false,
    });
    assert_eq!(returns.collect::<Vec<_>>(), [true, true]);
    assert_eq!(capture.all_images().count(), 2);
}

#[test]
fn line_ends_comments_and_ends_of_files_may_be_of_any_kind() {
    assert_eq!(remarked(&[]), [""; 0]);
    assert_eq!(remarked(&[("trace.ini", "file=trace.bin", " FILE = 'trace.bin' # the buffer")]), [""; 0]);
    assert_eq!(remarked(&[("cpu_0.ini", "[device]", "\u{feff}[device]")]), [""; 0]);
}

#[test]
fn formats_are_framings() {
    for (format, framing) in [("dstream_coresight", "tpiu"), ("source_data", "unformatted")] {
        let folder = snapshot(&[("trace.ini", "=coresight", &format!("={format}"))]);
        let capture = Capture::from_snapshot(folder.path()).unwrap();
        assert_eq!(capture.sinks[0].framing.to_string(), framing);
        assert_eq!(capture.sinks[0].sources[0].id.is_none(), framing == "unformatted");
    }
    assert_eq!(
        refused(&[("trace.ini", "=coresight", "=stp")]),
        "trace.ini:7: the format of the buffer is \"stp\", expected coresight, dstream_coresight or source_data"
    );
}

#[test]
fn each_buffer_has_its_sources() {
    let two = "buffers=b1,b0\n[b0]\nname=B0\nfile=trace.bin\nformat=source_data\n\
        [b1]\nname=B1\nfile=code.bin\nformat=source_data\n";
    let folder = snapshot(&[
        ("trace.ini", "buffers=buffer0,\n", two),
        ("trace.ini", "ETM_0=ETB_0", "ETM_0=B0, B1"),
        ("trace.ini", "[buffer0]", "[buffer9]"),
    ]);
    let capture = Capture::from_snapshot(folder.path()).unwrap();
    let files: Vec<_> = capture.sinks.iter().map(|sink| sink.path.file_name().unwrap()).collect();
    assert_eq!(files, ["code.bin", "trace.bin"]);
    assert_eq!(remarks(&folder, &capture), ["trace.ini:12: the section [buffer9] is not used"]);
}

#[test]
fn what_is_not_there_or_not_used_is_remarked() {
    let cases: [(&[Change<'_>], &str); 13] = [
        (
            &[("snapshot.ini", "[device_list]", "[clusters]\na=b\n[device_list]")],
            "snapshot.ini:5: the section [clusters] is not used",
        ),
        (
            &[("snapshot.ini", "[device_list]", "[device_list]\nd=x.ini")],
            "snapshot.ini:6: the file \"x.ini\" of a device is not there",
        ),
        (&[("cpu_0.ini", "class=core", "class=dsp")], "cpu_0.ini:3: the device \"cpu_0\" of class \"dsp\" is left out"),
        (&[("cpu_0.ini", "[device]", "[devices]")], "cpu_0.ini:1: is left out: it has no section [device]"),
        (&[("cpu_0.ini", "length=0x4", "lenght=0x4")], "cpu_0.ini:12: \"lenght\" of a memory dump is not used"),
        (
            &[("cpu_0.ini", "length=0x4", "length=0x10")],
            "cpu_0.ini:9: the memory at 0x1000 has 0x4 bytes in \"code.bin\", expected 0x10",
        ),
        (
            &[("cpu_0.ini", "length=0x4", "offset=0x10")],
            "cpu_0.ini:9: the memory at 0x1000 has 0x0 bytes in \"code.bin\", expected more",
        ),
        (
            &[("cpu_0.ini", "[dump1]", "[other]")],
            "cpu_0.ini:1: no memory of the core \"cpu_0\" is there, without which its code must be given as a file",
        ),
        (
            &[("trace.ini", "ETM_0=ETB_0", "ETM_0=ETB_0\nETM_9=ETB_0")],
            "trace.ini:11: the source \"ETM_9\" is no device of the snapshot",
        ),
        (
            &[("trace.ini", "cpu_0=ETM_0", "cpu_9=ETM_0")],
            "trace.ini:13: the core \"cpu_9\" is no device of the snapshot",
        ),
        (
            &[("trace.ini", "buffer0,", "buffer0,buffer1")],
            "trace.ini:2: the buffer \"buffer1\" has no section [buffer1]",
        ),
        (
            &[("trace.ini", "format=coresight", "format=coresight\nsize=5")],
            "trace.ini:8: \"size\" of a buffer is not used",
        ),
        (
            &[("trace.ini", "buffers=buffer0,\n", "buffers=buffer0,b1\n[b1]\nname=B\nfile=x\nformat=coresight\n")],
            "trace.ini:3: the buffer \"B\" is left out: [source_buffers] names no source of it",
        ),
    ];
    for (changes, remark) in cases {
        let found = remarked(changes);
        assert_eq!(found.first().map(String::as_str), Some(remark), "{changes:?}: {found:?}");
    }
    let missing = remarked(&[("cpu_0.ini", "code.bin", "libc.bin")]);
    assert!(
        missing[0].starts_with("cpu_0.ini:10: the memory at 0x1000 is left out: libc.bin: No such file"),
        "{missing:?}"
    );
}

#[test]
fn memory_that_overlaps_is_remarked() {
    let second = |rest: &str| {
        let dumps = format!("length=0x4\n[dump2]\nfile=code.bin\nlength=2\n{rest}\n");
        remarked(&[("cpu_0.ini", "length=0x4\n", &dumps)])
    };
    let overlaps = "cpu_0.ini:13: the memory at 0x1003 overlaps that at 0x1000 of line 9, which is believed";
    assert_eq!(second("address=0x1003"), [overlaps]);
    assert_eq!(second("address=0x1003\nspace=S"), [overlaps]);
    assert_eq!(second("address=0xfff").len(), 1);
    assert_eq!(second("address=0x1004"), [""; 0]);
    assert_eq!(second("address=0xffe"), [""; 0]);
    let spaces = "length=0x4\nspace=N\n[dump2]\nfile=code.bin\naddress=0x1000\nspace=ROOT\n";
    assert_eq!(remarked(&[("cpu_0.ini", "length=0x4\n", spaces)]), [""; 0]);
}

#[test]
fn sources_that_are_not_read_are_left_out() {
    let other = |kind: &str| format!("[device]\nname=X\nclass=trace_source\ntype={kind}\n");
    let folder = snapshot(&[
        ("snapshot.ini", "[trace]", "[device_list]\nd=x.ini\n[trace]"),
        ("trace.ini", "ETM_0=ETB_0", "X=ETB_0\nETM_0=ETB_0"),
    ]);
    for (kind, remark) in [
        ("STM", "x.ini:4: the source \"X\" is left out: STM tells no instructions"),
        ("PTM1.1", "x.ini:4: the source \"X\" is left out: PTM is not read yet"),
    ] {
        fs::write(folder.path().join("x.ini"), other(kind)).unwrap();
        let capture = Capture::from_snapshot(folder.path()).unwrap();
        assert_eq!(capture.sinks[0].sources.len(), 1);
        assert_eq!(remarks(&folder, &capture), [remark]);
    }
    fs::write(folder.path().join("x.ini"), other("XYZ")).unwrap();
    let error = said(&folder, Capture::from_snapshot(folder.path()));
    assert!(error.starts_with("x.ini:4: \"XYZ\" is no protocol that is known; read are"), "{error}");
    assert_eq!(
        refused(&[("snapshot.ini", "=etm_0.ini", "=code.bin")]),
        "code.bin:1: \"code\" is neither NAME=VALUE nor [SECTION]"
    );
}

#[test]
fn a_snapshot_without_a_source_that_is_read_is_refused() {
    let read = "read are ETMv4 (type=ETM4) and ETE (type=ETE)";
    let cases = [
        ("ETM3.5", "of what is in the snapshot nothing is read yet: ETMv3"),
        ("PFT1.1", "of what is in the snapshot nothing is read yet: PTM"),
        ("ITM", "what is in the snapshot tells no instructions: ITM"),
    ];
    for (kind, said) in cases {
        assert_eq!(refused(&[("etm_0.ini", "ETM4.2", kind)]), format!("trace.ini: {said}; {read}"));
    }
    assert_eq!(refused(&[("trace.ini", "ETM_0=ETB_0", "")]), format!("trace.ini: no buffer has a source; {read}"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases: [(&[Change<'_>], &str); 16] = [
        (
            &[("snapshot.ini", "[snapshot]", "[snap]")],
            "snapshot.ini: has no section [snapshot], so it is no snapshot (name the directory that the \
             debugger or OpenCSD wrote)",
        ),
        (&[("snapshot.ini", "1.0", "2.0")], "snapshot.ini:3: the version of the snapshot is \"2.0\", expected 1.0"),
        (
            &[("snapshot.ini", "metadata", "data")],
            "snapshot.ini: has no section [trace] with metadata=FILE, so the snapshot has no trace",
        ),
        (&[("snapshot.ini", "=etm_0.ini", "=cpu_0.ini")], "snapshot.ini:7: the device \"cpu_0\" is listed twice"),
        (&[("cpu_0.ini", "class=core", "")], "cpu_0.ini:1: [device] has no class="),
        (&[("cpu_0.ini", "class=core", "class=core\nCLASS=x")], "cpu_0.ini:4: [device] has class= twice"),
        (&[("cpu_0.ini", "file=code.bin", "")], "cpu_0.ini:9: [dump1] has no file="),
        (
            &[("cpu_0.ini", "=0x1000", "=here")],
            "cpu_0.ini:11: address is \"here\", expected a number (0x… for hexadecimal)",
        ),
        (
            &[("cpu_0.ini", "length=0x4", "space=EL7")],
            "cpu_0.ini:12: the space is \"EL7\", expected one of ANY, S, N, R, EL1S, \
             EL1N, EL1R, EL2S, EL2N, EL2R, EL3, ROOT",
        ),
        (
            &[("etm_0.ini", "=0x28000EA1", "=?")],
            "etm_0.ini:4: TRCIDR0 is \"?\", expected a number (0x… for hexadecimal)",
        ),
        (
            &[("etm_0.ini", "TRCIDR2", "TRCIDR3")],
            "etm_0.ini:4: the trace unit's register TRCIDR2 is missing; without it the trace cannot be \
             read (on Linux: cat /sys/bus/coresight/devices/etm0/trcidr/trcidr2)",
        ),
        (&[("trace.ini", "[trace_buffers]", "[buffers]")], "trace.ini: [trace_buffers] has no buffers="),
        (
            &[("trace.ini", "file=trace.bin", "file=a,b")],
            "trace.ini:6: the buffer is in several files, \"a,b\"; one is read (join them with \
             cat, in their order, and name that)",
        ),
        (
            &[("trace.ini", "[source_buffers]", "[buffer0]\nname=a\nfile=b\nformat=coresight\n[source_buffers]")],
            "trace.ini:9: the buffer \"buffer0\" is described twice",
        ),
        (
            &[("trace.ini", "cpu_0=ETM_0", "cpu_0=ETM_0\ncpu_1=ETM_0")],
            "trace.ini:14: the source \"ETM_0\" watches two cores, \"cpu_0\" and \"cpu_1\"",
        ),
        (
            &[("etm_0.ini", "=0x10\n", "=0\n")],
            "trace.ini:4: the ID of the source is 0x0, expected 0x1 to 0x6f (TRCTRACEIDR has it)",
        ),
    ];
    for (changes, error) in cases {
        assert_eq!(refused(changes), error, "{changes:?}");
    }
    let missing = refused(&[("trace.ini", "trace.bin", "none.bin")]);
    assert!(missing.starts_with("none.bin: No such file"), "{missing}");
    let missing = refused(&[("snapshot.ini", "trace.ini", "none.ini")]);
    assert!(missing.starts_with("none.ini: No such file"), "{missing}");
}

#[test]
fn an_id_twice_is_refused() {
    let folder = snapshot(&[
        ("snapshot.ini", "[trace]", "[device_list]\nd=x.ini\n[trace]"),
        ("trace.ini", "ETM_0=ETB_0", "ETM_1=ETB_0\nETM_0=ETB_0"),
    ]);
    fs::write(folder.path().join("x.ini"), UNIT.replace("ETM_0", "ETM_1")).unwrap();
    assert_eq!(
        said(&folder, Capture::from_snapshot(folder.path())),
        "trace.ini:4: the ID 0x10 is that of two sources in one sink, expected one each"
    );
    let trace = TRACE.replace("coresight", "source_data").replace("ETM_0=ETB_0", "ETM_1=ETB_0\nETM_0=ETB_0");
    fs::write(folder.path().join("trace.ini"), trace).unwrap();
    let error = said(&folder, Capture::from_snapshot(folder.path()));
    assert!(
        error.starts_with("trace.ini:4: the sink is not formatted and so has one source, but 2 are named"),
        "{error}"
    );
    fs::write(folder.path().join("trace.ini"), TRACE).unwrap();
    let capture = Capture::from_snapshot(folder.path()).unwrap();
    assert_eq!(
        remarks(&folder, &capture),
        ["x.ini:4: the source \"ETM_1\" is left out: [source_buffers] names no buffer for it"]
    );
}
