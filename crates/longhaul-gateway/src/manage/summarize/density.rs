//! How dense a conversation is for the engine, which counts characters.

use longhaul_core::tokens::{EntryStanding, Estimate, RoughEstimator, TokenLedger, likely};

use crate::body::BodyRole;
use crate::manage::CompactableConversation;
use crate::manage::element::{ElementParts, texts};
use crate::manage::entries::ConversationEntries;
use crate::manage::weight::ConversationTokenCount;

/// The token count that the engine is to assume for the messages: it counts four characters as a token and adds a
/// third. If the source of a summary, the user's words, is denser than that, everything counts as that much denser.
pub(super) fn count_by_density_of_words(
    conversation: &CompactableConversation,
    read: &ConversationEntries,
    scales: ConversationTokenCount,
) -> Option<u64> {
    let users = conversation.elements.iter().filter_map(|element| {
        let read = ElementParts::read(element)?;
        (read.role == BodyRole::User).then(|| texts(read.content()))
    });
    let summary = conversation.summary.iter();
    let summary = summary.filter_map(|element| Some(texts(ElementParts::read(element)?.content())));
    let (mut counted, mut estimated) = (0, Estimate::ZERO);
    for text in users.chain(summary) {
        counted += likely(text.as_bytes());
        estimated += RoughEstimator::text(&text);
    }
    let (dense, estimated) = (scales.tokens(counted), estimated.padded());
    let mut ledger = TokenLedger::new();
    for entry in &read.entries {
        ledger.entry(entry.view(), EntryStanding::Live);
    }
    let whole = u128::from(ledger.whole().padded());
    let scaled = (whole * u128::from(dense)).checked_div(u128::from(estimated))?;
    let scaled = u64::try_from(scaled).ok()?;
    (dense > estimated).then_some(scaled)
}
