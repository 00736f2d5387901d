//! Abandoned branches of a conversation. Two programs that append to one file each continue from the state they know;
//! the newest entry decides which branch is the conversation, and the messages of the other one are in no view and no
//! summary.

use crate::hash::Map;
use crate::transcript::{ResolvedConversation, TranscriptTable};

use super::session_rows;

/// The branches that start at the session's entries and are not part of it, each as rows in file order. Entries before
/// a second beginning in the file belong to another conversation, not to a branch (ruling 20).
pub fn left_branches(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
) -> Vec<Vec<u32>> {
    let kept = session_rows(table, conversation);
    let is_kept = |row: u32| kept.binary_search(&row).is_ok();
    // The row that a row's branch begins with. None if no ancestor belongs to the session.
    let mut begins: Map<u32, Option<u32>> = Map::default();
    let mut branches: Vec<(u32, Vec<u32>)> = Vec::new();
    let rows = table.rows();
    for (row, about) in (0..).zip(rows) {
        if about.uuid.is_none() || !conversation.is_main(row) || is_kept(row) {
            continue;
        }
        let mut walked = vec![row];
        let mut at = row;
        let first = loop {
            if let Some(known) = begins.get(&at) {
                break *known;
            }
            match conversation.before(table, at) {
                Some(parent) if is_kept(parent) => break Some(at),
                // A damaged file may contain a cycle.
                Some(parent) if walked.len() <= rows.len() => at = parent,
                _ => break None,
            }
            walked.push(at);
        };
        begins.extend(walked.into_iter().map(|row| (row, first)));
        let Some(first) = first else {
            continue;
        };
        match branches.iter_mut().find(|(begin, _)| *begin == first) {
            Some((_, rows)) => rows.push(row),
            None => branches.push((first, vec![row])),
        }
    }
    branches.into_iter().map(|(_, rows)| rows).collect()
}
