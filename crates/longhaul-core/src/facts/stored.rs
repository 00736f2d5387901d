//! The facts on a boundary: `compactMetadata.ledger`, versioned; readers ignore fields they do not know.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::cancelled::CancelledAction;
use super::failure::LastError;
use super::file::{TouchedFile, TouchedFiles};
use super::gather::Facts;
use super::message::UserMessage;
use super::rule::UserRule;
use super::todo::TodoFact;
use super::user_cancellation::UserCancellation;
use super::vocabulary::Vocabulary;
use super::{BudgetItem, BudgetShare, ItemProtection, fit};
use crate::hash::Map;
use crate::message::{EntryView, Id};

/// Raised when a reader of an older version would misread what is written.
const VERSION: u32 = 1;
/// The most bytes of the user's messages that a boundary carries; beyond it the longest are cut.
const MOST: u64 = 4 << 20;

/// The stored form.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StoredFacts {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    through: Option<Timestamp>,
    messages: Vec<UserMessage>,
    rules: Vec<UserRule>,
    rules_dropped: u32,
    files: Vec<TouchedFile>,
    files_dropped: u32,
    todos: Vec<TodoFact>,
    cancelled: Vec<CancelledAction>,
    /// Older boundaries have none: then it is derived from the messages.
    called_off: Option<Vec<UserCancellation>>,
    plan_since: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<LastError>,
}

impl Facts {
    /// The value of a boundary's `compactMetadata.ledger`.
    ///
    /// # Errors
    /// Fails if the value cannot be written as JSON.
    pub fn to_ledger(&self) -> Result<Box<RawValue>, serde_json::Error> {
        let mut files: Vec<_> = self.files.newest().into_iter().cloned().collect();
        files.reverse();
        serde_json::value::to_raw_value(&StoredFacts {
            version: VERSION,
            through: self.through,
            messages: bounded(&self.messages),
            rules: self.rules.clone(),
            rules_dropped: self.rules_dropped,
            files,
            files_dropped: self.files.dropped,
            todos: self.todos.clone(),
            cancelled: self.cancelled.clone(),
            called_off: Some(self.called_off.clone()),
            plan_since: self.plan_since,
            last_error: self.last_error.clone(),
        })
    }

    /// Reads the facts of the whole session up to a boundary. Returns none if the boundary carries no readable facts;
    /// the session is then scanned.
    pub fn from_boundary(vocabulary: Arc<Vocabulary>, boundary: EntryView<'_>) -> Option<Self> {
        let ledger = boundary.object(boundary.facets.metadata).get("ledger")?;
        let stored: StoredFacts = serde_json::from_slice(ledger).ok()?;
        if stored.version == 0 {
            return None;
        }
        let tells_none = stored.called_off.is_none();
        let uuids = stored.messages.iter().map(|message| Id::of(&message.uuid));
        let mut facts = Self {
            seen: uuids.collect(),
            vocabulary,
            rules: stored.rules,
            rules_dropped: stored.rules_dropped,
            files: TouchedFiles::continued(stored.files, stored.files_dropped),
            todos: stored.todos,
            cancelled: stored.cancelled,
            called_off: stored.called_off.unwrap_or_default(),
            plan_since: stored.plan_since,
            last_error: stored.last_error,
            last_said: None,
            through: stored.through,
            included_through: stored.through,
            messages: stored.messages,
            open: Map::default(),
        };
        if tells_none {
            for at in 0..facts.messages.len() {
                let message = &facts.messages[at];
                let words = facts.vocabulary.host_texts.own_words(&message.text);
                let (words, ordinal) = (words.into_owned(), message.ordinal);
                facts.note_called_off(&words, ordinal);
            }
        }
        Some(facts)
    }
}

fn bounded(messages: &[UserMessage]) -> Vec<UserMessage> {
    let items: Vec<_> = messages
        .iter()
        .map(|message| BudgetItem {
            units: message.text.len() as u64,
            standing: match message.ordinal {
                1 => ItemProtection::Protected,
                _ => ItemProtection::Plain,
            },
        })
        .collect();
    let mut kept = messages.to_vec();
    for (message, share) in kept.iter_mut().zip(fit(&items, MOST, MOST / 2)) {
        match share {
            BudgetShare::Whole => {}
            BudgetShare::Shortened(most) => message.keep_at_most(most as usize),
            BudgetShare::Omitted => message.keep_at_most(0),
        }
    }
    kept
}
