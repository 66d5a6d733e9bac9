//! The kernel's own types of records: BTF that gcc wrote, against the DWARF that it wrote of the same source.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection};

use super::frames::fixture;
use super::support::{Gdb, Server, run};

/// Structures with the fields of two events, and in them what C has. (Of negative values gcc does not tell in BTF that
/// they are.)
const SOURCE: &str = r#"
typedef int pid_t;
typedef struct { int counter; } atomic_t;
typedef struct { unsigned int val; } kuid_t;
enum color { RED, GREEN = 5, LAST = 0x7fffffff };
struct unknown;
union unknown_union;
struct list_head { struct list_head *next, *prev; };
struct trace_entry { unsigned short type; unsigned char flags; unsigned char preempt_count; int pid; };
struct bits {
    unsigned low : 3, middle : 7;
    _Bool truth : 1;
    unsigned : 0;
    signed int sign : 2;
    unsigned long wide : 40;
};
struct packed { char c; short s; char d; } __attribute__((packed));
typedef int (*compare_t)(const void *, const void *restrict, ...);

struct trace_event_raw_sched_switch {
    struct trace_entry ent;
    struct bits prev_comm;
    enum color prev_pid;
    union { float f; struct { short low, high; }; struct { unsigned char bytes[2][2]; } nested; } prev_prio;
    struct unknown *(*prev_state)(struct list_head *, union unknown_union *, enum color, kuid_t *);
    struct { const char *const *text; union { double d; volatile unsigned long long ull; }; } next_comm;
    const volatile pid_t next_pid;
    struct packed next_prio;
    char __data[0];
};

struct trace_event_raw_sched_waking {
    struct trace_entry ent;
    struct list_head comm;
    enum { FEW, MANY = 100 } pid;
    atomic_t prio;
    enum color target_cpu;
    char __data[0];
} __attribute__((packed, aligned(4)));
"#;

/// Compiles the source; where the result lies.
fn compiled(folder: &Path, debug: &str) -> std::path::PathBuf {
    let (source, object) = (folder.join("source.c"), folder.join(format!("{debug}.o")));
    std::fs::write(&source, SOURCE).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args([debug, "-fno-eliminate-unused-debug-types", "-c"]).arg(&source).arg("-o").arg(&object);
    let (code, _, errors) = run(&mut gcc);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    object
}

/// The recording that has BTF, with another in its place.
fn with_btf(btf: &[u8]) -> Vec<u8> {
    let mut file = std::fs::read(fixture("btfmod-v7-none")).unwrap();
    // The option with the number of the section, its length, and in it where the section is.
    let option = [23, 0, 8, 0, 0, 0];
    let at = file.windows(6).position(|window| window == option).unwrap() + 6;
    let section = file.len() as u64;
    file[at..at + 8].copy_from_slice(&section.to_le_bytes());
    file.extend([23, 0, 0, 0, 0, 0, 0, 0]);
    file.extend((btf.len() as u64).to_le_bytes());
    file.extend(btf);
    file
}

#[test]
fn gdb_sees_the_types_that_gcc_told_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let (told, dwarf) = (std::fs::read(compiled(folder.path(), "-gbtf")).unwrap(), compiled(folder.path(), "-g"));
    let btf = object::File::parse(&*told).unwrap().section_by_name(".BTF").unwrap().data().unwrap().to_vec();
    let path = folder.path().join("recorded.dat");
    std::fs::write(&path, with_btf(&btf)).unwrap();
    let server = Server::serve(&[path.to_str().unwrap()]);
    let connect = [format!("target remote :{}", server.port)];
    let mut questions: Vec<String> = [
        "ptype /o struct trace_event_raw_sched_switch",
        "ptype /o struct trace_event_raw_sched_waking",
        "ptype /o struct bits",
        "ptype /o struct packed",
        "ptype /o struct list_head",
        "ptype atomic_t",
        "ptype kuid_t",
        "ptype enum color",
    ]
    .map(str::to_owned)
    .to_vec();
    for (number, name) in ["sched_switch", "sched_waking"].iter().enumerate() {
        questions.push(format!("tfind tracepoint {}", number + 1));
        questions.push(format!("print *(struct trace_event_raw_{name} *) $rec"));
    }
    let by_gcc = [format!("symbol-file {}", dwarf.display())];
    for gdb in Gdb::ALL {
        let shown = gdb.answers(&connect, &questions);
        // The same memory by gcc's own types.
        let expected = gdb.answers(&[&connect[..], &by_gcc].concat(), &questions);
        for ((question, shown), expected) in questions.iter().zip(shown).zip(expected) {
            assert_eq!(shown.join("\n"), expected.join("\n"), "{gdb:?}: {question}");
            assert!(!shown[0].starts_with("No "), "{gdb:?}: {question}: {shown:?}");
        }
    }
}
