//! The hash of a position combines its own identity with the prefix before it; its end is the sum of tokens so far.

use longhaul_core::xxh3::xxh3_128;

use super::PromptLevel;
use super::layout::PromptLayout;
use crate::tokens::OPENING;

impl PromptLayout {
    /// Chains hashes and adds up tokens from a position on.
    pub(super) fn chain(&mut self, from: usize) {
        let extra = self.extra;
        let before = from
            .checked_sub(1)
            .and_then(|i| self.prompt.positions.get(i));
        let (mut prefix, mut end, mut level) = match before {
            Some(position) => (position.prefix, position.end, Some(position.level)),
            None => (self.keys.tools, 0, None),
        };
        for position in self.prompt.positions.iter_mut().skip(from) {
            if level != Some(position.level) {
                let was = level.replace(position.level);
                if position.level == PromptLevel::Tools {
                    end += extra.tools;
                }
                if was.is_none_or(|was| was < PromptLevel::System)
                    && position.level >= PromptLevel::System
                {
                    prefix = mixed(prefix, self.keys.system);
                    end += extra.system;
                }
                if position.level == PromptLevel::Messages {
                    prefix = mixed(prefix, self.keys.messages);
                    end += extra.messages;
                }
            }
            prefix = mixed(prefix, position.identity);
            end += position.tokens;
            position.prefix = prefix;
            position.end = end;
        }
        self.prompt.tokens = end + OPENING;
    }

    /// Lists the breakpoints: those of the request prefix, those known before `from`, and those after it.
    pub(super) fn note_markers(&mut self, from: usize) {
        let marked = |range: std::ops::Range<usize>| {
            let here = self.prompt.positions.get(range.clone()).unwrap_or_default();
            let found = range
                .zip(here)
                .filter(|(_, position)| position.marker.is_some());
            found.map(|(index, _)| index)
        };
        let head = self.prefix_len;
        let known = self.prompt.markers.iter().copied();
        let known = known.filter(|index| (head..from).contains(index));
        let new = marked(from.max(head)..self.prompt.positions.len());
        self.prompt.markers = marked(0..head).chain(known).chain(new).collect();
    }
}

fn mixed(prefix: u128, next: u128) -> u128 {
    let mut both = [0; 32];
    let (first, second) = both.split_at_mut(16);
    first.copy_from_slice(&prefix.to_le_bytes());
    second.copy_from_slice(&next.to_le_bytes());
    xxh3_128(&both)
}
