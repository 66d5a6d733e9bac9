//! What hostile files and hostile clients cannot do: steer a terminal, see another file, write anywhere, be reached
//! from another machine; and that none of it needs a privilege.

mod files;
mod listening;
mod ordinary_user;
#[path = "../support/mod.rs"]
mod support;
mod terminals;

/// The path of a file of `tests/data` as text.
fn path(name: &str) -> String {
    support::data(name).to_str().unwrap().to_owned()
}
