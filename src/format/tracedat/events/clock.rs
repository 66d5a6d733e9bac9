//! Raw times to times, as `trace-cmd report` computes them (`timestamp_calc` in its `lib/trace-cmd/trace-input.c`).
//!
//! In this order: a guest's time becomes the host's (option TIME_SHIFT), counts of the time stamp counter become
//! nanoseconds (TSC2NSEC), and what DATE and OFFSET say is added. Numbers wrap as there.

/// One measurement of a guest's clock against the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSample {
    /// The guest's time at which it was made.
    pub time: i64,
    /// What is to be added to the guest's time.
    pub offset: i64,
    /// What the guest's time is multiplied with before that.
    pub scaling: i64,
    /// How many low bits of the product are dropped; 0 where the recording does not say.
    pub fraction: u64,
}

/// The option TIME_SHIFT.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeShift {
    /// Bit 0: offsets between two samples, and outside of all, lie on the line through the two.
    pub flags: u32,
    /// The samples of each CPU, in the order of the recording.
    pub cpus: Vec<Vec<TimeSample>>,
}

/// Bit 0 of [`TimeShift::flags`].
const INTERPOLATE: u32 = 1;

/// The option TSC2NSEC: nanoseconds are `(time * multiplier) >> shift`. The option's offset is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tsc2Nsec {
    /// The multiplier; with 0 times stay as they are.
    pub multiplier: u32,
    /// How many low bits of the product are dropped.
    pub shift: u32,
}

/// What becomes of raw times.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The samples of each CPU by time, no two of one time.
    samples: Vec<Vec<TimeSample>>,
    interpolate: bool,
    scale: Option<Tsc2Nsec>,
    offset: i64,
}

impl Clock {
    /// Takes an option TIME_SHIFT into account; the last counts.
    pub fn set_time_shift(&mut self, shift: TimeShift) {
        self.interpolate = shift.flags & INTERPOLATE != 0;
        self.samples = shift.cpus;
        for samples in &mut self.samples {
            samples.sort_by_key(|sample| sample.time);
            samples.dedup_by_key(|sample| sample.time);
        }
    }

    /// Takes an option TSC2NSEC into account; the last counts.
    pub fn set_tsc2nsec(&mut self, scale: Tsc2Nsec) {
        self.scale = Some(scale).filter(|scale| scale.multiplier != 0);
    }

    /// Adds what an option DATE says, in microseconds.
    pub fn add_date(&mut self, microseconds: i64) {
        self.add_offset(microseconds.wrapping_mul(1000));
    }

    /// Adds what an option OFFSET says, in nanoseconds.
    pub fn add_offset(&mut self, nanoseconds: i64) {
        self.offset = self.offset.wrapping_add(nanoseconds);
    }

    /// The time that a raw time of this CPU means.
    #[inline]
    pub fn time(&self, raw: u64, cpu: u32) -> u64 {
        let mut time = raw;
        if !self.samples.is_empty() {
            time = self.of_host(time, cpu);
        }
        if let Some(Tsc2Nsec { multiplier, shift }) = self.scale {
            let product = u128::from(time) * u128::from(multiplier);
            time = product.checked_shr(shift).unwrap_or(0) as u64;
        }
        time.wrapping_add_signed(self.offset)
    }

    fn of_host(&self, time: u64, cpu: u32) -> u64 {
        let samples = usize::try_from(cpu).ok().and_then(|cpu| self.samples.get(cpu));
        match samples.map_or(&[][..], Vec::as_slice) {
            [] => time,
            [only] => time.wrapping_add_signed(only.offset),
            samples => {
                // The two neighbours; outside of all samples, the nearest two.
                let above = samples.partition_point(|sample| sample.time as u64 <= time);
                let first = above.saturating_sub(1).min(samples.len() - 2);
                match samples.get(first..) {
                    Some([lower, upper, ..]) => self.corrected(time, lower, upper),
                    _ => time,
                }
            }
        }
    }

