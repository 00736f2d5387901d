//! What a conversation knows of tools that come late. `late_tools.rs` looks for them and announces them.

use std::sync::Arc;

use crate::tool::LateTools;

/// The tools that come late, and when they were last looked at.
#[derive(Default)]
pub(crate) struct LateToolArrivals {
    pub(super) source: Option<Arc<dyn LateTools>>,
    /// How many tools, instructions and compactions there were then.
    pub(super) seen: Option<(usize, usize, u64)>,
}

impl LateToolArrivals {
    pub(crate) fn new(source: Option<Arc<dyn LateTools>>) -> Self {
        Self { source, seen: None }
    }
}
