//! The OpenAI dialect (N5): chat completions translated to the Messages shape and back.
//!
//! Translation only, on values: no network, no clock, and no rules but those of the dialect itself. What the request
//! then is judged by, cached by and billed by is the world's work, the same for both dialects. Bytes of one request give the
//! same bytes of the other, so what was a prefix stays one.

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
