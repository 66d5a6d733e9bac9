//! Where frames lie, and how they are found.
