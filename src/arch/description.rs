//! A target description as XML: gdb manual, appendix "Target Descriptions"; gdb's xml-tdesc.c.

use std::borrow::Cow;
use std::ops::Range;

use roxmltree::{Document, Node, ParsingOptions};

use super::layout::{Layout, Register};
use super::roles::{self, Candidate};

/// The longest description in bytes; those of gdb's own servers have up to about 100 kB.
pub const MAXIMUM_DESCRIPTION_LENGTH: usize = 2 << 20;
/// How deep includes may nest (gdb's xml-support.c, `MAX_XINCLUDE_DEPTH`).
const MAXIMUM_INCLUDE_DEPTH: usize = 30;
/// The widest register in bits, the largest matrix register of AArch64 (256 × 256 bytes).
const MAXIMUM_REGISTER_BITS: usize = 256 * 256 * 8;

const XINCLUDE: &str = "http://www.w3.org/2001/XInclude";

/// Why a target description cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// Longer than [`MAXIMUM_DESCRIPTION_LENGTH`], alone or with what it includes.
    #[error("it has {0} bytes, at most {MAXIMUM_DESCRIPTION_LENGTH} are read")]
    TooLong(usize),
    /// XML that is made to cost its reader time or memory.
    #[error("it has {0}, which no target description needs (take them out)")]
    Hostile(&'static str),
    /// Not well-formed.
    #[error("it is not well-formed XML: {0}")]
    NotXml(String),
    /// The root is another element.
    #[error(
        "its root element is <{0}>, expected <target> (gdb writes a whole description with `maint print xml-tdesc`)"
    )]
    NotATarget(String),
    /// An include that is not resolved.
    #[error("it includes {0:?}, which is not at hand (gdb writes a whole description with `maint print xml-tdesc`)")]
    Include(String),
    /// Includes include each other, or nest too deep.
    #[error("its includes nest more than {MAXIMUM_INCLUDE_DEPTH} deep at {0:?} (does a file include itself?)")]
    IncludeDepth(String),
    /// A register without a name.
    #[error("its register element number {0} has no name")]
    NoName(usize),
    /// A number that is none.
    #[error("its register {register} has {attribute}={value:?}, expected {expected}")]
    Number {
        /// The register's name.
        register: String,
        /// `bitsize` or `regnum`.
        attribute: &'static str,
        /// What stands there.
        value: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// Two registers with one number.
    #[error("its registers {first} and {second} both have number {number}, expected one register a number")]
    SameNumber {
        /// The number.
        number: usize,
        /// One register.
        first: String,
        /// The other.
        second: String,
    },
    /// The sum of all sizes is absurd.
    #[error("its registers take {0} bytes, more than {maximum} (check bitsize)", maximum = Layout::MAXIMUM_SIZE)]
    TooManyBytes(usize),
    /// Only an architecture, or not even that.
    #[error("it has no registers (gdb writes a whole description with `maint print xml-tdesc`)")]
    NoRegisters,
    /// No register has a name or a type that tells that it is the program counter.
    #[error("it does not tell which register is the program counter (name it pc, or give it the type code_ptr)")]
    NoProgramCounter,
}

/// What this program needs of a target description.
///
/// Elements that gdb's grammar does not have are ignored with all that is in them, as gdb does it.
#[derive(Clone, Debug)]
pub(super) struct Description {
    /// gdb's name of the architecture, where it is told.
    pub(super) architecture: Option<String>,
    registers: Vec<Declaration>,
}

/// A `<reg>` as it stands there.
#[derive(Clone, Debug)]
struct Declaration {
    /// Which `<reg>` of the document it is, from 1.
    ordinal: usize,
    name: Option<String>,
    bits: Option<String>,
    number: Option<String>,
    kind: Option<String>,
}

