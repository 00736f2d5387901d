//! From entries to the messages that the API sees (Z).
//!
//! [`MessageOutline`] tells which messages there will be, from a table alone; [`Rendering`] renders them. A line passes
//! through `step` (what it contributes) → `arrange` (history only: late lines and results are put where they belong) →
//! `block/` and `attachment/` (content that the API accepts) → `turn` (the open tail) → `writer` (bytes, positions,
//! hashes).

mod arrange;
mod attachment;
mod block;
mod buffer;
pub mod fragment;
mod history_images;
mod images;
mod options;
mod outline;
mod piece;
mod rendered;
mod rendering;
mod response_blocks;
mod step;
mod turn;
mod writer;

pub use buffer::AppendBuffer;
pub use options::RenderOptions;
pub use outline::{MessageOutline, MessageRole};
pub use rendered::{BlockOrigin, RenderedBlock, RenderedMessage};
pub use rendering::Rendering;
