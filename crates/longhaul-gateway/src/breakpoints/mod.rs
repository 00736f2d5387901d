//! Cache breakpoints of a request to the Messages API: the client's own, or the gateway's instead (B2, B4, B5).
//!
//! Under [`BreakpointMode::Keep`] a client's breakpoints stay where it put them. Those in replaced messages are gone;
//! if no message that is sent has one, the replacement gets one at its end. A valid request stays valid: with no more
//! breakpoints than before, no rule is broken ([`check`] lists the rules).
//!
//! Under [`BreakpointMode::Manage`] all of them are removed and the gateway sets its own: one after the system prompt,
//! one where the client itself divided its request prefix, one on the last message from the user or a tool, and the
//! bridge. Nothing else changes: what is sent are slices of the client's bytes with small pieces cut out or inserted. A
//! text with a breakpoint becomes a list of one block, and is sent in the client's form again when the breakpoint has
//! moved on: both forms are the same to the provider's cache, and clients that move breakpoints themselves do the same.
//!
//! `scan` finds the blocks that may have a breakpoint and `cache_control` those that do, `splice` puts slices together,
//! `prefix` handles system and tools, `scanned` handles messages; `history` is what a branch remembers from one request
//! to the next so that known messages are not scanned again; `manage` does the work, `check` finds what the API would
//! reject. `client` only counts those of a client, for every request. There is no HTTP in this module.

mod cache_control;
mod changes;
mod check;
mod client;
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
pub use client::ClientBreakpoints;
pub use history::BreakpointHistory;
pub use manage::{RequestWithBreakpoints, keep, manage};
pub use request::{BreakpointRequest, ReplacedMessages};

/// Whose cache breakpoints are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BreakpointMode {
    /// The client's breakpoints, unchanged.
    #[default]
    Keep,
    /// The gateway's breakpoints, instead of the client's.
    Manage,
}

impl BreakpointMode {
    /// The name of the mode on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Manage => "manage",
        }
    }
}

/// The value is neither `keep` nor `manage`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("say `keep` for the client's own cache breakpoints, or `manage` for the gateway's")]
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
