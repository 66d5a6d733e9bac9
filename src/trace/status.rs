//! How the recording began and ended.

/// Why the recording ended (gdb manual, "Tracepoint Packets", `qTStatus`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The file does not say.
    Unknown,
    /// It never ran (`tnotrun`).
    NotRun,
    /// A `tstop` command, with its note (`tstop`).
    Command(String),
    /// The trace buffer was full (`tfull`).
    BufferFull,
    /// gdb went away (`tdisconnected`).
    Disconnected,
    /// The tracepoint of this number, as the target counted, reached its pass count (`tpasscount`).
    PassCount(i64),
    /// A collection failed at the tracepoint of this number, as the target counted, with this message (`terror`).
    Error(String, i64),
    /// A reason with no meaning known here, as the file spells it.
    Other(String),
}

/// The run of the recording machine, as the file tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStatus {
    /// Whether the file says anything at all about the run.
    pub known: bool,
    /// Whether the machine was still recording when the file was saved.
    pub running: bool,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Frames in the trace buffer when it was saved (`tframes`).
    pub frames: Option<u64>,
    /// Frames made in all; more than `frames` where a circular buffer dropped some (`tcreated`).
    pub created: Option<u64>,
    /// Free bytes of the trace buffer (`tfree`).
    pub free: Option<u64>,
    /// Size of the trace buffer in bytes (`tsize`).
    pub size: Option<u64>,
    /// Whether the buffer was circular (`circular`).
    pub circular: Option<bool>,
    /// Whether the recording went on while no gdb was connected (`disconn`).
    pub disconnected: Option<bool>,
    /// Start, in microseconds of the recording machine's clock (`starttime`).
    pub start: Option<u64>,
    /// End, likewise (`stoptime`).
    pub stop: Option<u64>,
    /// Who recorded (`username`).
    pub user: Option<String>,
    /// The notes of the recording (`notes`).
    pub notes: Option<String>,
    /// All fields as `name` and `value`, in the order and the spelling of the file, the reason for the end included.
    pub fields: Vec<(String, String)>,
}

impl Default for RunStatus {
    fn default() -> RunStatus {
        RunStatus {
            known: false,
            running: false,
            stop_reason: StopReason::Unknown,
            frames: None,
            created: None,
            free: None,
            size: None,
            circular: None,
            disconnected: None,
            start: None,
            stop: None,
            user: None,
            notes: None,
            fields: Vec::new(),
        }
    }
}
