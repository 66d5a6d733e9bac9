//! `qRcmd`: monitor commands.

use std::convert::Infallible;

use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd};

use crate::rsp::client::Client;
use crate::rsp::monitor;

impl MonitorCmd for Client {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut console: ConsoleOutput<'_>) -> Result<(), Infallible> {
        for line in monitor::answer(&String::from_utf8_lossy(command), &self.session).lines() {
            console.write_raw(line.as_bytes());
            console.write_raw(b"\n");
            console.flush();
        }
        Ok(())
    }
}
