//! In which state instructions are executed.

use std::fmt;

/// In which state instructions are executed, as far as the source tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The exception level or the privilege mode, as the architecture calls it: `EL1`, `supervisor`.
    pub level: &'static str,
    /// The security state, where it is another than Arm's non-secure one: `secure`, `root`, `realm`.
    pub security: Option<&'static str>,
    /// The context ID, which an operating system gives to a process, if it is traced.
    pub context: Option<u64>,
    /// The ID of the virtual machine (VMID), if it is traced.
    pub machine: Option<u32>,
}

impl fmt::Display for State {
    /// Words, as `EL0 secure, context 0x1f4, VMID 0x2`.
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str(self.level)?;
        if let Some(security) = self.security {
            write!(form, " {security}")?;
        }
        if let Some(context) = self.context {
            write!(form, ", context {context:#x}")?;
        }
        if let Some(machine) = self.machine {
            write!(form, ", VMID {machine:#x}")?;
        }
        Ok(())
    }
}
