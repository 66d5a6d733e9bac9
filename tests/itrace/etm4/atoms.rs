//! Packets of atoms (Arm IHI 0064, "Atom instruction trace packets").

/// The headers of all but format 6, the longest first, with their atoms, the oldest first.
const HEADERS: [(&str, u8); 22] = [
    ("NNNNN", 0xd5),
    ("NENEN", 0xd6),
    ("ENENE", 0xd7),
    ("NEEEE", 0xf5),
    ("NEEE", 0xdc),
    ("NNNN", 0xdd),
    ("NENE", 0xde),
    ("ENEN", 0xdf),
    ("NNN", 0xf8),
    ("ENN", 0xf9),
    ("NEN", 0xfa),
    ("EEN", 0xfb),
    ("NNE", 0xfc),
    ("ENE", 0xfd),
    ("NEE", 0xfe),
    ("EEE", 0xff),
    ("NN", 0xd8),
    ("EN", 0xd9),
    ("NE", 0xda),
    ("EE", 0xdb),
    ("N", 0xf6),
    ("E", 0xf7),
];

/// The header of a packet that has the first of some atoms (`E` is taken), and how many it has.
pub fn header(atoms: &str) -> (u8, usize) {
    // Format 6: 3 to 23 that are taken, and one more of either kind.
    let taken = atoms.bytes().take_while(|atom| *atom == b'E').count().min(23).min(atoms.len() - 1);
    if taken >= 3 {
        let last = atoms.as_bytes()[taken];
        let kind = if last == b'E' { 0xc0 } else { 0xe0 };
        return (kind | (taken - 3) as u8, taken + 1);
    }
    let (letters, header) = HEADERS.iter().find(|(letters, _)| atoms.starts_with(letters)).expect("one atom at least");
    (*header, letters.len())
}
