//! A target description with other registers first: those of a register block that lacks some.

use roxmltree::{Document, Node, ParsingOptions};

/// The description with new numbers (`regnum`), which give the order in a register block (gdb's remote.c,
/// `map_regcache_remote_table`): first the registers that had these ones, then all others. `None` where it cannot be
/// read.
pub(super) fn beginning_with(xml: &str, first: &[usize]) -> Option<String> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(xml, options).ok()?;
    let features = document.root_element().children().filter(|node| node.has_tag_name("feature"));
    let registers: Vec<Node<'_, '_>> =
        features.flat_map(|feature| feature.children().filter(|node| node.has_tag_name("reg"))).collect();
    let mut next = 0;
    let mut behind = first.len();
    let mut text = String::new();
    let mut copied = 0;
    for register in registers {
        let old = match register.attribute_node("regnum") {
            Some(number) => number.value().trim().parse().ok()?,
            None => next,
        };
        next = old + 1;
        let new = first.iter().position(|number| *number == old).unwrap_or_else(|| {
            behind += 1;
            behind - 1
        });
        let start = register.range().start + "<reg".len();
        text += xml.get(copied..start).filter(|copied| copied.ends_with("<reg"))?;
        text += &format!(" regnum=\"{new}\"");
        copied = start;
        if let Some(number) = register.attribute_node("regnum") {
            text += xml.get(copied..number.range().start)?.trim_end();
            copied = number.range().end;
        }
    }
    text += xml.get(copied..)?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_get_the_numbers_of_their_places() {
        let xml = "<target><feature name=\"a\"><reg name=\"x\" bitsize=\"8\"/><reg bitsize='8' name=\"y\"/></feature>\
                   <feature name=\"b\"><reg regnum=\"9\" name=\"z\" bitsize=\"8\"/><reg name=\"pc\" bitsize=\"8\"/></feature></target>";
        let expected = "<target><feature name=\"a\"><reg regnum=\"2\" name=\"x\" bitsize=\"8\"/><reg regnum=\"3\" bitsize='8' name=\"y\"/></feature>\
                        <feature name=\"b\"><reg regnum=\"1\" name=\"z\" bitsize=\"8\"/><reg regnum=\"0\" name=\"pc\" bitsize=\"8\"/></feature></target>";
        assert_eq!(beginning_with(xml, &[10, 9]).as_deref(), Some(expected));
        assert_eq!(beginning_with("<target", &[]), None);
    }
}
