//! Cache markers of a request to the Messages API: the client's own, or ours in their place (B2, B4, B5).
//!
//! Under [`Marks::Keep`] a client's markers stay where it put them. Those in messages that were replaced are gone; if no
//! message that is sent has one, what stands for the others gets one at its end. A request that was valid stays so: no more
//! markers than before break no rule ([`check`] says which there are).
//!
//! Under [`Marks::Manage`] all of them are taken out and ours are put: one behind the system prompt, one where the client
//! itself divided its head, one on the last message that the user or a tool spoke, and the bridge. Nothing else changes:
//! what is sent are slices of the client's bytes with small pieces cut out or put in. A text that is marked becomes a list
//! of one block, and is sent as the client sends it when the marker has moved on: both forms are the same to the
//! provider's cache, and clients that move markers themselves do the same.
//!
//! `scan` says what may bear a marker and `found` which there are, `splice` puts slices together, `head` is about system and
//! tools, `scanned` about messages; `trail` is what a line remembers from one request to the next so that known messages are
//! not looked at again; `manage` does it, `check` tells what the API would refuse. No HTTP here.

mod cache_control;
mod changes;
mod check;
mod history;
mod manage;
mod prefix;
mod request;
mod scan;
mod scanned;
mod splice;

use std::str::FromStr;

pub use changes::BreakpointChanges;
pub use check::{BreakpointError, check};
pub use history::BreakpointHistory;
pub use manage::{RequestWithBreakpoints, keep, manage};
pub use request::{BreakpointRequest, ReplacedMessages};

/// Whose cache markers are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BreakpointMode {
    /// The client's, as they are.
    #[default]
    Keep,
    /// Ours, in the place of the client's.
    Manage,
}

impl BreakpointMode {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Manage => "manage",
        }
    }
}

/// Neither `keep` nor `manage`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("say `keep` for the client's own cache markers, or `manage` for the gateway's")]
pub struct InvalidBreakpointMode;

impl FromStr for BreakpointMode {
    type Err = InvalidBreakpointMode;

    fn from_str(text: &str) -> Result<Self, InvalidBreakpointMode> {
        [Self::Keep, Self::Manage]
            .into_iter()
            .find(|marks| marks.name() == text)
            .ok_or(InvalidBreakpointMode)
    }
}
