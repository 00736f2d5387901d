//! Conversations that a file holds before the current one (ruling 20): an entry without a parent begins another
//! conversation, and nothing before it is in the view or among the facts.

use super::report::EarlierConversation;
use crate::message::EntryKind;
use crate::transcript::{ResolvedConversation, TranscriptTable};

/// The earlier conversations of a file, in order.
pub(super) fn earlier(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
) -> Vec<EarlierConversation> {
    let roots = conversation.roots(table);
    let first = conversation.view().rows.first();
    let Some(live) = first.and_then(|row| roots[*row as usize]) else {
        return Vec::new();
    };
    let mut found: Vec<(u32, EarlierConversation)> = Vec::new();
    for (row, root) in table.rows().iter().zip(&roots) {
        let Some(root) = root.filter(|root| *root < live) else {
            continue;
        };
        let known = found.iter().position(|(known, _)| *known == root);
        let at = known.unwrap_or_else(|| {
            let conversation = EarlierConversation {
                line: table.rows()[root as usize].line,
                ..EarlierConversation::default()
            };
            found.push((root, conversation));
            found.len() - 1
        });
        let conversation = &mut found[at].1;
        conversation.entries += 1;
        conversation.through = row.line;
        conversation.messages +=
            u64::from(matches!(row.kind, EntryKind::User | EntryKind::Assistant));
    }
    let found = found.into_iter().map(|(_, conversation)| conversation);
    // A line that a hook left on its own is not a conversation.
    found.filter(|found| found.messages > 0).collect()
}
