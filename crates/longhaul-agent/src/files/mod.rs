//! What the model was shown of files, and what changed since (W1, W2); where its paths lead, and how files are opened and
//! replaced so that a path cannot lead elsewhere meanwhile.
//!
//! Who may touch what is decided in `permission`; the tools that read and write are in `tools`.

mod fence;
mod open;
mod print;
mod replace;
mod resolve;
mod state;
mod unfit;

pub use fence::{Fence, Purpose, Verdict};
pub use open::Opened;
pub(crate) use open::WHOLE;
pub use print::Print;
pub use replace::{Made, replace};
pub use resolve::resolve;
pub use state::{FileState, Kept, Shown};
pub use unfit::Unfit;
