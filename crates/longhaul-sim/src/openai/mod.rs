//! Translates requests in the format of OpenAI's chat completions API to the format of the Messages API, and replies
//! back (N5).
//!
//! The translation works on values in memory: it uses no network and no clock, and it checks only the rules of the chat
//! completions API itself. The simulator (`World`) then validates, caches and bills the translated request like any
//! other. Equal requests always translate to equal bytes, so that the prompt cache still recognizes a common prefix.

mod conversation;
mod error;
mod models;
mod reply;
mod request;
mod stream;
mod tools;

pub use error::ChatError;
pub use models::{model, models};
pub(crate) use reply::{CompletionOrigin, completion};
pub use request::{Streaming, TranslatedRequest, translate};
pub(crate) use stream::CompletionChunks;
