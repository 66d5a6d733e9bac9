//! The formats of a recording's events, by their number.

use super::format_text::EventFormat;
use super::page_layout::LongSize;
use super::value::Integer;
use super::word;
use crate::source::ByteOrder;
use crate::trace::{Damage, DamageList};

/// How many fields all events together have at most. A kernel with all its events has some fifty thousand.
const MOST_FIELDS: usize = 1 << 20;

/// All formats of a recording.
#[derive(Clone, Debug)]
pub struct Formats {
    order: ByteOrder,
    long: LongSize,
    formats: Vec<EventFormat>,
    /// How many fields they have.
    fields: usize,
    /// For each number up to the largest in use, 1 more than the place in `formats`, and 0 for none.
    by_id: Vec<u32>,
    /// Where in every record its number lies: 2 bytes at this offset.
    id_at: usize,
}

impl Formats {
    /// No formats yet, of a recording of this byte order and kernel `long`.
    pub fn new(order: ByteOrder, long: LongSize) -> Formats {
        Formats { order, long, formats: Vec::new(), fields: 0, by_id: Vec::new(), id_at: 0 }
    }

    /// Adds the format of an event of `system`, whose text lies at offset `at` of the file.
    ///
    /// Damage: a text that is none of a format, fields that are not understood or too many, a number that another format
    /// has too (the first of them counts).
    pub fn add(&mut self, system: &str, text: &[u8], at: u64, damage: &mut DamageList) {
        let mut damaged = |what| damage.push(Damage { at, frame: None, what });
        let mut format = match EventFormat::read(system, text, self.long) {
            Ok(format) => format,
            Err(error) => return damaged(error.to_string()),
        };
        std::mem::take(&mut format.not_understood).into_iter().for_each(&mut damaged);
        if let Some(other) = self.get(format.id) {
            return damaged(format!(
                "the formats of {}:{} and of {}:{} both have the number {}; the second is not used",
                other.system, other.name, format.system, format.name, format.id
            ));
        }
        self.fields = self.fields.saturating_add(format.fields.len());
        if self.fields > MOST_FIELDS {
            let most = format!("all events together have more than {MOST_FIELDS} fields");
            return damaged(format!("{}:{}: {most}; its events are shown without fields", format.system, format.name));
        }
        let place = usize::from(format.id);
        if self.by_id.len() <= place {
            self.by_id.resize(place + 1, 0);
        }
        // One kernel wrote all formats: the number is where the first says it is.
        if self.formats.is_empty() {
            self.id_at = format.field("common_type").map_or(0, |field| field.offset);
        }
        self.formats.push(format);
        self.by_id[place] = self.formats.len() as u32;
    }

    /// The format with this number.
    #[inline]
    pub fn get(&self, id: u16) -> Option<&EventFormat> {
        let place = *self.by_id.get(usize::from(id))?;
        self.formats.get(usize::try_from(place.checked_sub(1)?).ok()?)
    }

    /// All formats, in the order in which they were added.
    pub fn all(&self) -> &[EventFormat] {
        &self.formats
    }

    /// The number of the event in a record; `None` if the record is too short for one.
    #[inline]
    pub fn id(&self, record: &[u8]) -> Option<u16> {
        word::unsigned(record, self.id_at, 2, self.order).map(|id| id as u16)
    }

    /// The format of the event in a record.
    #[inline]
    pub fn of(&self, record: &[u8]) -> Option<&EventFormat> {
        self.get(self.id(record)?)
    }

    /// The id of the process that was running when this record was made, of an event of this format.
    #[inline]
    pub fn pid(&self, format: &EventFormat, record: &[u8]) -> Option<i32> {
        match format.pid_field()?.integer(record, self.order)? {
            Integer::Signed(pid) => i32::try_from(pid).ok(),
            Integer::Unsigned(pid) => i32::try_from(pid).ok(),
        }
    }

    /// The byte order of records.
    pub fn order(&self) -> ByteOrder {
        self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, id: u32) -> Vec<u8> {
        format!(
            "name: {name}\nID: {id}\nformat:\n\tfield:unsigned short common_type;\toffset:2;\tsize:2;\tsigned:0;\n\
             \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:u8;\toffset:8;\tsize:1;\tsigned:0;\n"
        )
        .into_bytes()
    }

    #[test]
    fn a_number_has_one_format_and_what_is_lost_is_named() {
        let mut formats = Formats::new(ByteOrder::Big, LongSize::Eight);
        let mut damage = DamageList::default();
        for (name, id, at) in [("a", 7, 10), ("b", 65535, 20), ("c", 7, 30), ("d", 65536, 40)] {
            formats.add("sys", &text(name, id), at, &mut damage);
        }
        let names: Vec<_> = formats.all().iter().map(|format| format.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let said: Vec<_> = damage.kept().iter().map(|damage| (damage.at, damage.what.as_str())).collect();
        assert!(said[0].0 == 10 && said[0].1.contains("sys:a: the field \"u8\""), "{said:?}");
        assert!(said[1].0 == 20, "{said:?}");
        assert!(said[2].0 == 30 && said[2].1.contains("sys:c: the field"), "{said:?}");
        assert_eq!(said[3], (30, "the formats of sys:a and of sys:c both have the number 7; the second is not used"));
        assert!(said[4].0 == 40 && said[4].1.contains("\"65536\""), "{said:?}");
        assert_eq!(said.len(), 5);
        // The number lies where the formats say.
        let record = [0, 0, 0, 7, 0xff, 0xff, 0xff, 0xfe];
        let format = formats.of(&record).unwrap();
        assert_eq!((format.name.as_str(), formats.pid(format, &record)), ("a", Some(-2)));
        assert_eq!(formats.pid(format, &record[..7]), None);
        assert_eq!(formats.get(8), None);
        assert_eq!(formats.of(&[0, 0, 0]), None);
    }
}
