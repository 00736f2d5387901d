//! Chooses which blocks of the messages have a cache breakpoint (B2).
//!
//! The choice depends only on the rendering, so a process that resumes the conversation chooses the same blocks. The
//! last request's write position is not stored but derived: that request ended where the newest reply begins.

use crate::message::BlockKind;
use crate::normalize::{BlockOrigin, MessageRole, RenderedBlock, RenderedMessage};

/// The maximum number of cache breakpoints in a request, including those of system and tools.
pub const MOST_MARKERS: usize = 4;

/// If there are more positions than this between the last written position and the new end, a second breakpoint bridges
/// the distance. A look-back reaches 20 positions; this leaves room for positions that a provider may count in
/// addition.
const UNBRIDGED: usize = 15;

/// Whether a request writes to the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheWrite {
    /// The request writes to the cache, because the conversation continues after it.
    Write,
    /// The request does not write to the cache: nothing will ever continue it, so it only marks what is already written
    /// (F7).
    Skip,
}

/// The blocks with a cache breakpoint, as ascending indices into the rendering's blocks. There are at most two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageBreakpoints {
    places: [u32; 2],
    count: usize,
}

impl MessageBreakpoints {
    /// Places the breakpoints. `room` is how many the request prefix leaves for the messages.
    pub fn place(
        blocks: &[RenderedBlock],
        messages: &[RenderedMessage],
        write: CacheWrite,
        room: usize,
    ) -> Self {
        let cut = ExpectedCut::of(blocks);
        Self::place_after_change(blocks, messages, write, room, (None, &cut))
    }

    /// Places the breakpoints of a request whose blocks from `unchanged` on were not sent in this form before. `cut` has
    /// seen all blocks.
    pub(super) fn place_after_change(
        blocks: &[RenderedBlock],
        messages: &[RenderedMessage],
        write: CacheWrite,
        room: usize,
        (unchanged, cut): (Option<usize>, &ExpectedCut),
    ) -> Self {
        let written = match unchanged {
            Some(end) => readable_before(blocks, end),
            None => written(blocks, messages),
        };
        let last = match write {
            CacheWrite::Write => last_markable(blocks, blocks.len()),
            CacheWrite::Skip => written,
        };
        let mut marks = Self::default();
        let Some(last) = last.filter(|_| room > 0) else {
            return marks;
        };
        if let Some(written) = written.filter(|written| *written < last)
            && last - written - 1 > UNBRIDGED
            && room > 1
        {
            marks.add(written);
        } else if let Some(cut) = cut.among(blocks).filter(|cut| *cut < last)
            && write == CacheWrite::Write
            && room > 1
        {
            marks.add(cut);
        }
        marks.add(last);
        marks
    }

    fn add(&mut self, block: usize) {
        self.places[self.count] = block as u32;
        self.count += 1;
    }

    /// The blocks with a breakpoint.
    pub fn blocks(&self) -> &[u32] {
        &self.places[..self.count]
    }
}

/// Returns the last block of the request that the newest reply answered.
fn written(blocks: &[RenderedBlock], messages: &[RenderedMessage]) -> Option<usize> {
    let reply = messages
        .iter()
        .rev()
        .find(|message| message.role == MessageRole::Assistant)?;
    last_markable(blocks, reply.first_block as usize)
}

/// Finds the block before the place where the next clearing is expected to begin: a breakpoint on it lets that clearing
/// read what comes before. That is the first result after the cleared ones. Where nothing was cleared yet, it is the
/// first result or thinking, because a clearing strips all thinking that is bound to what comes before it; then it needs
/// a breakpoint only once a look-back from the end no longer reaches it.
///
/// It follows a rendering, which only grows, so that a request costs as much as is new.
#[derive(Debug, Default)]
pub(super) struct ExpectedCut {
    /// How many blocks were seen.
    seen: usize,
    has_cleared: bool,
    /// The first block that may leave.
    first: Option<usize>,
}

