//! The packets that gdbstub lacks, or on which it would go wrong: one file each.
//!
//! A packet that no file here takes goes to gdbstub, which answers with an empty packet what it does not know.

mod breakpoint;
mod detach;
mod kill;
mod memory_read;
mod memory_read_binary;
mod memory_write;
mod monitor;
mod numbers;
pub mod q_btrace;
mod q_pass_signals;
pub mod q_supported;
mod q_symbol;
mod q_t_buffer;
mod q_t_frame;
mod q_t_marker;
mod q_t_min_ftpi_len;
mod q_t_p;
mod q_t_status;
mod q_t_tracepoints;
mod q_t_v;
mod q_t_variables;
mod q_xfer_statictrace;
mod q_xfer_traceframe_info;
mod recording_knobs;
mod recording_refused;
mod register_read;
mod register_write;
mod registers;
mod resume;
mod start_no_ack_mode;
mod thread;
mod thread_suffix;

use super::client::Client;
use super::reply::{self, Reply};

type Handler = fn(&[u8], &mut Client) -> Reply;

/// Packets that are answered from the frames, by what they begin with.
const FROM_FRAMES: &[(&str, Handler)] = &[
    ("g", registers::answer),
    ("p", register_read::answer),
    ("m", memory_read::answer),
    ("x", memory_read_binary::answer),
    ("QTFrame:", q_t_frame::answer),
    ("qTV:", q_t_v::answer),
    ("qTBuffer:", q_t_buffer::answer),
    ("qXfer:traceframe-info:read:", q_xfer_traceframe_info::answer),
    ("qXfer:statictrace:read:", q_xfer_statictrace::answer),
    ("qXfer:btrace:read:", q_btrace::read),
];

/// Other packets; the first that fits takes the rest of the packet.
const PACKETS: &[(&str, Handler)] = &[
    ("qSupported", q_supported::answer),
    ("QStartNoAckMode", start_no_ack_mode::answer),
    ("QThreadSuffixSupported", thread_suffix::answer),
    ("qSymbol:", q_symbol::answer),
    ("QPassSignals:", q_pass_signals::answer),
    ("Qbtrace:", q_btrace::switch),
    ("Qbtrace-conf:", q_btrace::configure),
    ("qXfer:btrace-conf:read:", q_btrace::configuration),
    ("qRcmd,", monitor::answer),
    ("G", register_write::answer),
    ("P", register_write::answer),
    ("M", memory_write::answer),
    ("X", memory_write::answer),
    ("Hg", thread::general),
    ("Hc", thread::run_control),
    ("Z", breakpoint::answer),
    ("z", breakpoint::answer),
    ("vCont?", resume::offer),
    ("vCont", resume::actions),
    ("c", resume::plain),
    ("C", resume::with_signal),
    ("s", resume::plain),
    ("S", resume::with_signal),
    ("bc", resume::plain),
    ("bs", resume::plain),
    ("D", detach::answer),
    ("k", kill::answer),
    ("vKill", kill::with_reply),
    ("qTStatus", q_t_status::answer),
    ("qTP:", q_t_p::answer),
    ("qTfP", q_t_tracepoints::first),
    ("qTsP", q_t_tracepoints::next),
    ("qTfV", q_t_variables::first),
    ("qTsV", q_t_variables::next),
    ("qTfSTM", q_t_marker::answer),
    ("qTsSTM", q_t_marker::answer),
    ("qTSTMat:", q_t_marker::answer),
    ("qTMinFTPILen", q_t_min_ftpi_len::answer),
    ("QTNotes:", recording_knobs::answer),
    ("QTDisconnected:", recording_knobs::answer),
    ("QTBuffer:", recording_knobs::answer),
    ("QTinit", recording_refused::answer),
    ("QTDPsrc:", recording_refused::answer),
    ("QTDP:", recording_refused::answer),
    ("QTDV:", recording_refused::answer),
    ("QTEnable:", recording_refused::answer),
    ("QTDisable:", recording_refused::answer),
    ("QTro:", recording_refused::answer),
    ("QTStart", recording_refused::answer),
    ("QTStop", recording_refused::answer),
    ("QTSave:", recording_refused::answer),
];

/// Answers a packet.
pub fn answer(data: &[u8], client: &mut Client) -> Reply {
    let find = |packets: &'static [(&str, Handler)]| {
        packets.iter().find_map(|(name, handler)| Some((data.strip_prefix(name.as_bytes())?, handler)))
    };
    if let Some((rest, handler)) = find(FROM_FRAMES) {
        let reply = handler(rest, client);
        return match client.session.replay().recording().change_seen() {
            // gdb 13.1 reads no words in an error about memory: `Invalid hex digit 46`.
            Some(_) if matches!(data.first(), Some(b'm' | b'x')) => reply::failed(),
            Some(change) => reply::error(format!("the recording {change}; start the server again")),
            None => reply,
        };
    }
    find(PACKETS).map_or(Reply::Base, |(rest, handler)| handler(rest, client))
}
