//! Thinking blocks on their way back (N2): who made them, whether they are whole, and whether what stood before them
//! still does.
//!
//! The world signs each thinking block it makes ([`Secret::sign`]) over the model, the account, the text and the exact
//! [`Prefix`]. [`check`] reads the signatures that come back. A signature holds all it vouches for: nothing is
//! remembered here, as little as there is on the real API. Which thinking *parameters* a model takes is in `validate/`.
//!
//! A prefix is `system`, the tools that are not deferred, and all earlier messages but their thinking. Each block also
//! names the thinking block before it, so thinking may be left out from the start, from the end or altogether, but not
//! from the middle, and what was left out cannot come back.

mod check;
mod outcome;
mod prefix;
mod progress;
mod reads;
mod signature;
mod summary;

pub use check::{check, check_on};
pub use outcome::{
    AccountAge, CheckedThinking, InputTransformation, ThinkingChange, ThinkingMismatch, without,
};
pub use prefix::ThinkingPrefix;
pub use progress::{ThinkingCheckProgress, ThinkingCheckStage};
pub use signature::SigningSecret;
