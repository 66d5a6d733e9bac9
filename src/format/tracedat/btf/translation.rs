//! Types for a program image, of those that a member names.
//!
//! What a structure contains is in the image in full; what a pointer points to, or a function takes, only by its name,
//! where it has one. Else half of the kernel would follow.

use std::collections::HashMap;

use super::fault::Fault;
use super::kind::{Kind, List, Member, Type};
use super::{Btf, DEEPEST};
use crate::image::made::{self, Compound, Encoding, Keyword, TypeId};

/// How many types, members and values are put into an image. For all events, those of a kernel have some ten thousand.
const MOST: u32 = 1 << 17;

/// The types of a [`Btf`] that are in an image.
pub struct Translation<'b, 'a> {
    btf: &'b Btf<'a>,
    /// By number, and by whether the name is enough.
    known: HashMap<(u32, bool), Result<TypeId, Fault>>,
    /// How many more types, members and values there may be.
    left: u32,
}

impl<'b, 'a> Translation<'b, 'a> {
    /// None are, yet.
    pub fn new(btf: &'b Btf<'a>) -> Translation<'b, 'a> {
        Translation { btf, known: HashMap::new(), left: MOST }
    }

    /// A structure, and in full all that it contains.
    pub fn structure(&mut self, types: &mut made::Types<'a>, number: u32) -> Result<Compound<'a>, Fault> {
        match self.btf.get(number)? {
            Type { at, name, kind: Kind::Compound { is_union, size, members } } => {
                let members = self.members(types, at, &members, 0)?;
                Ok(Compound { is_union, name: name.into(), size: size.into(), members })
            }
            Type { at, .. } => Err(Fault { at, what: format!("the type {number} is no structure") }),
        }
    }

    fn known(
        &mut self,
        types: &mut made::Types<'a>,
        number: u32,
        by_name: bool,
        depth: usize,
    ) -> Result<TypeId, Fault> {
        if let Some(known) = self.known.get(&(number, by_name)) {
            return known.clone();
        }
        let made = match depth {
            DEEPEST => Err(self.btf.too_deep(number)),
            _ => self.made(types, number, by_name, depth + 1),
        };
        self.known.insert((number, by_name), made.clone());
        made
    }

    fn made(&mut self, types: &mut made::Types<'a>, number: u32, by_name: bool, depth: usize) -> Result<TypeId, Fault> {
        let Type { at, name, kind } = self.btf.get(number)?;
        self.count(at, 1)?;
        let name = name.into();
        let made = match kind {
            Kind::Void => made::Type::Void,
            Kind::Integer { size, is_signed, is_boolean, .. } => {
                let encoding = match (is_boolean, is_signed) {
                    (true, _) => Encoding::Boolean,
                    (false, true) => Encoding::Signed,
                    (false, false) => Encoding::Unsigned,
                };
                made::Type::Base { name, size: size.into(), encoding }
            }
            Kind::Float(size) => made::Type::Base { name, size: size.into(), encoding: Encoding::Float },
            Kind::Pointer(to) => made::Type::Pointer(self.known(types, to, true, depth)?),
            Kind::Array(element, count) => made::Type::Array(self.known(types, element, by_name, depth)?, count.into()),
            Kind::Typedef(other) => made::Type::Typedef(name, self.known(types, other, by_name, depth)?),
            Kind::Qualified(qualifier, other) => {
                made::Type::Qualified(qualifier, self.known(types, other, by_name, depth)?)
            }
            Kind::Tagged(other) => return self.known(types, other, by_name, depth),
            Kind::Forward(keyword) => made::Type::Declared(keyword, name),
            Kind::Compound { is_union, .. } if by_name && !name.is_empty() => {
                made::Type::Declared(if is_union { Keyword::Union } else { Keyword::Struct }, name)
            }
            Kind::Compound { is_union, size, members } => {
                let members = self.members(types, at, &members, depth)?;
                made::Type::Compound(Compound { is_union, name, size: size.into(), members })
            }
            Kind::Enumeration { .. } if by_name && !name.is_empty() => made::Type::Declared(Keyword::Enum, name),
            Kind::Enumeration { size, is_signed, values } => {
                self.count(at, values.count)?;
                let values = values.values(self.btf)?.into_iter().map(|(name, bits)| (name.into(), bits)).collect();
                made::Type::Enumeration { name, size: size.into(), is_signed, values }
            }
            Kind::Function(result, parameters) => {
                self.count(at, parameters.count)?;
                let result = self.known(types, result, true, depth)?;
                let (parameters, is_variadic) = parameters.parameters()?;
                let parameters = parameters.into_iter().map(|taken| self.known(types, taken, true, depth));
                made::Type::Function { result, parameters: parameters.collect::<Result<_, _>>()?, is_variadic }
            }
            Kind::Other => {
                let what = format!("the number {number} is named as a type, and is none");
                return Err(Fault { at, what });
            }
        };
        Ok(types.add(made))
    }

    fn count(&mut self, at: u64, more: u32) -> Result<(), Fault> {
        let too_many = || Fault { at, what: format!("more than {MOST} types and members would be needed") };
        self.left = self.left.checked_sub(more).ok_or_else(too_many)?;
        Ok(())
    }

    fn members(
        &mut self,
        types: &mut made::Types<'a>,
        at: u64,
        members: &List<'a>,
        depth: usize,
    ) -> Result<Vec<made::Member<'a>>, Fault> {
        self.count(at, members.count)?;
        let members = members.members(self.btf)?;
        let member = |member: Member<'a>| {
            let place = self.btf.place(&member)?;
            let member_type = self.known(types, member.member_type, false, depth)?;
            Ok(made::Member { name: member.name.into(), place, member_type })
        };
        members.into_iter().map(member).collect()
    }
}
