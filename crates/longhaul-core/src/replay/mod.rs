//! What a recorded session would have cost under other policies, windows, models and cache lifetimes (V7).
//!
//! `reader.rs` reads a transcript line by line and `recording.rs` makes a [`SessionRecording`] of it: requests, and the
//! entries that each of them added, by size. `priced.rs` puts prices on one, `simulation.rs` sends it again under a
//! policy with the same rule that hosts use, `hindsight/` finds the best schedule that was possible, and `report.rs` is
//! what comes out. Reading files and showing figures is left to the hosts.

mod hindsight;
mod priced;
mod reader;
mod recorded_bill;
mod recording;
mod report;
mod session;
mod simulation;
mod sizes;
mod terms;

pub use hindsight::{HindsightKind, HindsightSchedule, best_in_hindsight};
pub use priced::PricedConversation;
pub use reader::SessionRecordingReader;
pub use recorded_bill::RecordedBill;
pub use report::{ReplayError, ReplayReport, ReplayedPolicy, ReplayedWindow, Unreplayable, replay};
pub use session::{
    ItemKind, RecordedConversation, RecordedItem, RecordedRequest, SessionFacts, SessionRecording,
    ViewChange,
};
pub use simulation::{
    ActionReason, PolicyRun, ReplayDriver, RunAction, RunActionKind, RunStep, ScriptedAction,
    simulate,
};
pub use terms::{ReplayTerms, ReplayWindow, ReplayedHost};
