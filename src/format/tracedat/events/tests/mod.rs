//! The events of recordings that trace-cmd made, against what others read in them.

mod answers;
mod file;
mod made;
mod pages;
mod properties;
