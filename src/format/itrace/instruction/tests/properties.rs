use proptest::collection::vec;
use proptest::prelude::*;

use super::{ALL, Flow, InstructionSet, decode};
use crate::format::itrace::instruction::{Blocks, Code, Ending, Ends};

struct Everywhere(Vec<u8>);

impl Code for Everywhere {
    /// The same code again and again: addresses wrap.
    fn code(&self, address: u64) -> &[u8] {
        self.0.get((address % 64) as usize..).unwrap_or_default()
    }
}

fn any_instruction_set() -> impl Strategy<Value = InstructionSet> {
    proptest::sample::select(&ALL[..])
}

/// Addresses near both ends, and of both sizes.
fn any_address() -> impl Strategy<Value = u64> {
    let near = |place: u64| (0..64_u64).prop_map(move |distance| place.wrapping_add(distance).wrapping_sub(32) & !3);
    prop_oneof![near(0), near(1 << 32), any::<u64>()]
}

proptest! {
    #[test]
    fn whatever_lies_there_is_an_instruction_or_none(
        instruction_set in any_instruction_set(), address in any_address(), bytes in vec(any::<u8>(), 0..8),
    ) {
        let Some(found) = decode(instruction_set, address, &bytes) else { return Ok(()) };
        prop_assert!(matches!(found.size, 2 | 4) && usize::from(found.size) <= bytes.len());
        // More bytes make no difference, and fewer none of it.
        let size = usize::from(found.size);
        prop_assert_eq!(decode(instruction_set, address, &bytes[..size]), Some(found));
        prop_assert_eq!(decode(instruction_set, address, &bytes[..size - 1]).filter(|cut| cut.size == found.size), None);
        if let Flow::Branch(branch) = found.flow {
            let is_narrow = !matches!(branch.instruction_set, InstructionSet::A64 | InstructionSet::Rv64);
            prop_assert!(!is_narrow || branch.target <= u64::from(u32::MAX));
            // Where it leads from depends on nothing but the distance.
            let moved = decode(instruction_set, address.wrapping_add(1 << 20), &bytes).map(|moved| moved.flow);
            if let Some(Flow::Branch(moved)) = moved {
                let distance = moved.target.wrapping_sub(branch.target);
                let wrapped = if is_narrow { distance & u64::from(u32::MAX) } else { distance };
                prop_assert!(wrapped == 1 << 20 || moved.target == branch.target);
            }
        }
    }

    #[test]
    fn whatever_lies_there_is_a_block(
        instruction_set in any_instruction_set(), address in any_address(), bytes in vec(any::<u8>(), 0..64),
        limit in 0..140_u64,
    ) {
        let mut blocks = Blocks::new(Everywhere(bytes), Ends::default());
        let block = *blocks.block(instruction_set, address);
        prop_assert_eq!(blocks.block(instruction_set, address), &block);
        prop_assert!(block.end.wrapping_sub(block.start) <= 128);
        let addresses: Vec<_> = (0..block.instructions()).map_while(|nth| block.address(nth)).collect();
        prop_assert_eq!(addresses.len(), block.instructions() as usize);
        prop_assert_eq!(addresses.last().copied(), block.last());
        let cut = block.up_to(address.wrapping_add(limit));
        prop_assert!(cut == block || cut.ending == Ending::Limit);
        prop_assert!(cut == block || cut.end.wrapping_sub(address) <= limit);
        let is_left = |at: &&u64| cut.end.wrapping_sub(address) > at.wrapping_sub(address);
        prop_assert_eq!(cut.instructions() as usize, addresses.iter().filter(is_left).count());
    }
}
