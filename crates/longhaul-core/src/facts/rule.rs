//! What the user laid down: rules, their revocation, and work called off (Y4, ruling 14).
//!
//! Only sentences of the user's own messages get here; what an assistant proposed never does.

use serde::{Deserialize, Serialize};

use super::phrase_matcher::PhraseMatcher;
use super::sentence::sentences;

/// A sentence longer than this is a pasted text, and kept as part of its message only.
const LONGEST: usize = 1_000;
/// The most sentences that are taken from one message: a pasted manual is not five hundred rules.
const MOST_A_MESSAGE: usize = 40;
/// The most that are kept in all.
const MOST: usize = 500;

/// What a sentence of the user is. The order is that of weight, where a sentence could be several.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// Something to be kept to.
    #[default]
    Rule,
    /// Work that the user called off.
    Cancellation,
    /// Takes an earlier rule back.
    Revocation,
}

/// A sentence that the user laid down, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserRule {
    /// What it is.
    #[serde(default)]
    pub kind: RuleKind,
    /// The sentence.
    pub text: String,
    /// The message it is from, counted from 1.
    pub ordinal: u32,
    /// The uuid of that message's entry.
    #[serde(default)]
    pub uuid: String,
}

/// Adds the rules that a message states, behind those known.
pub(super) fn note(
    rules: &mut Vec<UserRule>,
    wording: &PhraseMatcher,
    text: &str,
    ordinal: u32,
    uuid: &str,
) -> u32 {
    let stated = sentences(text)
        .into_iter()
        .filter(|sentence| sentence.len() <= LONGEST)
        .filter_map(|sentence| Some((wording.classify(sentence)?, sentence)))
        .take(MOST_A_MESSAGE);
    for (kind, sentence) in stated {
        // Said again, it counts from where it was said last: a revocation in between is overruled.
        rules.retain(|known| known.text != sentence);
        rules.push(UserRule {
            kind,
            text: sentence.to_owned(),
            ordinal,
            uuid: uuid.to_owned(),
        });
    }
    let over = rules.len().saturating_sub(MOST);
    rules.drain(..over);
    over as u32
}
