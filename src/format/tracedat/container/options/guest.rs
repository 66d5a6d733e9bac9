//! The option GUEST (13).

use super::Wrong;
use super::buffer::string;
use crate::source::Cursor;

/// A guest that was traced in the same session as its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// Its name.
    pub name: String,
    /// The number of its tracing session: see [`super::Value::TraceId`].
    pub trace_id: u64,
    /// Its CPUs.
    pub cpus: Vec<GuestCpu>,
}

/// A CPU of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestCpu {
    /// The number of the CPU in the guest.
    pub id: u32,
    /// The task of the host that runs it.
    pub pid: u32,
}

impl Guest {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Guest, Wrong> {
        let name = string(cursor)?;
        let trace_id = cursor.u64()?;
        let mut cpus = Vec::new();
        for _ in 0..cursor.u32()? {
            cpus.push(GuestCpu { id: cursor.u32()?, pid: cursor.u32()? });
        }
        Ok(Guest { name, trace_id, cpus })
    }
}
