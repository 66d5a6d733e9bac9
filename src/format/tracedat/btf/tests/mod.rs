//! BTF of all kinds, sound and damaged.

mod damaged;
mod kinds;
mod made;
mod translated;

pub use self::made::Made;

use super::*;
use crate::source::ByteOrder;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// One of everything; the structure is the type 20.
fn everything(order: ByteOrder) -> Made {
    let mut made = Made::new(order);
    let int = made.integer("int", 4, true);
    made.plain(2, "", int);
    made.array(int, 6);
    let members = ["low", "high", "whole"].map(|name| made.string(name.as_bytes()));
    let behind = [members[0], int, 3 << 24, members[1], int, 29 << 24 | 3, members[2], 3, 32];
    made.add(4, "mixed", (true, 3), 28, &behind);
    let names = ["a", "b"].map(|name| made.string(name.as_bytes()));
    made.add(5, "", (false, 2), 4, &[names[0], int, 0, names[1], 16, 0]);
    made.add(6, "signs", (true, 2), 4, &[names[0], 5, names[1], (-3i32).cast_unsigned()]);
    made.add(7, "far", (true, 0), 0, &[]);
    made.plain(8, "number", int);
    made.plain(9, "", int);
    made.plain(10, "", 0);
    made.plain(11, "", 2);
    made.plain(12, "main", 13);
    made.add(13, "", (false, 3), int, &[names[0], int, 0, 2, 0, 0]);
    made.add(14, "variable", (false, 0), int, &[1]);
    made.add(15, ".data", (false, 1), 4, &[14, 0, 4]);
    made.plain(16, "float", 4);
    made.add(17, "remark", (false, 0), 4, &[u32::MAX]);
    made.plain(18, "user", int);
    made.add(19, "wide", (false, 1), 8, &[names[0], 1, 2]);
    let flag = made.add(1, "_Bool", (false, 0), 1, &[4 << 24 | 8]);
    assert_eq!(flag, 20);
    let all = [("mixed", 4, 0), ("either", 5, 28), ("signs", 6, 32), ("number", 8, 36), ("flag", 20, 40)];
    let more = [("far", 2, 48), ("user", 18, 56), ("wide", 19, 64), ("call", 22, 72), ("float", 16, 80)];
    assert_eq!(made.structure("trace_event_raw_all", 88, &[all, more].concat()), 21);
    assert_eq!(made.plain(2, "", 13), 22);
    made
}
