//! Which byte order the frames are in, where neither the user nor the machine says.
//!
//! The chain of frame sizes tells: read in the wrong order, a size nearly always points outside the file.

use super::chain::{Chain, Link};
use crate::source::ByteOrder;

/// How many frames are looked at, so that opening a large file stays quick.
const LOOKED_AT: usize = 10_000;

/// How many frames must fit before the other byte order is suggested against what the machine says.
const CONVINCING: usize = 3;

/// The byte order to read the frames in, and what to tell the user about it.
///
/// `stated` is what the user, the architecture or the program image says; it is never overruled.
pub(super) fn decide(file: &[u8], frames_at: u64, stated: Option<ByteOrder>) -> (ByteOrder, Option<String>) {
    match stated {
        Some(order) => (order, doubt(file, frames_at, order)),
        None => match fitting(file, frames_at) {
            Some(order) => (order, None),
            None => {
                let remark = "nothing tells the byte order, so the file is read as little-endian (--endian sets it)";
                (ByteOrder::Little, Some(remark.to_owned()))
            }
        },
    }
}

fn other(order: ByteOrder) -> ByteOrder {
    match order {
        ByteOrder::Little => ByteOrder::Big,
        ByteOrder::Big => ByteOrder::Little,
    }
}

/// The order in which the chain goes on when it breaks in the other, if it does.
fn fitting(file: &[u8], frames_at: u64) -> Option<ByteOrder> {
    let mut little = Chain::new(file, frames_at, ByteOrder::Little);
    let mut big = Chain::new(file, frames_at, ByteOrder::Big);
    // A proper end counts more than a frame that fits, and that more than a break.
    let rank = |link: Link<'_>| match link {
        Link::Frame(_) => 1,
        end if end.is_proper_end() => 2,
        _ => 0,
    };
    for _ in 0..LOOKED_AT {
        let (in_little, in_big) = (rank(little.next()), rank(big.next()));
        if in_little > in_big {
            return Some(ByteOrder::Little);
        }
        if in_big > in_little {
            return Some(ByteOrder::Big);
        }
        if in_little != 1 {
            return None;
        }
    }
    None
}

/// A remark if the very first frame does not fit in `order` and several do in the other.
fn doubt(file: &[u8], frames_at: u64, order: ByteOrder) -> Option<String> {
    match Chain::new(file, frames_at, order).next() {
        Link::Frame(_) => return None,
        end if end.is_proper_end() => return None,
        _ => {}
    }
    let suggested = other(order);
    let mut chain = Chain::new(file, frames_at, suggested);
    for fitting in 0..CONVINCING {
        match chain.next() {
            Link::Frame(_) => {}
            end if end.is_proper_end() && fitting > 0 => break,
            _ => return None,
        }
    }
    let option = match suggested {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
    };
    Some(format!(
        "the first frame does not fit the file when it is read as {order}, but it does as {suggested} \
         (try --endian {option})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frame section of frames with these sizes, at offset 1.
    fn section(order: ByteOrder, sizes: &[u32]) -> Vec<u8> {
        let mut file = vec![0xee];
        for size in sizes {
            let mut header = [0; 6];
            order.store(1, &mut header[..2]);
            order.store(u64::from(*size), &mut header[2..]);
            file.extend_from_slice(&header);
            file.resize(file.len() + *size as usize, 0xcc);
        }
        file.extend_from_slice(&[0; 4]);
        file
    }

    #[test]
    fn the_chain_tells_the_order() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            assert_eq!(decide(&section(order, &[300]), 1, None), (order, None));
            assert_eq!(decide(&section(order, &[0, 0, 12]), 1, None), (order, None));
            // The first size fits in both orders.
            assert_eq!(decide(&section(order, &[0x0001_0000, 300]), 1, None), (order, None));
            let mut cut = section(order, &[100, 200, 300]);
            cut.truncate(400);
            assert_eq!(decide(&cut, 1, None), (order, None));
        }
    }

    #[test]
    fn an_undecided_order_is_little_with_a_hint() {
        for file in [section(ByteOrder::Big, &[]), section(ByteOrder::Big, &[0, 0x0001_0100]), vec![0xee, 1]] {
            let (order, remark) = decide(&file, 1, None);
            assert_eq!(order, ByteOrder::Little);
            assert!(remark.unwrap().contains("--endian"));
        }
    }

    #[test]
    fn a_stated_order_holds_and_is_doubted_when_the_other_fits() {
        let file = section(ByteOrder::Big, &[300, 200, 100]);
        let (order, remark) = decide(&file, 1, Some(ByteOrder::Little));
        assert_eq!(order, ByteOrder::Little);
        assert!(remark.unwrap().contains("try --endian big"));
        assert_eq!(decide(&file, 1, Some(ByteOrder::Big)), (ByteOrder::Big, None));
        assert!(decide(&section(ByteOrder::Big, &[300]), 1, Some(ByteOrder::Little)).1.is_some());
        assert_eq!(decide(&[0xee, 1, 0, 9, 9, 9, 9, 0], 1, Some(ByteOrder::Little)).1, None);
    }
}
