//! What a type is called in C.

use super::fault::Fault;
use super::kind::Kind;
use super::{Btf, DEEPEST};
use crate::image::made::Keyword;

impl Btf<'_> {
    /// What a member of this type is declared as, without qualifiers and without the lengths of arrays; of a pointer to
    /// a function what that returns. Words and stars are in no order that C knows.
    pub fn called(&self, number: u32) -> Result<String, Fault> {
        let (mut number, mut stars) = (number, 0);
        for _ in 0..DEEPEST {
            let found = self.get(number)?;
            let (keyword, name) = match found.kind {
                Kind::Pointer(other) => {
                    stars += 1;
                    number = other;
                    continue;
                }
                Kind::Array(other, _) | Kind::Qualified(_, other) | Kind::Tagged(other) => {
                    number = other;
                    continue;
                }
                Kind::Function(result, ..) => {
                    stars = 0;
                    number = result;
                    continue;
                }
                Kind::Void => ("", "void"),
                Kind::Compound { is_union: false, .. } | Kind::Forward(Keyword::Struct) => ("struct", found.name),
                Kind::Compound { is_union: true, .. } | Kind::Forward(Keyword::Union) => ("union", found.name),
                Kind::Enumeration { .. } | Kind::Forward(Keyword::Enum) => ("enum", found.name),
                Kind::Integer { .. } | Kind::Float(_) | Kind::Typedef(_) | Kind::Other => ("", found.name),
            };
            return Ok(format!("{keyword} {name} {}", "*".repeat(stars)));
        }
        Err(self.too_deep(number))
    }
}
