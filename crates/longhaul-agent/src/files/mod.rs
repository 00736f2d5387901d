//! What the model was shown of files, and what changed since (W1, W2); where its paths lead, and how files are opened
//! and replaced so that a path cannot lead elsewhere in the meantime; what they held before, for a rewind.
//!
//! `permission` decides which calls may use which paths; the tools that read and write are in `tools`.

mod amount;
mod checkpoints;
mod fence;
mod fingerprint;
mod open;
mod replace;
mod replace_outcome;
mod resolve;
mod state;
#[cfg(unix)]
mod unix;
mod unusable;
#[cfg(windows)]
mod windows;

pub(crate) use amount::amount;
pub use checkpoints::{ConflictPolicy, RestorableState};
pub(crate) use checkpoints::{FileCheckpoints, RestorableFile};
pub use fence::{FenceSide, FolderFence, PathPurpose};
pub use fingerprint::FileFingerprint;
pub use open::OpenedFile;
pub(crate) use open::WHOLE;
pub use replace::replace;
pub use replace_outcome::ReplaceOutcome;
pub use resolve::resolve;
pub use state::{FileState, KnowledgeStatus, ShownExtent};
pub use unusable::UnusableFile;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;
