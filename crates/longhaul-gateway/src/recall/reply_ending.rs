//! How the reply that the client sees ends, and how events are written.

use longhaul_provider::Reply;

/// How the client's stream ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamEnding<'r> {
    /// The reply that ends it.
    pub(crate) reply: &'r Reply,
    /// What the model wrote in all replies, in tokens.
    pub(crate) output: u64,
    /// Whether the last reply ended only for a call that the client does not see.
    pub(crate) stop: StopChange,
}

/// What the client is told about why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopChange {
    /// What the model said.
    AsTold,
    /// That it has finished its turn.
    TurnEnded,
}

/// Writes an event as the APIs do; `message` is what an event without a name is called.
pub(super) fn write_event(name: &[u8], data: &[u8], out: &mut Vec<u8>) {
    if name != b"message" {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name);
        out.push(b'\n');
    }
    // Data of several lines is one field per line.
    for line in data.split(|byte| *byte == b'\n') {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.push(b'\n');
}
