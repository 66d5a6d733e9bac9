//! GDB trace files (TRACE0).
