//! The OpenAI dialect (N5): chat completions translated to the Messages shape and back.
//!
//! This is translation only, on values: no network, no clock, and no rules except those of the dialect itself. The
//! world validates, caches and bills the translated request in the same way for both dialects. The same bytes always
//! translate to the same bytes, so a prefix stays a prefix.

mod conversation;
mod error;
mod models;
mod reply;
mod request;
mod stream;
mod tools;

pub use error::ChatError;
pub use models::{model, models};
pub use reply::{CompletionOrigin, completion};
pub use request::{Streaming, TranslatedRequest, translate};
pub use stream::CompletionChunks;
