//! The tools there are, a file or folder each.

mod definition;
pub mod mcp;
pub mod plan;
pub mod recall;
mod services;
pub mod skill;
pub mod todo;
pub mod web_fetch;

pub use services::{Services, services};
