//! The model that answers when there is no key: it works on the user's own folder with the real tools.
//!
//! [`start`] runs the simulator in this process and gives what a client needs. Who answers there is the simulator's own model,
//! in the manner that does as it is told ([`model`]): rules, no intelligence, and it says so. [`tour`] shows a newcomer around. Nothing leaves the machine and nothing is billed; costs
//! that are shown are what such a session would cost, so whoever shows them says that they are simulated
//! ([`is_simulated`]).

mod start;
pub mod tour;

pub use start::{OfflineOptions, OfflineServer, WritingSpeed, model, start};

/// The offline model's id. The table of models has it.
pub const MODEL: &str = "longhaul-offline";

/// Whether a model of this id is simulated: its figures are no bill.
pub(crate) fn is_simulated(model: &str) -> bool {
    model == MODEL
}
