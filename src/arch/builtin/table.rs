//! What a table of an architecture is made of, and the XML that it gives.

use std::fmt::Write;

/// An architecture with all its register sets that this program knows.
pub(in crate::arch) struct Architecture {
    /// This program's name.
    pub name: &'static str,
    /// gdb's name, as the description gives it.
    pub gdb: &'static str,
    /// Other names; a final `*` stands for anything.
    pub aliases: &'static [&'static str],
    /// gdb's name of the operating system's binary interface, where the description must give it.
    pub osabi: Option<&'static str>,
    /// Size of an address in bytes.
    pub address_size: usize,
    /// The register sets. The first is the one that gdb takes where it has no description.
    pub variants: &'static [Variant],
}

/// One set of registers of an architecture.
pub(in crate::arch) struct Variant {
    /// What sets it apart, in words that go on from the architecture's name.
    pub what: &'static str,
    /// The features in the order of their registers in `g`.
    pub(super) features: &'static [&'static Feature],
}

/// A feature of a target description: gdb manual, "Standard Target Features".
pub(super) struct Feature {
    pub name: &'static str,
    pub types: &'static [Type],
    pub registers: &'static [Run],
}

/// A type that registers of a feature have.
///
/// Only what gdb 7 knows already: flags of one bit, and no half-precision or brain floating point.
pub(super) enum Type {
    /// Name, and the name of each bit.
    Flags(&'static str, &'static [(&'static str, u8)]),
    /// Name, type of an element, number of elements.
    Vector(&'static str, &'static str, usize),
    /// Name, and name and type of each view.
    Union(&'static str, &'static [(&'static str, &'static str)]),
}

/// Registers of one size and type with consecutive numbers.
#[derive(Clone, Copy)]
pub(super) struct Run {
    names: Names,
    bits: usize,
    kind: &'static str,
    number: Option<usize>,
    group: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Names {
    Each(&'static [&'static str]),
    Numbered { before: &'static str, first: usize, last: usize, after: &'static str },
}

/// Registers by name.
pub(super) const fn named(names: &'static [&'static str], bits: usize, kind: &'static str) -> Run {
    Run { names: Names::Each(names), bits, kind, number: None, group: None }
}

/// Registers with names that differ in a number: `before`, `first` to `last`.
pub(super) const fn numbered(before: &'static str, first: usize, last: usize, bits: usize, kind: &'static str) -> Run {
    Run { names: Names::Numbered { before, first, last, after: "" }, bits, kind, number: None, group: None }
}

impl Run {
    /// The number of the first register; without it, numbers go on from the register before.
    pub(super) const fn at(mut self, number: usize) -> Run {
        self.number = Some(number);
        self
    }

    /// The group that gdb shows the registers in.
    pub(super) const fn in_group(mut self, group: &'static str) -> Run {
        self.group = Some(group);
        self
    }

    /// What follows the number in a name.
    pub(super) const fn ending_in(mut self, ending: &'static str) -> Run {
        if let Names::Numbered { before, first, last, .. } = self.names {
            self.names = Names::Numbered { before, first, last, after: ending };
        }
        self
    }

    fn count(&self) -> usize {
        match self.names {
            Names::Each(names) => names.len(),
            Names::Numbered { first, last, .. } => last - first + 1,
        }
    }

    fn names(&self) -> Vec<String> {
        match self.names {
            Names::Each(names) => names.iter().map(|name| (*name).to_owned()).collect(),
            Names::Numbered { before, first, last, after } => {
                (first..=last).map(|number| format!("{before}{number}{after}")).collect()
            }
        }
    }
}

impl Variant {
    /// Size of the register block in bytes, which is that of the layout: all registers, one after the other.
    pub fn block_size(&self) -> usize {
        self.runs().map(|run| run.count() * run.bits / 8).sum()
    }

    /// The size in bytes of the register of this name; `None` where there is none.
    pub fn size_of(&self, register: &str) -> Option<usize> {
        self.runs().find(|run| run.names().iter().any(|name| name == register)).map(|run| run.bits / 8)
    }

    fn runs(&self) -> impl Iterator<Item = &'static Run> {
        self.features.iter().flat_map(|feature| feature.registers)
    }
}

impl Architecture {
    /// Whether this is what is meant by the name.
    pub fn is_called(&self, name: &str) -> bool {
        name == self.name
            || name == self.gdb
            || self.aliases.iter().any(|alias| match alias.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == *alias,
            })
    }

    /// The target description of one of the variants.
    pub fn xml(&self, variant: &Variant) -> String {
        let mut xml = String::from("<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target>\n");
        // Writing to a string cannot fail.
        let _ = self.write(variant, &mut xml);
        xml
    }

    fn write(&self, variant: &Variant, xml: &mut String) -> std::fmt::Result {
        writeln!(xml, "  <architecture>{}</architecture>", self.gdb)?;
        if let Some(osabi) = self.osabi {
            writeln!(xml, "  <osabi>{osabi}</osabi>")?;
        }
        for feature in variant.features {
            writeln!(xml, "  <feature name=\"{}\">", feature.name)?;
            for kind in feature.types {
                kind.write(xml)?;
            }
            for run in feature.registers {
                run.write(xml)?;
            }
            writeln!(xml, "  </feature>")?;
        }
        writeln!(xml, "</target>")
    }
}

impl Type {
    fn write(&self, xml: &mut String) -> std::fmt::Result {
        match self {
            Type::Flags(id, bits) => {
                writeln!(xml, "    <flags id=\"{id}\" size=\"4\">")?;
                for (name, bit) in *bits {
                    writeln!(xml, "      <field name=\"{name}\" start=\"{bit}\" end=\"{bit}\"/>")?;
                }
                writeln!(xml, "    </flags>")
            }
            Type::Vector(id, of, count) => {
                writeln!(xml, "    <vector id=\"{id}\" type=\"{of}\" count=\"{count}\"/>")
            }
            Type::Union(id, views) => {
                writeln!(xml, "    <union id=\"{id}\">")?;
                for (name, kind) in *views {
                    writeln!(xml, "      <field name=\"{name}\" type=\"{kind}\"/>")?;
                }
                writeln!(xml, "    </union>")
            }
        }
    }
}

impl Run {
    fn write(&self, xml: &mut String) -> std::fmt::Result {
        let mut number = self.number;
        for name in self.names() {
            write!(xml, "    <reg name=\"{name}\" bitsize=\"{}\" type=\"{}\"", self.bits, self.kind)?;
            if let Some(number) = number.take() {
                write!(xml, " regnum=\"{number}\"")?;
            }
            if let Some(group) = self.group {
                write!(xml, " group=\"{group}\"")?;
            }
            writeln!(xml, "/>")?;
        }
        Ok(())
    }
}
