//! Thinking blocks that come back with a request (N2): who made them, whether they are intact, and whether the content
//! before them is unchanged.
//!
//! The world signs each thinking block it makes ([`SigningSecret::sign`]) over the model, the account, the text and the
//! exact [`ThinkingPrefix`]. [`check`] reads the signatures that come back. A signature contains everything it vouches
//! for: nothing is stored here, as on the real API. `validate/` decides which thinking *parameters* a model accepts.
//!
//! A prefix is `system`, the tools that are not deferred, and all earlier messages without their thinking. Each block
//! also names the thinking block before it, so thinking may be left out from the start, from the end or altogether, but
//! not from the middle, and omitted thinking cannot come back.

mod check;
mod outcome;
mod prefix;
mod prefix_walk;
mod progress;
mod reads;
mod signature;
mod summary;

pub use check::check;
pub(crate) use check::check_on;
pub use outcome::{
    AccountAge, CheckedThinking, InputTransformation, ThinkingChange, ThinkingMismatch, without,
};
pub use prefix::ThinkingPrefix;
pub(crate) use progress::ThinkingCheckProgress;
pub use signature::SigningSecret;
