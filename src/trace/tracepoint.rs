//! Tracepoints and trace state variables, as they were when the recording was made.

/// The kind of a tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracepointKind {
    /// A trap at the address.
    Trap,
    /// A jump at the address (`ftrace`); the size in bytes of the instruction it replaced.
    Fast(u64),
    /// A marker in the program (`strace`).
    Static,
}

/// A tracepoint's condition as an agent expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The bytecode, in hexadecimal.
    pub bytecode: String,
}

/// What the user typed to define a tracepoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceStrings {
    /// Where (`case.c:19`).
    pub at: Option<String>,
    /// When (`i > 5`).
    pub condition: Option<String>,
    /// What to collect, a line each.
    pub commands: Vec<String>,
}

/// One location of a tracepoint. A tracepoint with several locations comes several times, with one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracepoint {
    /// The number, as the recording machine counted.
    pub number: i32,
    /// Address of the instruction.
    pub address: u64,
    /// Whether it was enabled.
    pub enabled: bool,
    /// Its kind.
    pub kind: TracepointKind,
    /// How many steps were recorded after each hit (`while-stepping`); 0 for none.
    pub step_count: u64,
    /// After how many hits the recording ended; 0 for never.
    pub pass_count: u64,
    /// The condition.
    pub condition: Option<Condition>,
    /// What was collected at a hit, in the remote protocol's spelling (`R03`, `M-1,4040c0,4`, `X…`).
    pub actions: Vec<String>,
    /// What was collected at each step after it, likewise.
    pub step_actions: Vec<String>,
    /// What the user typed.
    pub source: SourceStrings,
    /// How often it was hit, as the file's hexadecimal digits spell it.
    pub hits: Option<u64>,
    /// How many bytes of the trace buffer it used, likewise.
    pub usage: Option<u64>,
    /// The definition in the remote protocol's words, as it was recorded: `T…`, `A…`, `S…`, `Z…`, `V…`.
    pub pieces: Vec<String>,
}

impl Tracepoint {
    /// An enabled tracepoint of the usual kind, of which nothing else is known.
    pub fn new(number: i32, address: u64) -> Tracepoint {
        Tracepoint {
            number,
            address,
            enabled: true,
            kind: TracepointKind::Trap,
            step_count: 0,
            pass_count: 0,
            condition: None,
            actions: Vec::new(),
            step_actions: Vec::new(),
            source: SourceStrings::default(),
            hits: None,
            usage: None,
            pieces: Vec::new(),
        }
    }
}

/// A trace state variable's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStateVariable {
    /// Its number.
    pub number: i32,
    /// Its name, without the `$`.
    pub name: String,
    /// Its value when the recording began.
    pub initial: i64,
    /// Whether the target made it by itself (`$trace_timestamp`).
    pub builtin: bool,
    /// The definition in the remote protocol's words, as it was recorded.
    pub piece: String,
}
