//! Rounds: one response of the model with the results that answer its calls (L).
//!
//! [`ViewPiece`] holds the facts about an entry that grouping needs; `seams` finds where a conversation may be cut;
//! [`Rounds`] groups it; [`RequestShortening`] drops the oldest rounds when a request to summarize is itself too long.
//! Billing counts rounds differently, in `inspect/`.

mod group;
mod piece;
mod seams;
mod shorten;

pub use group::Rounds;
pub use piece::{PieceKind, ViewPiece, message_begins};
pub(crate) use seams::Seams;
pub use shorten::{
    MARKER, MOST_RETRIES, RequestLead, RequestShortening, ShortenedRequest, ShorteningExhausted,
    drop_oldest,
};
