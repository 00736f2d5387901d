//! From entries to the messages that the API sees (Z).
//!
//! [`Outline`] tells which messages there will be, from a table alone; [`Rendering`] renders them.

mod buffer;
mod outline;
mod rendering;

pub use buffer::Buffer;
pub use outline::{Outline, Role};
pub use rendering::{RenderOptions, RenderedBlock, RenderedMessage, Rendering};
