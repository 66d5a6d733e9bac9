//! CoreSight.
