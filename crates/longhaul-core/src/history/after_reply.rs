//! Decides what follows an answer: nothing, notes, or a smaller history for the next request.
//!
//! Nobody waits for what is begun here. `plan_request` decides before a request, when somebody does.

use super::state::HistoryState;
use crate::engine::SummaryTiming;
use crate::window::{SwitchVerdict, SwitchableAction, Switches, WindowStatus};

/// What the next step after an answer depends on, besides the history's state.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredRequest<'a> {
    /// The window and its thresholds; `None` if it is too small to be managed.
    pub window: Option<&'a WindowStatus>,
    /// The user's switches.
    pub switches: &'a Switches,
    /// When summaries are made.
    pub timing: SummaryTiming,
    /// Whether the history can still be read.
    pub messages: MessagesAtHand,
    /// The session's notes.
    pub notes: NotesAtHand,
    /// Whether it was decided before the request that a summary pays.
    pub price: SummaryPrice,
}

/// Whether the messages of a request that was sent can still be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessagesAtHand {
    /// They can be read.
    Kept,
    /// They were dropped, because it seemed that nothing would be made of them.
    Dropped,
}

/// The session's notes, as far as compaction can use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesAtHand {
    /// No notes are taken.
    Off,
    /// There are none, or they are out of date.
    None,
    /// They replace what they cover.
    Fresh,
}

/// Whether a summary pays (V3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryPrice {
    /// Its rent has reached its price.
    Pays,
    /// It has not, or nothing is decided by price.
    NotEarned,
}

/// What follows an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyFollowUp {
    /// The history is made smaller, because its window will be full soon.
    CompactAhead,
    /// The history is summarized, because that pays.
    SummarizeByPrice,
    /// Notes are taken, if they are due.
    TakeNotes,
    /// Nothing follows.
    Nothing,
}

/// The known facts about a request that was sent, and is not answered yet.
#[derive(Debug, Clone, Copy)]
pub struct UnansweredRequest<'a> {
    /// The window and its thresholds; `None` if it is too small to be managed.
    pub window: Option<&'a WindowStatus>,
    /// How many bytes were sent.
    pub bytes: u64,
    /// The session's notes.
    pub notes: NotesAtHand,
    /// Whether it was decided before the request that a summary pays.
    pub price: SummaryPrice,
}

impl HistoryState {
    /// Decides what follows an answer whose measurement this state has.
    pub fn after_reply(&self, answered: &AnsweredRequest<'_>) -> ReplyFollowUp {
        let may = |action| answered.switches.decide(action) == SwitchVerdict::Allowed;
        let is_at_hand = answered.messages == MessagesAtHand::Kept;
        let may_compact = answered.timing == SummaryTiming::Ahead
            && (may(SwitchableAction::Automatic) || may(SwitchableAction::Micro));
        let is_due = (answered.window).is_some_and(|window| match answered.notes {
            NotesAtHand::Fresh => self.is_due_with_notes(window),
            NotesAtHand::None | NotesAtHand::Off => self.is_due(window),
        });
        if is_at_hand && may_compact && is_due {
            return ReplyFollowUp::CompactAhead;
        }
        let pays = answered.price == SummaryPrice::Pays && may(SwitchableAction::Automatic);
        if is_at_hand && pays && !self.rests_after_failure(self.measured.used) {
            return ReplyFollowUp::SummarizeByPrice;
        }
        if answered.notes != NotesAtHand::Off && may(SwitchableAction::Notes) {
            return ReplyFollowUp::TakeNotes;
        }
        ReplyFollowUp::Nothing
    }

    /// Whether the messages of a request may be needed when it is answered. Compaction is due at seven tenths of the
    /// threshold at the earliest, and few texts have a token for each byte.
    pub fn may_need_messages(&self, sent: &UnansweredRequest<'_>) -> MessagesAtHand {
        let may_be_due = (sent.window).is_some_and(|window| {
            let half = window.auto_compact / 2;
            sent.bytes >= half || self.measured.used >= half
        });
        if may_be_due || sent.price == SummaryPrice::Pays || sent.notes != NotesAtHand::Off {
            MessagesAtHand::Kept
        } else {
            MessagesAtHand::Dropped
        }
    }
}
