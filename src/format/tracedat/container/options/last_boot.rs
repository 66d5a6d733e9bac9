//! The option LAST_BOOT_INFO (24).

use super::{Wrong, text};

/// Where the kernel and its modules lay when a persistent buffer was written, which may be in an earlier boot than that
/// of the file's kallsyms: the kernel's `last_boot_info` file of one tracing instance, behind the instance's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastBoot {
    /// The tracing instance.
    pub instance: String,
    /// The clock of the buffer, where the kernel says it ("trace_clock: NAME").
    pub clock: Option<String>,
    /// Whether the buffer is of the boot that was recorded ("# Current"): then no addresses are given.
    pub current: bool,
    /// The number of the line `[kernel]`: the address of `_text`, or on the first kernels with this file how far the
    /// kernel was moved.
    pub kernel: Option<u64>,
    /// The modules and their addresses.
    pub modules: Vec<(u64, String)>,
    /// Lines that have no meaning known here.
    pub unknown: Vec<String>,
}

impl LastBoot {
    pub(super) fn read(data: &[u8]) -> Result<LastBoot, Wrong> {
        let text = text::text(data);
        let (instance, content) = text.split_once(':').ok_or_else(|| {
            Wrong::Said(format!("{:?} has no colon behind the instance's name", text::shortened(&text)))
        })?;
        let mut boot = LastBoot {
            instance: instance.to_owned(),
            clock: None,
            current: false,
            kernel: None,
            modules: Vec::new(),
            unknown: Vec::new(),
        };
        for line in content.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(clock) = line.strip_prefix("trace_clock:") {
                boot.clock = Some(clock.trim().to_owned());
            } else if line == "# Current" {
                boot.current = true;
            } else {
                let found = line.split_once(char::is_whitespace);
                let found =
                    found.and_then(|(address, name)| Some((u64::from_str_radix(address, 16).ok()?, name.trim())));
                match found {
                    Some((address, "[kernel]")) => boot.kernel = Some(address),
                    Some((address, name)) => boot.modules.push((address, name.to_owned())),
                    None => boot.unknown.push(line.to_owned()),
                }
            }
        }
        Ok(boot)
    }
}
