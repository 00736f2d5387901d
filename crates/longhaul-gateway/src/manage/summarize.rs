//! Turns a whole conversation into a summary (F, X1, X9, R1, Y1). The engine compacts it; this module gives it a
//! conversation, and turns its result back into elements of `messages`.
//!
//! A summary comes from one of three sources: the answer to a request that was appended to the client's own bytes, a
//! plain request, extracts. The core's attempt says which one is used, and what comes next if it is of no use.

mod density;
mod drafter;
mod error;
mod fork;
mod view;
mod workspace;

use std::sync::Arc;

use longhaul::Model;
use longhaul_core::engine::SummaryReply;
use longhaul_core::message::Entry;
use longhaul_core::rounds::ViewPiece;
use longhaul_core::summary::{SummaryReplyText, read};

pub use drafter::draft_summary;
pub(super) use drafter::given;
pub use error::DraftError;
pub use fork::fork_message;
pub(super) use fork::user_element;

/// Where the text of a summary comes from.
pub enum SummaryText {
    /// It is written.
    Written(String),
    /// This model is asked for it.
    Model(Arc<dyn Model>),
    /// It is made of extracts.
    Extracts,
}

/// Whether calls of the newest reply have no results.
fn ends_open(entries: &[Entry]) -> bool {
    let pieces: Vec<ViewPiece> = entries
        .iter()
        .map(|entry| ViewPiece::of_view(entry.view()))
        .collect();
    let newest = pieces.iter().rposition(|piece| piece.part.is_response());
    let newest = newest.and_then(|at| Some((pieces.get(at)?, pieces.get(at..)?)));
    newest.is_some_and(|(reply, behind)| {
        let answered = |call| behind.iter().any(|piece| piece.answers.contains(call));
        !reply.calls.iter().all(answered)
    })
}

/// The text of a reply, if it is a summary (F6).
pub fn written_summary(given: &SummaryReply) -> Option<String> {
    let reply = SummaryReplyText {
        text: &given.text,
        calls: given.calls,
        stop: given.stop,
    };
    match read(reply) {
        Ok(summary) => Some(summary.body().to_owned()),
        Err(failure) => {
            tracing::debug!(reason = failure.code(), "the answer is not a summary");
            None
        }
    }
}
