//! Finds the entries of a file that belong to the session's facts: the main conversation from its beginning, across all
//! boundaries, without abandoned branches (rulings 8 and 14).

use crate::transcript::{ResolvedConversation, TranscriptTable};

/// The rows of the whole session in file order: the live ones, and those that each boundary on the way replaced.
///
/// In a table of a file's tail, the session begins with the tail; the boundary there carries the rest.
pub fn session_rows(table: &TranscriptTable, conversation: &ResolvedConversation) -> Vec<u32> {
    let view = conversation.view();
    let mut rows = view.rows.clone();
    let mut boundary = view.boundary;
    let mut before = u32::MAX;
    // In a damaged file a boundary may lead forward again, so each step must go back.
    while let Some(at) = boundary.filter(|at| *at < before) {
        before = at;
        let Some(note) = table.boundary(at) else {
            break;
        };
        let replaced = conversation.view_before(table, note);
        rows.extend_from_slice(&replaced.rows);
        boundary = replaced.boundary;
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}
