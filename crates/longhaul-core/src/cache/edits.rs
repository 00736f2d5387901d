//! Finds the changes in the messages between two requests: position by position, as far as the earlier one was cached.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::breakpoint::CacheBreakpoint;
use super::change::{MessageEdit, RequestChange};
use super::messages::CachePosition;
use super::speaker::MessageSpeaker;
use crate::message::BlockKind;
use crate::models::{ModelSpec, PriorThinking};

/// The number of positions that are compared one by one after the first difference; they represent the rest.
const COMPARED: usize = 2_000;
/// The most changes that are listed.
const LISTED: usize = 8;
/// How many positions the provider looks back from a breakpoint, its own position included.
const LOOK_BACK: usize = 20;

/// The positions that are in the prompt: without those that a summary replaces, and without thinking that the model
/// drops.
pub(super) struct VisiblePositions<'a> {
    pub(super) positions: Vec<&'a CachePosition>,
    /// Indices of the positions with a breakpoint.
    pub(super) marks: Vec<usize>,
    drops_thinking: bool,
}

impl<'a> VisiblePositions<'a> {
    pub(super) fn of(
        positions: &'a [CachePosition],
        marks: &[(usize, CacheBreakpoint)],
        spec: Option<&ModelSpec>,
    ) -> Self {
        let begin = positions.iter().rposition(|at| at.traits.summary);
        let begin = begin.unwrap_or_default();
        let drops = spec.is_some_and(|spec| spec.thinking.prior == PriorThinking::Strip);
        let turn = newest_turn(positions).filter(|_| drops);
        let is_shown = |position: &CachePosition| {
            !(position.kind.is_thinking() && turn.is_some_and(|turn| position.message < turn))
        };
        let mut shown = Self {
            positions: Vec::with_capacity(positions.len() - begin),
            marks: Vec::new(),
            drops_thinking: drops,
        };
        for (at, position) in positions.iter().enumerate().skip(begin) {
            if is_shown(position) {
                shown.positions.push(position);
            }
            let marked = marks.iter().any(|(marked, _)| *marked == at);
            shown
                .marks
                .extend(shown.positions.len().checked_sub(1).filter(|_| marked));
        }
        shown
    }

    /// The positions that the cache holds: up to the last breakpoint.
    pub(super) fn cached(&self) -> &[&'a CachePosition] {
        let end = self.marks.last().map_or(0, |last| last + 1);
        &self.positions[..end]
    }
}

/// The newest message in which the user said something of their own.
fn newest_turn(positions: &[CachePosition]) -> Option<u32> {
    let says = |at: &&CachePosition| {
        at.speaker == MessageSpeaker::User && at.kind != BlockKind::ToolResult
    };
    positions.iter().rev().find(says).map(|at| at.message)
}

/// The changes in the cached part of `before`, in order.
pub(super) fn message_changes(
    before: &VisiblePositions<'_>,
    after: &VisiblePositions<'_>,
) -> Vec<RequestChange> {
    let old = before.cached();
    let new = &after.positions[..];
    let same = (old.iter().zip(new))
        .take_while(|(old, new)| old.hash == new.hash)
        .count();
    if same == old.len() {
        return markers(before, after).into_iter().collect();
    }
    let (old, new) = (bounded(&old[same..]), bounded(&new[same..]));
    let hashes = |side: &[&CachePosition]| side.iter().map(|at| at.hash).collect::<Vec<_>>();
    let ops = capture_diff_slices(Algorithm::Myers, &hashes(old), &hashes(new));
    let mut changes = Vec::new();
    for op in ops {
        let (gone, come) = (&old[op.old_range()], &new[op.new_range()]);
        let appended = op.old_range().end == old.len();
        match op {
            DiffOp::Equal { .. } => continue,
            DiffOp::Insert { .. } if appended => continue,
            _ => {}
        }
        let pairs = gone.len().max(if appended { 0 } else { come.len() });
        // One more than is listed is enough; each pair costs a search through all positions.
        for nth in 0..pairs.min(LISTED + 1) {
            let (was, is) = (gone.get(nth).copied(), come.get(nth).copied());
            changes.extend(change(was, is, old, new, before.drops_thinking));
        }
        if changes.len() >= LISTED {
            break;
        }
    }
    changes.dedup_by(|later, first| {
        matches!(
            (later, first),
            (
                RequestChange::ThinkingDropped { .. },
                RequestChange::ThinkingDropped { .. }
            )
        )
    });
    changes.truncate(LISTED);
    changes
}

fn bounded<'s, 'a>(side: &'s [&'a CachePosition]) -> &'s [&'a CachePosition] {
    &side[..side.len().min(COMPARED)]
}

fn change(
    was: Option<&CachePosition>,
    is: Option<&CachePosition>,
    old: &[&CachePosition],
    new: &[&CachePosition],
    drops_thinking: bool,
) -> Option<RequestChange> {
    let known = was.or(is)?;
    if let (Some(thought), None) = (was, is)
        && drops_thinking
        && thought.kind.is_thinking()
    {
        return Some(RequestChange::ThinkingDropped {
            message: thought.message,
        });
    }
    // Only blocks that are gone or new can make a whole message gone or new.
    let side = if was.is_some() { old } else { new };
    let other = if was.is_some() { new } else { old };
    let whole = was.is_none() != is.is_none()
        && (side.iter().filter(|at| at.message == known.message))
            .all(|at| !other.iter().any(|there| there.hash == at.hash));
    let image = |at: Option<&CachePosition>| at.is_some_and(|at| at.traits.image);
    Some(RequestChange::Message(MessageEdit {
        message: known.message,
        speaker: known.speaker,
        block: known.kind,
        image_removed: image(was) && !image(is),
        whole,
        before: was.map(|at| at.bytes.clone()),
        after: is.map(|at| at.bytes.clone()),
    }))
}

/// Reports that the breakpoints no longer find the written part, although all of it is still there.
fn markers(before: &VisiblePositions<'_>, after: &VisiblePositions<'_>) -> Option<RequestChange> {
    let written = *before.marks.last()?;
    let behind = after.marks.iter().filter(|mark| **mark >= written);
    match behind.map(|mark| mark - written).min() {
        Some(distance) if distance < LOOK_BACK => None,
        Some(distance) => Some(RequestChange::OutOfReach { distance }),
        None => Some(RequestChange::Unmarked),
    }
}
