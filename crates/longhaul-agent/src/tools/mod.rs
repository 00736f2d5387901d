//! The tools there are, a file or folder each.

pub mod task;
