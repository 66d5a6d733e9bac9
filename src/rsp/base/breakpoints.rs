//! `Z` and `z`: breakpoints and watchpoints, kept and not written into anything.

use gdbstub::target::TargetResult;
use gdbstub::target::ext::breakpoints::{
    Breakpoints, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint, SwBreakpointOps, WatchKind,
};

use crate::rsp::client::Client;
use crate::session::{Access, Watchpoint};

impl Breakpoints for Client {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

/// The kind says how a breakpoint would be written into memory.
impl SwBreakpoint for Client {
    fn add_sw_breakpoint(&mut self, address: u64, _kind: usize) -> TargetResult<bool, Self> {
        let address = self.addresses().kept(address);
        Ok(self.session.breakpoints.insert(address, Vec::new()))
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _kind: usize) -> TargetResult<bool, Self> {
        let address = self.addresses().kept(address);
        self.session.breakpoints.remove(address);
        Ok(true)
    }
}

/// The same: a recording has no end of hardware.
impl HwBreakpoint for Client {
    fn add_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(address, kind)
    }

    fn remove_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(address, kind)
    }
}

impl HwWatchpoint for Client {
    fn add_hw_watchpoint(&mut self, address: u64, length: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let watchpoint = self.watchpoint(address, length, kind);
        Ok(self.session.watch(watchpoint))
    }

    fn remove_hw_watchpoint(&mut self, address: u64, length: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let watchpoint = self.watchpoint(address, length, kind);
        self.session.unwatch(&watchpoint);
        Ok(true)
    }
}

impl Client {
    fn watchpoint(&self, address: u64, length: u64, kind: WatchKind) -> Watchpoint {
        Watchpoint {
            address: self.addresses().kept(address),
            length: usize::try_from(length).unwrap_or(usize::MAX),
            access: match kind {
                WatchKind::Write => Access::Write,
                WatchKind::Read => Access::Read,
                WatchKind::ReadWrite => Access::Any,
            },
        }
    }
}