impl Description {
    /// Reads XML.
    pub(super) fn parse(xml: &str) -> Result<Description, DescriptionError> {
        let xml = checked(xml)?;
        let document = parsed(&xml)?;
        let target = document.root_element();
        if let Some(include) = document.descendants().find(is_include) {
            return Err(DescriptionError::Include(quoted(href(include))));
        }
        if target.tag_name().name() != "target" {
            return Err(DescriptionError::NotATarget(quoted(target.tag_name().name())));
        }
        let architecture = elements(target, "architecture")
            .find_map(|element| element.text())
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        let registers = elements(target, "feature")
            .flat_map(|feature| elements(feature, "reg"))
            .zip(1..)
            .map(|(register, ordinal)| {
                let attribute = |name| register.attribute(name).map(str::to_owned);
                Declaration {
                    ordinal,
                    name: attribute("name"),
                    bits: attribute("bitsize"),
                    number: attribute("regnum"),
                    kind: attribute("type"),
                }
            })
            .collect();
        Ok(Description { architecture, registers })
    }

    /// Whether there is any register.
    pub(super) fn has_registers(&self) -> bool {
        !self.registers.is_empty()
    }

    /// The layout of the `g` reply. The architecture decides which registers are the program counter and the stack
    /// pointer.
    ///
    /// A register without a number has that of the one before it plus one, the first has 0
    /// (xml-tdesc.c, `tdesc_start_reg`).
    pub(super) fn layout(&self, architecture: &str) -> Result<Layout, DescriptionError> {
        if !self.has_registers() {
            return Err(DescriptionError::NoRegisters);
        }
        let mut registers = Vec::with_capacity(self.registers.len());
        let mut next = 0;
        for declaration in &self.registers {
            let register = declaration.register(next)?;
            next = register.number + 1;
            registers.push(register);
        }
        let candidates: Vec<_> = registers
            .iter()
            .zip(&self.registers)
            .map(|(register, declaration)| Candidate {
                name: &register.name,
                number: register.number,
                kind: declaration.kind.as_deref().unwrap_or("int"),
            })
            .collect();
        let pc = roles::program_counter(&candidates);
        let sp = roles::stack_pointer(architecture, &candidates);
        Layout::new(registers, pc, sp)
    }
}

impl Declaration {
    fn register(&self, next: usize) -> Result<Register, DescriptionError> {
        let name = self.name.clone().ok_or(DescriptionError::NoName(self.ordinal))?;
        let wrong = |attribute, value: &str, expected| DescriptionError::Number {
            register: quoted(&name),
            attribute,
            value: quoted(value),
            expected,
        };
        let bits = self.bits.as_deref().unwrap_or("");
        let size = number(bits)
            .filter(|bits| (1..=MAXIMUM_REGISTER_BITS).contains(bits) && bits.is_multiple_of(8))
            .ok_or_else(|| wrong("bitsize", bits, "a multiple of 8 from 8 to 524288"))?
            / 8;
        let number = match self.number.as_deref() {
            None => next,
            // gdb keeps register numbers in an int.
            Some(text) => number(text)
                .filter(|number| *number < i32::MAX as usize)
                .ok_or_else(|| wrong("regnum", text, "a number below 2147483647"))?,
        };
        Ok(Register { name, number, offset: 0, size })
    }
}

/// Where a description says, or could say, which operating system it is for. Byte offsets.
pub(super) struct Places {
    /// The element, and what it names.
    pub(super) operating_system: Option<(Range<usize>, String)>,
    /// Behind the architecture, or, where there is none, behind the root's start tag: the element's place. None in an
    /// empty root element.
    pub(super) behind_architecture: Option<usize>,
}

/// Finds these places in a description without includes.
pub(super) fn places(xml: &str) -> Result<Places, DescriptionError> {
    let text = checked(xml)?;
    // What stands before the first element is blank, or this would not be the whole text.
    let skipped = xml.len() - xml.trim_start().len();
    let document = parsed(&text)?;
    if let Some(include) = document.descendants().find(is_include) {
        return Err(DescriptionError::Include(quoted(href(include))));
    }
    let target = document.root_element();
    let moved = |range: Range<usize>| range.start.saturating_add(skipped)..range.end.saturating_add(skipped);
    let named = elements(target, "osabi").next();
    let behind = elements(target, "architecture").next().map(|element| element.range().end);
    let first_child = || target.first_child().map(|child| child.range().start);
    Ok(Places {
        operating_system: named.map(|element| (moved(element.range()), element.text().unwrap_or("").trim().to_owned())),
        behind_architecture: behind.or_else(first_child).map(|at| at.saturating_add(skipped)),
    })
}

