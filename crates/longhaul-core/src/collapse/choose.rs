//! Chooses the spans to fold: the oldest, in whole rounds, as many as it takes to come down to the target.

use std::ops::Range;

use super::FoldLimits;
use crate::rounds::{PieceKind, Rounds, Seams, ViewPiece};
use crate::tokens::Estimate;

/// The number of newest rounds that are never folded.
const KEPT_ROUNDS: usize = 4;
/// The most spans that one request asks for; instead of asking for more, the spans grow.
const MOST_SPANS: u64 = 16;

/// The choice of what to fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenSpans {
    /// The first entry that stays word for word.
    pub cut: usize,
    /// The spans, oldest first: without gaps from the first entry that may be folded to the cut.
    pub spans: Vec<Range<usize>>,
    /// Tokens that folding frees, by the unpadded estimate and with folds of the greatest allowed length.
    pub frees: u64,
}

/// Chooses what to fold of a view whose entries weigh `weights`; `used` tokens are in the window.
///
/// `first` is the first entry that may be folded ([`super::first_foldable`]). A span is a run of whole rounds; it
/// begins with a prompt where one is near. Returns none if nothing may be folded, or if folding would free nothing. The
/// newest [`FoldLimits::keep`] tokens and four rounds stay.
pub fn choose(
    pieces: &[ViewPiece],
    weights: &[Estimate],
    first: usize,
    limits: &FoldLimits,
    used: u64,
) -> Option<ChosenSpans> {
    let boundary = pieces
        .iter()
        .rposition(|piece| piece.part == PieceKind::Boundary);
    let first = first.max(boundary.map_or(0, |at| at + 1));
    let last = latest_cut(pieces, weights, limits.keep)?;
    let ends = SpanEnds::of(pieces, weights, first, last);
    let need = used.saturating_sub(limits.target).max(1);
    let aim = limits.span.max(need / MOST_SPANS).max(1);
    let (mut spans, mut start, mut weight) = (Vec::new(), first, Estimate::ZERO);
    let freed = |spans: usize, weight: Estimate| {
        let folds = limits.fold_weight().saturating_mul(spans as u64);
        weight.unpadded().saturating_sub(folds)
    };
    while freed(spans.len(), weight) < need && (spans.len() as u64) < MOST_SPANS * 2 {
        let Some(end) = ends.nearest(start, aim) else {
            break;
        };
        let more = ends.between(start, end);
        if more.unpadded() <= limits.fold_weight() {
            // The rest weighs no more than its fold would.
            break;
        }
        weight += more;
        spans.push(start..end);
        start = end;
    }
    let frees = freed(spans.len(), weight);
    (frees > 0).then_some(ChosenSpans {
        cut: start,
        spans,
        frees,
    })
}

/// The latest cut that leaves the newest rounds and tokens alone. `None` if there is nothing else.
fn latest_cut(pieces: &[ViewPiece], weights: &[Estimate], keep: u64) -> Option<usize> {
    let rounds = Rounds::of(pieces);
    let round = rounds.len().checked_sub(KEPT_ROUNDS)?;
    let mut last = rounds.pieces(round).start;
    let weight = |range: Range<usize>| weights.get(range).unwrap_or_default().iter().copied();
    let mut kept: Estimate = weight(last..weights.len().max(last)).sum();
    while kept.padded() < keep {
        last = last.checked_sub(1)?;
        kept += weight(last..last + 1).sum();
    }
    Some(last)
}

/// Where spans may end, with the weight of all entries before each index of the view.
struct SpanEnds {
    ends: Vec<SpanEnd>,
    before: Vec<Estimate>,
}

#[derive(Debug, Clone, Copy)]
struct SpanEnd {
    at: usize,
    next: SpanFollower,
}

/// What follows the end of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpanFollower {
    Prompt,
    Response,
}

impl SpanEnds {
    /// The safe cuts between `first` and `last`: before each response, or before the prompt that it answers.
    fn of(pieces: &[ViewPiece], weights: &[Estimate], first: usize, last: usize) -> Self {
        let seams = Seams::of(pieces);
        let mut ends: Vec<SpanEnd> = Vec::new();
        let (mut prompt, mut said) = (None, None);
        for (at, piece) in pieces.iter().enumerate().skip(first) {
            match piece.part {
                PieceKind::Boundary | PieceKind::Unsent => continue,
                PieceKind::Input if piece.answers.is_empty() => prompt = prompt.or(Some(at)),
                PieceKind::Input => prompt = None,
                PieceKind::Response(_) | PieceKind::Reasoning(_) => {
                    let prompt = prompt.take().filter(|at| seams.is_safe(*at));
                    let (at, next) = match prompt {
                        Some(prompt) => (prompt, SpanFollower::Prompt),
                        None => (at, SpanFollower::Response),
                    };
                    // A span must contain something to fold.
                    let holds = said.is_some_and(|said| said < at);
                    if holds && at <= last && seams.is_safe(at) {
                        ends.push(SpanEnd { at, next });
                    }
                }
            }
            said = said.or(Some(at));
        }
        let mut weight = Estimate::ZERO;
        let mut before = vec![weight];
        before.extend((0..pieces.len()).map(|at| {
            weight += weights.get(at).copied().unwrap_or_default();
            weight
        }));
        Self { ends, before }
    }

    /// The best end of a span that begins at `start` and should weigh `aim`: before a prompt if one is near, else as
    /// close below it as whole rounds allow. `None` if there is no end left.
    fn nearest(&self, start: usize, aim: u64) -> Option<usize> {
        let from = self.ends.partition_point(|end| end.at <= start);
        let weighed = self.ends[from..]
            .iter()
            .map(|end| (end, self.between(start, end.at).unpadded()));
        let (mut prompt, mut below, mut above): (Option<(u64, usize)>, _, _) = (None, None, None);
        for (end, weight) in weighed {
            if end.next == SpanFollower::Prompt
                && weight >= aim - aim / 4
                && weight <= aim + aim / 2
            {
                let distance = weight.abs_diff(aim);
                if prompt.is_none_or(|(nearest, _)| distance < nearest) {
                    prompt = Some((distance, end.at));
                }
            }
            if weight <= aim {
                below = Some((weight, end.at))
            } else {
                above = above.or(Some(end.at))
            }
            if weight > aim + aim / 2 {
                break;
            }
        }
        let below_enough = below.filter(|(weight, _)| above.is_none() || *weight >= aim / 2);
        prompt
            .map(|(_, at)| at)
            .or(below_enough.map(|(_, at)| at))
            .or(above)
    }

    fn between(&self, start: usize, end: usize) -> Estimate {
        self.before[end].less(self.before[start])
    }
}
