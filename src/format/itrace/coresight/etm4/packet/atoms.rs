//! Packets of atoms, up to 24 of them in one byte.

use super::Atoms;

/// The atoms that each byte means as a packet; none for a byte that is not a packet of atoms.
pub(super) const ATOMS: [Atoms; 256] = table();

const fn table() -> [Atoms; 256] {
    let mut table = [Atoms::new(0, 0); 256];
    let mut header = 0xc0;
    while header < 256 {
        let low = header as u32;
        table[header] = match header {
            // Format 6: 3 to 23 E, and one more of either kind.
            0xc0..=0xd4 | 0xe0..=0xf4 => {
                let count = (low & 0x1f) + 3;
                let last = if low & 0x20 == 0 { 1 << count } else { 0 };
                Atoms::new(((1 << count) - 1) | last, count as u8 + 1)
            }
            // Format 5: NNNNN, NENEN, ENENE and NEEEE.
            0xd5 => Atoms::new(0b00000, 5),
            0xd6 => Atoms::new(0b01010, 5),
            0xd7 => Atoms::new(0b10101, 5),
            0xf5 => Atoms::new(0b11110, 5),
            // Format 4: NEEE, NNNN, NENE and ENEN.
            0xdc => Atoms::new(0b1110, 4),
            0xdd => Atoms::new(0b0000, 4),
            0xde => Atoms::new(0b1010, 4),
            0xdf => Atoms::new(0b0101, 4),
            // Formats 2, 1 and 3: a bit each.
            0xd8..=0xdb => Atoms::new(low & 0b11, 2),
            0xf6 | 0xf7 => Atoms::new(low & 0b1, 1),
            0xf8..=0xff => Atoms::new(low & 0b111, 3),
            _ => Atoms::new(0, 0),
        };
        header += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETM, damage, packets};
    use super::super::Packet;

    /// The atoms of a byte in letters, the oldest first.
    fn letters(header: u8) -> String {
        let [Packet::Atoms(mut atoms)] = packets(ETM, &[header])[..] else { panic!("{header:#x}") };
        std::iter::from_fn(|| atoms.take_oldest()).map(|taken| if taken { 'E' } else { 'N' }).collect()
    }

    #[test]
    fn every_format() {
        let expected = [
            (0xf6, "N"),
            (0xf7, "E"),
            (0xd8, "NN"),
            (0xd9, "EN"),
            (0xda, "NE"),
            (0xdb, "EE"),
            (0xf8, "NNN"),
            (0xf9, "ENN"),
            (0xfb, "EEN"),
            (0xfe, "NEE"),
            (0xff, "EEE"),
            (0xdc, "NEEE"),
            (0xdd, "NNNN"),
            (0xde, "NENE"),
            (0xdf, "ENEN"),
            (0xf5, "NEEEE"),
            (0xd5, "NNNNN"),
            (0xd6, "NENEN"),
            (0xd7, "ENENE"),
            (0xc0, "EEEE"),
            (0xe0, "EEEN"),
            (0xd4, "EEEEEEEEEEEEEEEEEEEEEEEE"),
            (0xf4, "EEEEEEEEEEEEEEEEEEEEEEEN"),
        ];
        for (header, atoms) in expected {
            assert_eq!(letters(header), atoms, "{header:#x}");
        }
    }

    #[test]
    fn every_byte_from_c0_on_is_atoms() {
        for header in 0xc0..=0xff {
            assert!(!letters(header).is_empty());
        }
        assert_eq!(damage(ETM, &[0xbf]), "at byte 0x0: found a packet that begins with 0xbf, which is reserved");
    }
}