/// What of a name or a value a message shows: not much, however long it is.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number as gdb reads it in attributes: decimal, `0x` hexadecimal, `0` octal (xml-support.c,
/// `xml_parse_unsigned_integer`).
fn number(text: &str) -> Option<usize> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    // A sign is no digit, though from_str_radix takes one.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| usize::from_str_radix(digits, radix).ok())?
}

/// Puts the files that a description includes (`<xi:include href="…"/>`) in their places.
///
/// `load` gives the text of an included file by its `href`, or `None` where it cannot be had.
/// The result is one document for [`super::Known::given`]; a description without includes comes back unchanged.
/// The depth of includes and the sum of all lengths are bounded.
pub fn with_includes(xml: &str, load: &mut dyn FnMut(&str) -> Option<String>) -> Result<String, DescriptionError> {
    let mut left = MAXIMUM_DESCRIPTION_LENGTH;
    expanded(xml, load, 0, &mut left, |_| 0..usize::MAX)
}

/// The part of a document that `part` chooses, with its includes in their places.
fn expanded(
    xml: &str,
    load: &mut dyn FnMut(&str) -> Option<String>,
    depth: usize,
    left: &mut usize,
    part: fn(Node<'_, '_>) -> Range<usize>,
) -> Result<String, DescriptionError> {
    *left =
        left.checked_sub(xml.len()).ok_or(DescriptionError::TooLong(MAXIMUM_DESCRIPTION_LENGTH.saturating_add(1)))?;
    let xml = checked(xml)?;
    let document = parsed(&xml)?;
    let part = part(document.root_element());
    let end = part.end.min(xml.len());
    let mut result = String::new();
    let mut at = part.start;
    for include in document.descendants().filter(is_include) {
        let range = include.range();
        // An include inside another one goes with it.
        if range.start < at {
            continue;
        }
        let href = href(include);
        if depth == MAXIMUM_INCLUDE_DEPTH {
            return Err(DescriptionError::IncludeDepth(quoted(href)));
        }
        let included = load(href).ok_or_else(|| DescriptionError::Include(quoted(href)))?;
        result.push_str(xml.get(at..range.start).unwrap_or(""));
        result.push_str(&expanded(&included, load, depth + 1, left, |root| root.range())?);
        at = range.end;
    }
    result.push_str(xml.get(at..end).unwrap_or(""));
    Ok(result)
}

fn elements<'a, 'input>(
    parent: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> + use<'a, 'input> {
    parent.children().filter(move |node| node.is_element() && node.tag_name().name() == name)
}

fn is_include(node: &Node<'_, '_>) -> bool {
    node.tag_name().namespace() == Some(XINCLUDE) && node.tag_name().name() == "include"
}

fn href<'a>(include: Node<'a, '_>) -> &'a str {
    include.attribute("href").unwrap_or("")
}

fn parsed(xml: &str) -> Result<Document<'_>, DescriptionError> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(xml, options).map_err(|error| {
        DescriptionError::NotXml(match error.to_string() {
            // It quotes names and references as they are.
            long if long.len() > 200 => format!("{} at {}", quoted(&long), error.pos()),
            short => short,
        })
    })
}

