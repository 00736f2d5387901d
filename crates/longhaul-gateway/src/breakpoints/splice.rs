//! Slices of a text with small pieces cut out or inserted. The text itself is not copied.

use std::ops::Range;

use bytes::Bytes;
use longhaul_core::prompt::Ttl;

use super::scan::{CacheableBlock, ScannedContent};

const OPEN: &str = r#"[{"type":"text","text":"#;
const FIVE_MINUTES: &str = r#","cache_control":{"type":"ephemeral"}"#;
const HOUR: &str = r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;
const CLOSE_FIVE_MINUTES: &str = r#","cache_control":{"type":"ephemeral"}}]"#;
const CLOSE_HOUR: &str = r#","cache_control":{"type":"ephemeral","ttl":"1h"}}]"#;

/// The outcome of setting a breakpoint on a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BreakpointPlacement {
    /// The block already had this breakpoint.
    Stayed,
    /// The breakpoint was added.
    Set,
    /// The block cannot have one.
    Not,
}

/// The edits to make in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextEdits(Vec<(Range<usize>, Bytes)>);

impl TextEdits {
    /// Replaces a range.
    pub(super) fn replace(&mut self, part: Range<usize>, with: Bytes) {
        self.0.push((part, with));
    }

    /// Cuts a range.
    pub(super) fn cut(&mut self, base: usize, part: &Range<usize>) {
        self.replace(base + part.start..base + part.end, Bytes::new());
    }

    /// Inserts a text at a position, after what was inserted there before.
    pub(super) fn insert(&mut self, at: usize, what: &'static str) {
        self.replace(at..at, Bytes::from_static(what.as_bytes()));
    }

    /// Adds all edits of `other`, shifted by `base`.
    pub(super) fn extend(&mut self, base: usize, other: &Self) {
        let moved = other.0.iter();
        self.0
            .extend(moved.map(|(part, with)| (base + part.start..base + part.end, with.clone())));
    }

    /// Removes the breakpoints of a block, nested ones included.
    pub(super) fn unmark(&mut self, base: usize, bearer: &CacheableBlock) {
        for found in bearer.found() {
            self.cut(base, &found.cut);
        }
    }

    /// Makes a breakpoint of this lifetime the only one of a block. An equivalent one that exists stays as it is
    /// spelled.
    pub(super) fn mark(
        &mut self,
        base: usize,
        bearer: &CacheableBlock,
        ttl: Ttl,
    ) -> BreakpointPlacement {
        match (&*bearer.own, bearer.insert_at) {
            ([there], _) if there.is(ttl) => {
                for found in &bearer.inside {
                    self.cut(base, &found.cut);
                }
                BreakpointPlacement::Stayed
            }
            (_, Some(behind)) => {
                self.unmark(base, bearer);
                let marker = match ttl {
                    Ttl::FiveMinutes => FIVE_MINUTES,
                    Ttl::OneHour => HOUR,
                };
                self.insert(base + behind, marker);
                BreakpointPlacement::Set
            }
            (_, None) => BreakpointPlacement::Not,
        }
    }

    /// Sets a breakpoint on one block of a content. A string becomes a list of one block.
    pub(super) fn mark_block(
        &mut self,
        base: usize,
        content: &ScannedContent,
        block: usize,
        ttl: Ttl,
    ) -> BreakpointPlacement {
        match content {
            ScannedContent::Nothing => BreakpointPlacement::Not,
            ScannedContent::Plain(span) => {
                self.insert(base + span.start, OPEN);
                let close = match ttl {
                    Ttl::FiveMinutes => CLOSE_FIVE_MINUTES,
                    Ttl::OneHour => CLOSE_HOUR,
                };
                self.insert(base + span.end, close);
                BreakpointPlacement::Set
            }
            ScannedContent::Blocks(blocks) => match blocks.get(block) {
                Some(bearer) => self.mark(base, bearer, ttl),
                None => BreakpointPlacement::Not,
            },
        }
    }

    /// The text with all edits applied. `None` if two edits overlap.
    pub(super) fn apply(mut self, text: &Bytes) -> Option<Vec<Bytes>> {
        // The sort is stable: insertions at one position keep their order.
        self.0.sort_by_key(|(part, _)| (part.start, part.end));
        let mut parts = Vec::with_capacity(2 * self.0.len() + 1);
        let mut done = 0;
        for (part, with) in self.0 {
            let between = done..part.start;
            if between.start > between.end || part.end > text.len() {
                return None;
            }
            parts.push(text.slice(between));
            parts.push(with);
            done = part.end;
        }
        parts.push(text.slice(done..));
        parts.retain(|part| !part.is_empty());
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    fn spliced(text: &str, edits: TextEdits) -> String {
        let parts = edits.apply(&Bytes::from(text.to_owned())).unwrap();
        String::from_utf8(parts.concat()).unwrap()
    }

    fn unmarked(block: &str) -> String {
        let list = format!("[{block}]");
        let mut edits = TextEdits::default();
        for bearer in scan::system(list.as_bytes()).unwrap().blocks() {
            edits.unmark(0, bearer);
        }
        let text = spliced(&list, edits);
        text[1..text.len() - 1].to_owned()
    }

    #[test]
    fn b2_a_marker_is_cut_out_wherever_it_stands() {
        let plain = r#"{"type":"text","text":"x"}"#;
        for marked in [
            r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}"#,
            r#"{"type":"text","cache_control":null,"text":"x"}"#,
            r#"{"cache_control":{"type":"ephemeral","ttl":"1h"} , "type":"text","text":"x"}"#,
            r#"{"cache_control":1,"cache_control":2,"type":"text","text":"x", "cache_control" : [3]}"#,
            r#"{"type":"text","text":"x","cache_contro\u006c":{}}"#,
        ] {
            assert_eq!(unmarked(marked), plain, "{marked}");
        }
        assert_eq!(unmarked(r#"{"cache_control":{}}"#), "{}");
    }

    #[test]
    fn b2_markers_inside_blocks_are_found_and_what_is_the_clients_own_is_left() {
        let result = r#"{"type":"tool_result","content":[{"type":"text","text":"\"cache_control\":1","cache_control":{}}],"cache_control":{}}"#;
        let plain =
            r#"{"type":"tool_result","content":[{"type":"text","text":"\"cache_control\":1"}]}"#;
        assert_eq!(unmarked(result), plain);
        let call = r#"{"type":"tool_use","input":{"cache_control":{"a":1},"content":[{"cache_control":1}]}}"#;
        assert_eq!(unmarked(call), call);
    }

    #[test]
    fn edits_that_meet_are_refused() {
        let mut edits = TextEdits::default();
        edits.cut(0, &(0..3));
        edits.cut(0, &(2..4));
        assert_eq!(edits.apply(&Bytes::from_static(b"abcdef")), None);
    }
}
