//! Values by their ranks among those that are distinct.

/// How many values are remembered while others are met.
const LATELY: usize = 1 << 12;

/// Where a value is remembered; those that lie next to each other, or a power of two apart, at different places.
fn place<const N: usize>(value: &[u64; N]) -> usize {
    let mix = |mixed: u64, number: &u64| (mixed.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (value.iter().fold(0, mix) >> (u64::BITS - LATELY.ilog2())) as usize
}

/// Values of `N` numbers each, fewer than 2^31.
pub(super) struct Ranked<const N: usize> {
    /// The distinct ones in ascending order.
    pub(super) values: Vec<[u64; N]>,
    /// For every position the rank of its value.
    pub(super) ranks: Vec<u32>,
}

impl<const N: usize> Ranked<N> {
    /// These values.
    pub(super) fn new(values: impl Iterator<Item = [u64; N]>) -> Ranked<N> {
        // Most columns have few values, so that one is mostly among those met last.
        let mut lately: Vec<Option<([u64; N], u32)>> = vec![None; LATELY];
        let mut met = Vec::new();
        let mut last = None;
        let meet = |value| {
            // And in some columns it is the same for long.
            let at = match last {
                Some((found, at)) if found == value => return at,
                _ => match lately[place(&value)] {
                    Some((found, at)) if found == value => at,
                    _ => {
                        met.push(value);
                        let at = met.len() as u32 - 1;
                        lately[place(&value)] = Some((value, at));
                        at
                    }
                },
            };
            last = Some((value, at));
            at
        };
        let mut ranks: Vec<u32> = values.map(meet).collect();
        let (values, renamed) = sorted(met);
        ranks.iter_mut().for_each(|rank| *rank = renamed[*rank as usize]);
        Ranked { values, ranks }
    }

    /// The values that these become.
    pub(super) fn map(&self, turn: impl Fn([u64; N]) -> [u64; N]) -> Ranked<N> {
        let (values, renamed) = sorted(self.values.iter().map(|value| turn(*value)).collect());
        Ranked { values, ranks: self.ranks.iter().map(|rank| renamed[*rank as usize]).collect() }
    }
}

/// The distinct values in ascending order, and the rank of each that was given.
fn sorted<const N: usize>(given: Vec<[u64; N]>) -> (Vec<[u64; N]>, Vec<u32>) {
    let mut values = given.clone();
    values.sort_unstable();
    values.dedup();
    let ranks = given.iter().map(|value| values.partition_point(|found| found < value) as u32).collect();
    (values, ranks)
}