    fn corrected(&self, time: u64, lower: &TimeSample, upper: &TimeSample) -> u64 {
        let offset = if self.interpolate {
            let span = upper.time.wrapping_sub(lower.time);
            let part = (time as i64).wrapping_sub(lower.time).wrapping_mul(upper.offset.wrapping_sub(lower.offset));
            let rounded = part.wrapping_add(span / 2);
            lower.offset.wrapping_add(if span == 0 { 0 } else { rounded.wrapping_div(span) })
        } else {
            lower.offset
        };
        let product = time.wrapping_mul(lower.scaling as u64);
        // A shift by all bits is undefined in C; nothing is left of the number.
        let scaled = u32::try_from(lower.fraction).ok().and_then(|bits| product.checked_shr(bits)).unwrap_or(0);
        scaled.wrapping_add_signed(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(time: i64, offset: i64) -> TimeSample {
        TimeSample { time, offset, scaling: 1, fraction: 0 }
    }

    fn clock(flags: u32, samples: &[TimeSample]) -> Clock {
        let mut clock = Clock::default();
        clock.set_time_shift(TimeShift { flags, cpus: vec![samples.to_vec()] });
        clock
    }

    #[test]
    fn offsets_between_samples_and_outside_of_them() {
        // Not sorted, and one time twice: the first of it counts.
        let samples = [sample(2000, 300), sample(1000, 100), sample(2000, 999), sample(4000, 100)];
        let line = clock(INTERPOLATE, &samples);
        for (raw, offset) in [(1000, 100), (1500, 200), (2000, 300), (3000, 201), (4000, 101), (5000, 1), (500, 1)] {
            assert_eq!(line.time(raw, 0), raw + offset, "{raw}");
        }
        // Rounded half up where offsets grow, cut where they shrink: so trace-cmd does.
        assert_eq!(line.time(1002, 0), 1002 + 100);
        assert_eq!(line.time(1003, 0), 1003 + 101);
        let steps = clock(0, &samples);
        for (raw, offset) in [(500, 100), (1999, 100), (2000, 300), (3999, 300), (9000, 300)] {
            assert_eq!(steps.time(raw, 0), raw + offset, "{raw}");
        }
        assert_eq!(steps.time(500, 1), 500, "a CPU without samples");
        assert_eq!(clock(1, &[sample(7, -5)]).time(100, 0), 95);
        assert_eq!(clock(1, &[]).time(100, 0), 100);
        assert_eq!(clock(0, &[sample(0, -200), sample(1, 0)]).time(0, 0), 200u64.wrapping_neg());
    }

    #[test]
    fn a_guest_s_time_is_scaled_before_the_offset_is_added() {
        let scaled = TimeSample { time: 0, offset: 10, scaling: 3 << 31, fraction: 32 };
        let both = clock(0, &[scaled, TimeSample { time: 100, ..scaled }]);
        assert_eq!(both.time(50, 0), 85);
        // Of one sample alone the scaling is not used.
        assert_eq!(clock(0, &[scaled]).time(50, 0), 60);
    }

    #[test]
    fn counts_become_nanoseconds_after_the_shift_and_before_the_offsets() {
        let mut clock = clock(0, &[sample(0, 1)]);
        clock.set_tsc2nsec(Tsc2Nsec { multiplier: 0xf000_0000, shift: 28 });
        clock.add_date(-2);
        clock.add_offset(500);
        assert_eq!(clock.time(199, 0), 3000 - 2000 + 500);
        // The product has more than 64 bits.
        assert_eq!(clock.time((1 << 60) - 1, 0), (15 << 60) - 1500);
        clock.set_tsc2nsec(Tsc2Nsec { multiplier: 0, shift: 3 });
        assert_eq!(clock.time(1999, 0), 2000 - 1500);
    }

    /// Flags, samples (time, offset, scaling, fraction), times and what they become.
    type Case = (u32, &'static [(i64, i64, i64, u64)], &'static [(u64, u64)]);

    /// Random samples and times, and what the functions of trace-cmd's trace-input.c return for them.
    #[rustfmt::skip]
    const OF_TRACE_CMD: &[Case] = &[
        (1, &[(66241, 57819, 3145729, 7), (146900, -42750, 4194305, 9), (211086, 70703, 4194305, 5),
          (217542, -24084, 2097153, 12)],
         &[(217542, 28513647739), (47192, 1159872530), (389927, 51105968889), (267583, 35071888552),
           (70036, 1721258371), (156618, 1282989388)]),
        (1, &[(12096, 56332, 3145729, 20), (74195, 32852, 3145729, 18), (103036, 70334, 1, 4),
          (142849, 29065, 3145729, 2)],
         &[(142849, 37994), (422770, 18446744073709316947), (2322, 66994), (418607, 18446744073709321001),
           (321047, 18446744073709416032), (220265, 18446744073709514201)]),
        (0, &[(15570, -67037, 3145729, 14), (96075, -12116, 1048577, 18), (108825, -6770, 3145729, 13)],
         &[(15570, 2922403), (163112, 640332), (298806, 1183109), (221855, 875304), (443907, 1763513),
           (147744, 578860)]),
        (1, &[(67299, 61325, 3145729, 17), (153171, -48400, 3145729, 5)],
         &[(153171, 3627706), (15331, 495672), (305526, 7089552), (153865, 3643475), (69720, 1731513),
           (192178, 4514032)]),
    ];

    #[test]
    fn times_are_those_of_trace_cmd() {
        for (flags, samples, times) in OF_TRACE_CMD {
            let sample = |&(time, offset, scaling, fraction)| TimeSample { time, offset, scaling, fraction };
            let clock = clock(*flags, &samples.iter().map(sample).collect::<Vec<_>>());
            for (raw, expected) in *times {
                assert_eq!(clock.time(*raw, 0), *expected, "{raw} by {samples:?}");
            }
        }
    }
}
