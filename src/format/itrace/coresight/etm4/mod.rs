//! ETMv4.
