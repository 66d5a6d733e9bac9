//! Sizes, and where members are.

use super::fault::Fault;
use super::kind::{Kind, List, Member};
use super::{Btf, DEEPEST};
use crate::image::made::Place;

/// A member that begins at a byte, and has a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// Offset in bytes from the start of the structure.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// The number of its type.
    pub field_type: u32,
}

impl<'a> Btf<'a> {
    /// The size of a type in bytes, on a machine with addresses of this size; `None` for one that has none.
    pub fn size(&self, number: u32, address_size: usize) -> Result<Option<u64>, Fault> {
        let (mut number, mut times) = (number, 1u64);
        for _ in 0..DEEPEST {
            let size = match self.get(number)?.kind {
                Kind::Integer { size, .. }
                | Kind::Float(size)
                | Kind::Compound { size, .. }
                | Kind::Enumeration { size, .. } => Some(u64::from(size)),
                Kind::Pointer(_) => Some(address_size as u64),
                Kind::Array(element, count) => {
                    let Some(product) = times.checked_mul(u64::from(count)) else { return Ok(None) };
                    (number, times) = (element, product);
                    continue;
                }
                Kind::Typedef(other) | Kind::Qualified(_, other) | Kind::Tagged(other) => {
                    number = other;
                    continue;
                }
                Kind::Void | Kind::Forward(_) | Kind::Function(..) | Kind::Other => None,
            };
            return Ok(size.and_then(|size| size.checked_mul(times)));
        }
        Err(self.too_deep(number))
    }

    /// Where a member is.
    pub fn place(&self, member: &Member<'_>) -> Result<Place, Fault> {
        let offset = u64::from(member.offset);
        if member.width != 0 {
            return Ok(Place::Bits { offset, width: u64::from(member.width) });
        }
        match self.resolved(member.member_type)? {
            Kind::Integer { size, bits: (first, width), .. } if (first, width) != (0, size.saturating_mul(8)) => {
                Ok(Place::Bits { offset: offset + u64::from(first), width: u64::from(width) })
            }
            _ if offset.is_multiple_of(8) => Ok(Place::Byte(offset / 8)),
            _ => Err(Fault { at: member.at, what: format!("the member {:?} begins inside a byte", member.name) }),
        }
    }

    /// The members of a structure that a record can have as fields; `None` where there are others.
    pub fn fields(&self, members: &List<'a>, address_size: usize) -> Result<Option<Vec<Field<'a>>>, Fault> {
        let field = |member: Member<'a>| {
            let Member { name, member_type: field_type, .. } = member;
            Ok(match (self.place(&member)?, self.size(field_type, address_size)?) {
                (Place::Byte(offset), Some(size)) => Some(Field { name, offset, size, field_type }),
                _ => None,
            })
        };
        members.members(self)?.into_iter().map(field).collect()
    }

    /// What a type is without its other names and qualifiers.
    pub fn resolved(&self, number: u32) -> Result<Kind<'a>, Fault> {
        let mut number = number;
        for _ in 0..DEEPEST {
            match self.get(number)?.kind {
                Kind::Typedef(other) | Kind::Qualified(_, other) | Kind::Tagged(other) => number = other,
                kind => return Ok(kind),
            }
        }
        Err(self.too_deep(number))
    }

    /// Too many types lead from one to the next.
    pub(super) fn too_deep(&self, number: u32) -> Fault {
        let at = self.get(number).map_or(0, |found| found.at);
        Fault { at, what: format!("more than {DEEPEST} types lead to the type {number}, or they lead back to it") }
    }
}
