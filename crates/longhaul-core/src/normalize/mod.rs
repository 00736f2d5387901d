//! From entries to the messages that the API sees (Z).
//!
//! For now the outline: which messages there will be. Rendering them lives here too once requests are assembled.

mod outline;

pub use outline::{Outline, Role};