/// XML that costs its parser no more than its length, with the prefix `xi` declared.
///
/// gdb's files do not declare the prefix: gdb's own DTD does it for them.
fn checked(xml: &str) -> Result<Cow<'_, str>, DescriptionError> {
    /// The parser makes room for as many elements as there are `<`, and for as many attributes as there are `=`, a
    /// hundred bytes for each. Descriptions of gdb's own servers have some thousands.
    const MAXIMUM_PIECES: usize = 100_000;
    /// The parser compares each attribute of an element with those before it.
    const MAXIMUM_ATTRIBUTES: usize = 1000;
    /// The parser copies the namespaces of an element to those inside that declare one.
    const MAXIMUM_NAMESPACES: usize = 100;
    let xml = xml.trim_start();
    if xml.len() > MAXIMUM_DESCRIPTION_LENGTH {
        return Err(DescriptionError::TooLong(xml.len()));
    }
    if xml.contains("<!ENTITY") {
        return Err(DescriptionError::Hostile("declarations of entities"));
    }
    if [b'<', b'='].iter().any(|piece| memchr::memchr_iter(*piece, xml.as_bytes()).count() > MAXIMUM_PIECES) {
        return Err(DescriptionError::Hostile("more than 100000 elements or attributes"));
    }
    if xml.split('<').any(|piece| piece.bytes().filter(|byte| *byte == b'=').count() > MAXIMUM_ATTRIBUTES) {
        return Err(DescriptionError::Hostile("an element with more than 1000 attributes"));
    }
    if xml.matches("xmlns").count() > MAXIMUM_NAMESPACES {
        return Err(DescriptionError::Hostile("more than 100 namespaces"));
    }
    if !xml.contains("<xi:include") || xml.contains("xmlns:xi") {
        return Ok(Cow::Borrowed(xml));
    }
    Ok(Cow::Owned(xml.replace("<xi:include", &format!("<xi:include xmlns:xi=\"{XINCLUDE}\""))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(body: &str) -> Result<Layout, DescriptionError> {
        let xml = format!("<target><feature name=\"f\">{body}</feature></target>");
        Description::parse(&xml)?.layout("")
    }

    #[test]
    fn numbers_go_on_from_the_register_before() {
        let layout = layout(
            r#"<reg name="pc" bitsize="64" regnum="0x40"/><reg name="cr" bitsize="32"/><vector id="v" type="int8" count="4"/>
               <reg name="a" bitsize="16" regnum="1"/><reg name="sp" bitsize="0x20"/><reg name="o" bitsize="8" regnum="010"/>"#,
        )
        .unwrap();
        let order: Vec<_> = layout.registers().iter().map(|r| (r.name.as_str(), r.number, r.offset, r.size)).collect();
        assert_eq!(order, [("a", 1, 0, 2), ("sp", 2, 2, 4), ("o", 8, 6, 1), ("pc", 64, 7, 8), ("cr", 65, 15, 4)]);
        assert_eq!((layout.size(), layout.pc().number, layout.sp().map(|sp| sp.number)), (19, 64, Some(2)));
    }

    #[test]
    fn what_gdb_does_not_know_is_ignored_with_its_content() {
        let description = Description::parse(
            "\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\"><!-- c --><memory><reg name='x' bitsize='8'/>\
             </memory><reg name='y' bitsize='8'/><architecture>\n mips </architecture><feature name='f'><group>\
             <reg name='z' bitsize='8'/></group><reg name='pc' bitsize='32' hue='red'/></feature></target>",
        )
        .unwrap();
        assert_eq!(description.architecture.as_deref(), Some("mips"));
        let layout = description.layout("mips").unwrap();
        assert_eq!(layout.registers().iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["pc"]);
    }

    #[test]
    fn absurd_registers_are_named() {
        let error = |body: &str| layout(body).unwrap_err().to_string();
        for bits in ["0", "7", "-8", "", "99999999999999999999", "524296", "0xq", "+8"] {
            let message = error(&format!("<reg name=\"pc\" bitsize=\"{bits}\"/>"));
            assert!(message.starts_with(&format!("its register pc has bitsize={bits:?}, expected")), "{message}");
        }
        assert!(error("<reg name='pc' bitsize='8' regnum='2147483647'/>").contains("regnum=\"2147483647\""));
        assert!(
            error("<reg name='pc' bitsize='8' regnum='3'/>\n<reg name='q' bitsize='8' regnum='3'/>")
                .contains("pc and q")
        );
        assert!(error("<reg name='a' bitsize='8'/><reg bitsize='8'/>").contains("number 2 has no name"));
        assert!(error("").contains("no registers"));
        assert!(error("<reg name='a' bitsize='8'/>").contains("program counter"));
        let wide = "<reg name='pc' bitsize='524288'/>".repeat(17);
        assert!(error(&wide).contains("take 1114112 bytes"));
    }

    #[test]
    fn what_is_no_description_is_told() {
        let error = |xml: &str| Description::parse(xml).map(|_| ()).unwrap_err();
        assert!(matches!(error("<target>"), DescriptionError::NotXml(_)));
        assert!(matches!(error(""), DescriptionError::NotXml(_)));
        assert_eq!(error("<feature name='f'/>"), DescriptionError::NotATarget("feature".into()));
        let include = "<target><xi:include href='a.xml'/></target>";
        assert_eq!(error(include), DescriptionError::Include("a.xml".into()));
        let long = format!("<target>{}</target>", " ".repeat(MAXIMUM_DESCRIPTION_LENGTH));
        assert_eq!(error(&long), DescriptionError::TooLong(long.len()));
    }

    #[test]
    fn messages_are_short_however_long_the_names_are() {
        let long = "9".repeat(100_000);
        for xml in [
            format!("<t{long}/>"),
            format!("<target><feature><reg name='pc' bitsize='{long}'/></feature></target>"),
            format!("<target><feature><reg name='pc{long}' bitsize='x'/></feature></target>"),
            format!(
                "<target><feature>{0}{0}</feature></target>",
                format!("<reg name='{long}' regnum='1' bitsize='8'/>")
            ),
            format!("<target><xi:include href='{long}'/></target>"),
            format!("<target></t{long}>"),
            format!("<target>&t{long};</target>"),
        ] {
            let error = Description::parse(&xml).and_then(|description| description.layout("")).unwrap_err();
            assert!(error.to_string().len() < 300, "{} bytes", error.to_string().len());
        }
    }

    #[test]
    fn xml_that_costs_more_than_its_length_is_refused() {
        let bomb = "<!DOCTYPE target [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;'>]><target>&b;</target>";
        let attributes: String = (0..1001).map(|n| format!(" a{n}='>'")).collect();
        let nested: String = (0..101).map(|n| format!("<a xmlns:n{n}='u{n}'>")).collect();
        for xml in [bomb, &format!("<target{attributes}/>"), &nested] {
            assert!(matches!(Description::parse(xml), Err(DescriptionError::Hostile(_))), "{xml}");
        }
        for many in ["<a>", "<a/>", "<!---->", "<a b=''/>", "="] {
            let many = format!("<target>{}</target>", many.repeat(100_001));
            assert!(matches!(Description::parse(&many), Err(DescriptionError::Hostile(_))));
        }
        let deep = "<a>".repeat(99_999);
        assert!(matches!(Description::parse(&deep), Err(DescriptionError::NotXml(_))));
    }

    #[test]
    fn includes_are_put_in_their_places() {
        let mut files = |href: &str| {
            Some(match href {
                "core.xml" => "<?xml version='1.0'?>\n<!DOCTYPE feature SYSTEM 'gdb-target.dtd'>\n<!-- a -->\n\
                               <feature name='core'><xi:include href='regs.xml'/><reg name='sp' bitsize='8'/></feature>"
                    .to_owned(),
                "regs.xml" => "<reg name='pc' bitsize='16'/>".to_owned(),
                _ => return None,
            })
        };
        let top = "<?xml version='1.0'?><target><xi:include href=\"core.xml\"/><feature name='b'/></target>";
        let whole = with_includes(top, &mut files).unwrap();
        assert_eq!(
            whole,
            "<?xml version='1.0'?><target><feature name='core'><reg name='pc' bitsize='16'/><reg name='sp' bitsize='8'/>\
             </feature><feature name='b'/></target>"
        );
        assert_eq!(Description::parse(&whole).unwrap().layout("").unwrap().size(), 3);
        assert_eq!(with_includes("<target/>", &mut files).unwrap(), "<target/>");
        let declared = format!("<target xmlns:inc='{XINCLUDE}'><inc:include href='gone.xml'/></target>");
        assert_eq!(with_includes(&declared, &mut files), Err(DescriptionError::Include("gone.xml".into())));
    }

    #[test]
    fn includes_end() {
        let looped = "<a><xi:include href='a'/></a>";
        let result = with_includes(looped, &mut |_| Some(looped.to_owned()));
        assert_eq!(result, Err(DescriptionError::IncludeDepth("a".into())));
        let many = "<a><xi:include href='a'/><xi:include href='a'/></a>";
        let long = format!("<a>{}</a>", " ".repeat(MAXIMUM_DESCRIPTION_LENGTH / 2));
        let result = with_includes(many, &mut |_| Some(long.clone()));
        assert!(matches!(result, Err(DescriptionError::TooLong(_))), "{result:?}");
    }
}
