//! `g`. Memory and single registers are served in front of gdbstub.

use std::convert::Infallible;

use gdbstub::common::Tid;
use gdbstub::target::TargetError;
use gdbstub::target::TargetResult;
use gdbstub::target::ext::base::multithread::{MultiThreadBase, MultiThreadResumeOps};
use gdbstub::target::ext::thread_extra_info::ThreadExtraInfoOps;

use super::arch::AnyRegisters;
use super::threads::{number, tid};
use crate::rsp::client::Client;

impl MultiThreadBase for Client {
    fn read_registers(&mut self, registers: &mut AnyRegisters, tid: Tid) -> TargetResult<(), Self> {
        registers.0 = self.session.registers(number(tid));
        Ok(())
    }

    fn write_registers(&mut self, _registers: &AnyRegisters, _tid: Tid) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn read_addrs(&mut self, _address: u64, _data: &mut [u8], _tid: Tid) -> TargetResult<usize, Self> {
        Err(TargetError::NonFatal)
    }

    fn write_addrs(&mut self, _address: u64, _data: &[u8], _tid: Tid) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn list_active_threads(&mut self, thread_is_active: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        // The first one is the one that stopped last.
        let last = self.session.thread();
        let others = self.session.threads().iter().map(|thread| thread.id).filter(|thread| *thread != last);
        std::iter::once(last).chain(others).map(tid).for_each(thread_is_active);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}
