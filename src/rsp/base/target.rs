//! What of gdbstub is used.

use std::convert::Infallible;

use gdbstub::target::Target;
use gdbstub::target::ext::auxv::AuxvOps;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::breakpoints::BreakpointsOps;
use gdbstub::target::ext::exec_file::ExecFileOps;
use gdbstub::target::ext::host_io::HostIoOps;
use gdbstub::target::ext::libraries::{LibrariesOps, LibrariesSvr4Ops};
use gdbstub::target::ext::section_offsets::SectionOffsetsOps;
use gdbstub::target::ext::target_description_xml_override::TargetDescriptionXmlOverrideOps;

use super::arch::AnyMachine;
use crate::rsp::client::Client;

impl Target for Client {
    type Arch = AnyMachine;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, AnyMachine, Infallible> {
        BaseOps::MultiThread(self)
    }

    /// Replies stay readable in a log, and over loopback shorter ones would not be faster.
    fn use_rle(&self) -> bool {
        false
    }

    /// gdbstub warns of breakpoints that clients write into memory; here nothing is written and breakpoints are kept.
    fn guard_rail_implicit_sw_breakpoints(&self) -> bool {
        true
    }

    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        // Where none is known gdb takes the program's architecture.
        self.session.replay().recording().target().description.is_some().then_some(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_auxv(&mut self) -> Option<AuxvOps<'_, Self>> {
        Some(self)
    }

    fn support_exec_file(&mut self) -> Option<ExecFileOps<'_, Self>> {
        self.session.replay().image().is_some().then_some(self)
    }

    fn support_host_io(&mut self) -> Option<HostIoOps<'_, Self>> {
        self.session.replay().image().is_some().then_some(self)
    }

    fn support_libraries_svr4(&mut self) -> Option<LibrariesSvr4Ops<'_, Self>> {
        self.has_libraries().then_some(self)
    }

    fn support_libraries(&mut self) -> Option<LibrariesOps<'_, Self>> {
        self.has_libraries().then_some(self)
    }

    fn support_section_offsets(&mut self) -> Option<SectionOffsetsOps<'_, Self>> {
        self.load_bias().is_some().then_some(self)
    }
}

/// Copies the part of `object` that a client asked for into gdbstub's buffer; how many bytes that were.
pub fn copy_part(object: &[u8], offset: u64, length: usize, buffer: &mut [u8]) -> usize {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(object.len());
    let rest = &object[start..];
    let count = rest.len().min(length).min(buffer.len());
    buffer[..count].copy_from_slice(&rest[..count]);
    count
}