impl ExpectedCut {
    /// The cut of a rendering that ends here.
    pub(super) fn of(blocks: &[RenderedBlock]) -> Self {
        let mut cut = Self::default();
        cut.follow(blocks);
        cut
    }

    /// Takes the blocks of the rendering, of which some may be new.
    pub(super) fn follow(&mut self, blocks: &[RenderedBlock]) {
        for (at, block) in blocks.iter().enumerate().skip(self.seen) {
            if block.origin == BlockOrigin::Cleared {
                (self.has_cleared, self.first) = (true, None);
            } else if self.first.is_none()
                && (block.kind == BlockKind::ToolResult
                    || !self.has_cleared && block.kind.is_thinking())
            {
                self.first = Some(at);
            }
        }
        self.seen = blocks.len();
    }

    /// The block in these blocks, which are those that were seen.
    fn among(&self, blocks: &[RenderedBlock]) -> Option<usize> {
        let cut = last_markable(blocks, self.first?)?;
        (self.has_cleared || blocks.len() - cut > UNBRIDGED).then_some(cut)
    }
}

/// Returns the last block before a clearing's first change near which earlier requests have written to the cache.
fn readable_before(blocks: &[RenderedBlock], end: usize) -> Option<usize> {
    let last = last_markable(blocks, end)?;
    let before = &blocks[..end.min(blocks.len())];
    let marked = ExpectedCut::of(before).among(before);
    let is_far = |marked: &usize| last.saturating_sub(*marked) > UNBRIDGED;
    Some(marked.filter(is_far).unwrap_or(last))
}

