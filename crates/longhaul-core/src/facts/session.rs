//! Which entries of a file the session's facts are of: the main conversation from its beginning, across all
//! boundaries, without abandoned branches (rulings 8 and 14).

use crate::transcript::{ResolvedConversation, TranscriptTable};

/// The rows of the whole session in file order: what is live, and what each boundary on the way here replaced.
///
/// In a table of a file's tail the session begins with the tail; the boundary there brings the rest.
pub fn session_rows(table: &TranscriptTable, conversation: &ResolvedConversation) -> Vec<u32> {
    let view = conversation.view();
    let mut rows = view.rows.clone();
    let mut boundary = view.boundary;
    let mut before = u32::MAX;
    // In a damaged file a boundary may lead forward again; each step must go back.
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
