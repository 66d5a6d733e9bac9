//! Types for a program image.

use super::*;
use crate::image::made::{Compound, Encoding, Keyword, Member, Place, Qualifier, Type, TypeId, Types};

fn member(name: &'static str, offset: u64, member_type: TypeId) -> Member<'static> {
    Member { name: name.into(), place: Place::Byte(offset), member_type }
}

#[test]
fn what_is_contained_is_there_and_what_is_pointed_to_is_named() {
    let mut made = Made::new(ByteOrder::Little);
    let int = made.integer("int", 4, true);
    let this = made.plain(2, "", 3);
    assert_eq!(made.structure("node", 16, &[("next", this, 0), ("value", int, 8)]), 3);
    let anonymous = made.structure("", 4, &[("counter", int, 0)]);
    let counter = made.plain(8, "atomic_t", anonymous);
    let to_counter = made.plain(2, "", counter);
    let name = made.string(b"A");
    let named = made.add(6, "e", (false, 1), 4, &[name, 7]);
    let to_enum = made.plain(2, "", named);
    let function = made.add(13, "", (false, 2), 0, &[0, 3, 0, 0]);
    let call = made.plain(2, "", function);
    let constant = made.plain(10, "", this);
    let members =
        [("node", 3, 0), ("counter", to_counter, 16), ("e", named, 24), ("to", to_enum, 32), ("call", call, 40)];
    let root = made.structure("root", 56, &[&members[..], &[("constant", constant, 48)]].concat());
    let bytes = made.bytes(0);
    let (btf, _) = Btf::read(&bytes);
    let mut types = Types::new(8);
    let found = Translation::new(&btf).structure(&mut types, root).unwrap();
    let found = types.add(Type::Compound(found));

    // Each is there already, or the last would have another number.
    let int = types.add(Type::Base { name: "int".into(), size: 4, encoding: Encoding::Signed });
    let named_node = types.add(Type::Declared(Keyword::Struct, "node".into()));
    let this = types.add(Type::Pointer(named_node));
    let members = vec![member("next", 0, this), member("value", 8, int)];
    let compound = |name: &'static str, size, members| {
        Type::Compound(Compound { is_union: false, name: name.into(), size, members })
    };
    let node = types.add(compound("node", 16, members));
    let anonymous = types.add(compound("", 4, vec![member("counter", 0, int)]));
    let counter = types.add(Type::Typedef("atomic_t".into(), anonymous));
    let to_counter = types.add(Type::Pointer(counter));
    let values = vec![("A".into(), 7)];
    let named = types.add(Type::Enumeration { name: "e".into(), size: 4, is_signed: false, values });
    let only_named = types.add(Type::Declared(Keyword::Enum, "e".into()));
    let to_enum = types.add(Type::Pointer(only_named));
    let void = types.add(Type::Void);
    let call = types.add(Type::Function { result: void, parameters: vec![named_node], is_variadic: true });
    let call = types.add(Type::Pointer(call));
    let constant = types.add(Type::Qualified(Qualifier::Const, this));
    let members = [
        ("node", 0, node),
        ("counter", 16, to_counter),
        ("e", 24, named),
        ("to", 32, to_enum),
        ("call", 40, call),
        ("constant", 48, constant),
    ];
    let members = members.map(|(name, offset, of)| member(name, offset, of)).to_vec();
    assert_eq!(types.add(compound("root", 56, members)), found);
}