/// Returns the last block before `end` that may have a breakpoint.
fn last_markable(blocks: &[RenderedBlock], end: usize) -> Option<usize> {
    blocks[..end.min(blocks.len())]
        .iter()
        .rposition(|block| block.markable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Estimate;
    use proptest::prelude::*;

    /// Builds messages from letters: `t` is a block that cannot have a breakpoint, `h` thinking, `r` a result, `c` a
    /// cleared one, `x` any other block, `/` a change of speaker.
    fn rendered(script: &str) -> (Vec<RenderedBlock>, Vec<RenderedMessage>) {
        let (mut blocks, mut messages) = (Vec::new(), Vec::new());
        for (message, content) in script.split('/').enumerate() {
            messages.push(RenderedMessage {
                role: [MessageRole::User, MessageRole::Assistant][message % 2],
                first_block: blocks.len() as u32,
                stripped: 0,
            });
            for letter in content.chars() {
                blocks.push(RenderedBlock {
                    start: 0,
                    end: 0,
                    kind: match letter {
                        'h' => BlockKind::Thinking,
                        'r' | 'c' => BlockKind::ToolResult,
                        _ => BlockKind::Text,
                    },
                    markable: !matches!(letter, 't' | 'h'),
                    message: message as u32,
                    entry: None,
                    origin: match letter {
                        'c' => BlockOrigin::Cleared,
                        _ => BlockOrigin::Said,
                    },
                    prefix_hash: 0,
                    weight: Estimate::ZERO,
                });
            }
        }
        (blocks, messages)
    }

    fn marks(script: &str, write: CacheWrite, room: usize) -> Vec<u32> {
        let (blocks, messages) = rendered(script);
        MessageBreakpoints::place(&blocks, &messages, write, room)
            .blocks()
            .to_vec()
    }

    #[test]
    fn b2_the_last_message_bears_exactly_one_marker() {
        assert_eq!(marks("x", CacheWrite::Write, 2), [0]);
        assert_eq!(marks("xx/txx/xxx", CacheWrite::Write, 2), [7]);
        assert_eq!(marks("", CacheWrite::Write, 2), [0_u32; 0]);
    }

    #[test]
    fn b2_v1_after_a_clearing_the_unchanged_part_ends_with_a_marker() {
        let script = ["xx"; 30].join("/");
        let (blocks, messages) = rendered(&script);
        let marks = |unchanged, room| {
            let write = CacheWrite::Write;
            let cut = ExpectedCut::of(&blocks);
            let change = (unchanged, &cut);
            MessageBreakpoints::place_after_change(&blocks, &messages, write, room, change)
                .blocks()
                .to_vec()
        };
        assert_eq!(marks(Some(10), 2), [9, 59]);
        assert_eq!(marks(Some(10), 1), [59], "there is no room for two");
        assert_eq!(marks(Some(50), 2), [59], "the look-back reaches it");
        assert_eq!(marks(None, 2), [59]);
    }

    #[test]
    fn b2_v1_the_place_where_the_next_clearing_begins_has_a_marker() {
        let write = CacheWrite::Write;
        let more = "x/x/".repeat(8) + "x";
        let first = |script: &str| marks(&format!("{script}/{more}"), write, 2);
        assert_eq!(first("xx/xx/rr/x"), [3, 23], "the first result");
        assert_eq!(first("x/hx/r/x"), [0, 21], "thinking may be bound");
        assert_eq!(marks("xx/xx/rr/x", write, 2), [6], "it is near");
        let cleared = "x/hx/cc/hx/rr/x/r/x";
        assert_eq!(marks(cleared, write, 2), [6, 11], "the next result");
        assert_eq!(marks("x/x/cr/x", write, 2), [2, 4], "of parallel ones");
        assert_eq!(marks("x/x/r/x", write, 1), [3], "there is no room");
    }

    #[test]
    fn b2_a_marker_never_stands_on_thinking() {
        assert_eq!(marks("x/xtt", CacheWrite::Write, 2), [1]);
        assert_eq!(marks("t/t", CacheWrite::Write, 2), [0_u32; 0]);
    }

    #[test]
    fn b2_a_bridge_is_built_when_more_than_fifteen_positions_lie_between() {
        let calls = |between: usize| format!("xx/{}/x", "x".repeat(between));
        assert_eq!(marks(&calls(15), CacheWrite::Write, 2), [17]);
        assert_eq!(marks(&calls(16), CacheWrite::Write, 2), [1, 18]);
        // Thinking counts as a position as well.
        assert_eq!(marks("x/tttttttttttttttt/x", CacheWrite::Write, 2), [0, 17]);
    }

    #[test]
    fn b2_markers_of_the_head_leave_less_room() {
        let long = format!("x/{}/x", "x".repeat(30));
        assert_eq!(marks(&long, CacheWrite::Write, 4), [0, 31]);
        assert_eq!(marks(&long, CacheWrite::Write, 1), [31]);
        assert_eq!(marks(&long, CacheWrite::Write, 0), [0_u32; 0]);
    }

    #[test]
    fn f7_a_fork_marks_what_is_written_already() {
        assert_eq!(marks("xx/tx/xx", CacheWrite::Skip, 2), [1]);
        assert_eq!(marks("xx/tx", CacheWrite::Skip, 2), [1]);
        // Nothing has been written after the request prefix yet.
        assert_eq!(marks("xx", CacheWrite::Skip, 2), [0_u32; 0]);
    }

    proptest! {
        #[test]
        fn b2_what_a_request_wrote_is_within_reach_of_the_next(
            turns in proptest::collection::vec(("t?x{1,14}", "x{1,14}"), 1..12),
            room in 2_usize..4,
        ) {
            let mut script = String::from("x");
            let mut wrote = marks(&script, CacheWrite::Write, room);
            for (reply, results) in turns {
                script = format!("{script}/{reply}/{results}");
                let now = marks(&script, CacheWrite::Write, room);
                let before = *wrote.last().unwrap();
                prop_assert!(now.len() <= 2);
                prop_assert!(now.iter().any(|mark| *mark >= before && mark - before < 20));
                wrote = now;
            }
        }
    }
}
