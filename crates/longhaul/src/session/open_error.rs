//! Why a session cannot be opened.

use longhaul_core::facts::PhraseListError;
use longhaul_core::prompt::ParameterError;
use longhaul_core::window::WindowError;
use longhaul_store::{ReadError, SessionInUse};

use crate::storage::StorageError;

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The builder lacks something that a session needs.
    #[error("a session needs {0}")]
    Missing(&'static str),
    /// The builder was given two things that exclude each other.
    #[error("{0}")]
    Contradiction(&'static str),
    /// Another process has the session open. Two processes would each continue from what they know: open a copy
    /// ([`fork`](longhaul_store::fork())), or try again when that process has ended.
    #[error(transparent)]
    InUse(#[from] SessionInUse),
    /// The transcript cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The storage cannot be opened or read.
    #[error(transparent)]
    Keep(#[from] StorageError),
    /// The window is too small.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The configured words for rules and for calling work off cannot be used.
    #[error("rules.words and called_off.words: {0}")]
    Words(#[from] PhraseListError),
    /// The request cannot be built with these parameters.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
}
