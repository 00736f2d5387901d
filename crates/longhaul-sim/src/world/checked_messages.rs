//! What is remembered about messages that passed the rules. `rule_check.rs` checks the rest.

use std::collections::HashSet;

use longhaul_core::xxh3::xxh3_64;

use crate::request::MessagesRequest;

/// The facts that are remembered about messages that passed.
#[derive(Debug, Default)]
pub(super) struct CheckedMessages {
    pub(super) model: String,
    /// The ids of calls, each with its message, in order.
    ids: Vec<(usize, u64)>,
    seen: HashSet<u64>,
}

impl CheckedMessages {
    pub(super) fn forget(&mut self, kept: usize) {
        while let Some((_, id)) = self.ids.pop_if(|(message, _)| *message >= kept) {
            self.seen.remove(&id);
        }
    }

    /// Adds the ids of the messages from `kept` on, and returns whether all are new.
    pub(super) fn learn(&mut self, request: &MessagesRequest, kept: usize) -> bool {
        let mut unique = true;
        for (index, message) in request.messages.iter().enumerate().skip(kept) {
            let calls = message.content.iter();
            let calls = calls.filter(|block| block.kind.ends_with("tool_use"));
            for id in calls.filter_map(|block| block.text("id")) {
                let id = xxh3_64(id.as_bytes());
                if self.seen.insert(id) {
                    self.ids.push((index, id))
                } else {
                    unique = false
                }
            }
        }
        unique
    }
}
