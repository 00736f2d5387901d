//! Rounds: one response of the model with the results that answer it (L).
//!
//! [`Piece`] is what grouping needs to know of an entry; `seams` finds where a conversation may be cut; [`Rounds`]
//! groups it; [`Shortening`] drops the oldest rounds when a request to summarise is itself too long. Rounds as they are
//! billed are another matter: those are in `inspect/`.

mod group;
mod piece;
mod seams;
mod shorten;

pub use group::Rounds;
pub use piece::{PieceKind, ViewPiece};
pub(crate) use seams::Seams;
pub use shorten::{
    MARKER, MOST_RETRIES, RequestLead, RequestShortening, ShortenedRequest, ShorteningExhausted,
    drop_oldest,
};
