//! Decides by price what leaves the window and when (V): every action has a price, everything that is sent again has a
//! cost, and an action is due when what it would have saved has reached what it takes.
//!
//! `action_price.rs` is what an action costs (V1), `rent.rs` what the entries of a view have cost since they could have
//! been removed (V2), `history_rent.rs` the same of a conversation that is followed message by message, `growth.rs` how
//! fast a view grows, `rule.rs` the comparison (V3), `removable.rs`, `subjects.rs` and `superseded.rs` what may go (V4), `record.rs` what a boundary says
//! about a decision (V6). All of it is figures: no text is visited, and a decision is one pass over the sizes of active
//! results. The module `replay` runs the same rule over recorded sessions (V7). Which bytes a clearing or a summary produces is decided in `micro/` and `summary/`.

pub mod action_price;
mod decision;
mod growth;
mod history_rent;
mod policy;
mod rates;
mod record;
mod removable;
mod rent;
mod rule;
mod sendings;
mod subjects;
mod superseded;

pub use decision::{EconomyAction, EconomyDecision};
pub use growth::ViewGrowth;
pub use history_rent::HistoryRent;
pub use policy::EconomyPolicy;
pub use rates::{PrefixWarmth, TokenRates};
pub use record::{EconomyOutcome, EconomyRecord, RecordedEconomyAction};
pub use removable::{CLEARED_RESULT, RESTORED_FILE, VERBATIM_TOKENS, freed_by_clearing};
pub(crate) use removable::{KEPT_COLD, KEPT_HOT, VERBATIM_PROMPTS};
pub use rent::{ConversationRent, RentedResult, StrippedThinking, ViewPart};
pub use rule::{
    ResultRemoval, RuleSituation, SummaryForecast, ThresholdDistance, decide, decide_before,
};
pub(crate) use sendings::{RequestCounts, SentTokens};
pub(crate) use subjects::subject;
pub(crate) use superseded::oldest_until;
pub use superseded::{ResultSubject, SubjectEffect, superseded};

#[cfg(test)]
mod tests;
