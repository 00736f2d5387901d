//! Tests which spans are folded.

use longhaul_core::collapse::{ChosenSpans, FoldLimits, choose, first_foldable};
use longhaul_core::message::Id;
use longhaul_core::rounds::{PieceKind, Rounds, ViewPiece};
use longhaul_core::tokens::Estimate;
use longhaul_testkit::session::{CompactionSchedule, SessionSpec};
use proptest::prelude::*;
use serde_json::json;

use super::limits;
use crate::cut::{hostile, is_safe};
use crate::lines::{Lines, usage};
use crate::session_file::SessionFile;

/// A view of turns: a prompt, some rounds of a call and its result, and a last response.
struct Made {
    pieces: Vec<ViewPiece>,
    weights: Vec<Estimate>,
}

impl Made {
    fn turns(turns: usize, rounds: usize, each: u64) -> Self {
        let mut made = Self {
            pieces: Vec::new(),
            weights: Vec::new(),
        };
        let id = |kind: &str, turn: usize, round: usize| Id::of(&format!("{kind}{turn}-{round}"));
        for turn in 0..turns {
            made.push(PieceKind::Input, 50, None, None);
            for round in 0..rounds {
                let (message, call) = (id("m", turn, round), id("t", turn, round));
                made.push(PieceKind::Response(Some(message)), 100, Some(call), None);
                made.push(PieceKind::Input, each, None, Some(call));
            }
            let last = PieceKind::Response(Some(id("m", turn, rounds)));
            made.push(last, 200, None, None);
        }
        made
    }

    fn push(&mut self, part: PieceKind, weight: u64, calls: Option<Id>, answers: Option<Id>) {
        self.pieces.push(ViewPiece {
            part,
            calls: calls.into_iter().collect(),
            answers: answers.into_iter().collect(),
        });
        self.weights.push(Estimate::new(weight));
    }

    fn weight(&self) -> u64 {
        self.weights.iter().copied().sum::<Estimate>().padded()
    }

    fn choose(&self, limits: &FoldLimits, used: u64) -> Option<ChosenSpans> {
        choose(&self.pieces, &self.weights, 0, limits, used)
    }

    fn is_prompt(&self, at: usize) -> bool {
        self.pieces[at].part == PieceKind::Input && self.pieces[at].answers.is_empty()
    }
}

/// Returns the same pieces with ids of their own.
fn renamed(pieces: Vec<ViewPiece>, part: usize) -> Vec<ViewPiece> {
    let tell = |id: &Id| Id::of(&format!("{id:?}{part}"));
    let piece = |piece: ViewPiece| ViewPiece {
        part: match piece.part {
            PieceKind::Response(message) => PieceKind::Response(message.as_ref().map(tell)),
            PieceKind::Reasoning(message) => PieceKind::Reasoning(message.as_ref().map(tell)),
            part => part,
        },
        calls: piece.calls.iter().map(tell).collect(),
        answers: piece.answers.iter().map(tell).collect(),
    };
    pieces.into_iter().map(piece).collect()
}

/// Checks what must hold for any choice.
fn check(
    pieces: &[ViewPiece],
    weights: &[Estimate],
    first: usize,
    limits: &FoldLimits,
    chosen: &ChosenSpans,
) {
    assert_eq!(chosen.spans[0].start, first);
    for pair in chosen.spans.windows(2) {
        assert_eq!(pair[0].end, pair[1].start, "without gaps, oldest first");
    }
    assert_eq!(chosen.spans[chosen.spans.len() - 1].end, chosen.cut);
    for span in &chosen.spans {
        let sent = pieces[span.clone()]
            .iter()
            .any(|piece| piece.part.is_sent());
        assert!(sent, "there is something to fold");
        assert!(is_safe(pieces, span.end), "rounds stay whole");
    }
    let kept: Estimate = weights[chosen.cut..].iter().copied().sum();
    assert!(kept.padded() >= limits.keep, "the newest tokens stay");
    let rounds = Rounds::of(pieces);
    assert!(
        chosen.cut <= rounds.pieces(rounds.len() - 4).start,
        "and the newest rounds"
    );
    assert!(chosen.frees > 0);
}

#[test]
fn o6_the_oldest_spans_are_folded_down_to_the_target() {
    let limits = limits(200_000);
    // The view is a prompt and nine rounds of about a thousand tokens, repeated.
    let made = Made::turns(14, 9, 900);
    let used = made.weight();
    assert!(used > limits.commit_at, "{used}");
    let chosen = made.choose(&limits, used).unwrap();
    check(&made.pieces, &made.weights, 0, &limits, &chosen);
    assert!(used - chosen.frees <= limits.target);
    let less: u64 = used - chosen.frees + limits.span * 2;
    assert!(less > limits.target, "and not much further: {less}");
    for span in &chosen.spans {
        assert!(made.is_prompt(span.start), "a prompt begins a span");
        let weight: Estimate = made.weights[span.clone()].iter().copied().sum();
        assert!((6_000..=12_000).contains(&weight.unpadded()), "{weight:?}");
    }
}

#[test]
fn o6_one_long_turn_is_folded_at_its_rounds() {
    let limits = limits(200_000);
    let made = Made::turns(1, 120, 1_000);
    let chosen = made.choose(&limits, 165_000).unwrap();
    check(&made.pieces, &made.weights, 0, &limits, &chosen);
    assert!(chosen.spans.len() > 4);
    for span in &chosen.spans[1..] {
        assert!(made.pieces[span.start].part.is_response());
        let weight: Estimate = made.weights[span.clone()].iter().copied().sum();
        assert!((6_900..=8_000).contains(&weight.unpadded()), "{weight:?}");
    }
}

#[test]
fn o6_a_span_is_as_large_as_a_round_that_cannot_be_parted() {
    let limits = limits(200_000);
    let mut made = Made::turns(3, 2, 40_000);
    made.weights
        .iter_mut()
        .skip(14)
        .for_each(|weight| *weight = Estimate::new(9_000));
    let chosen = made.choose(&limits, 170_000).unwrap();
    check(&made.pieces, &made.weights, 0, &limits, &chosen);
    assert_eq!(chosen.spans[0], 0..3, "the prompt and one round of 40,000");
}

#[test]
fn o6_a_large_window_asks_for_larger_spans_rather_than_for_many() {
    let limits = limits(1_000_000);
    let made = Made::turns(90, 9, 900);
    let chosen = made.choose(&limits, 900_000).unwrap();
    check(&made.pieces, &made.weights, 0, &limits, &chosen);
    assert!(chosen.spans.len() <= 24, "{}", chosen.spans.len());
    assert!(900_000 - chosen.frees <= limits.target);
}

#[test]
fn o6_nothing_is_folded_of_the_newest_rounds_and_tokens() {
    let limits = limits(200_000);
    for made in [
        Made::turns(0, 0, 0),
        Made::turns(1, 0, 0),
        Made::turns(1, 2, 80_000),
        Made::turns(3, 9, 900),
    ] {
        assert_eq!(made.choose(&limits, 175_000), None);
    }
}

#[test]
fn o6_what_weighs_no_more_than_its_fold_is_not_folded() {
    let limits = limits(200_000);
    let mut made = Made::turns(6, 1, 10);
    let last = made.weights.len() - 1;
    made.weights[last] = Estimate::new(90_000);
    // Five turns of 360 tokens are too small to be folded into two folds of 600.
    made.weights
        .iter_mut()
        .take(16)
        .for_each(|weight| *weight = Estimate::new(30));
    assert_eq!(made.choose(&limits, 175_000), None);
}

fn text(text: &str) -> serde_json::Value {
    json!([{"type": "text", "text": text}])
}

fn first(lines: &Lines) -> usize {
    let file = SessionFile::new(crate::facts::bytes(lines));
    let live = file.live();
    first_foldable(live.iter().map(|live| live.entry.view()))
}

#[test]
fn o6_the_summary_behind_the_boundary_is_not_folded_again() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    assert_eq!(first(&lines), 0);
    lines.reply("2", "m1", text("on it"), usage(100));
    lines.boundary("3", "4", json!({"trigger": "auto"}));
    assert_eq!(first(&lines), 2);
    lines.user("5", "next");
    lines.reply("6", "m2", text("done"), usage(100));
    assert_eq!(first(&lines), 2);
    let summary = json!({"type": "user", "isCompactSummary": true,
        "message": {"role": "user", "content": "of the recent part"}});
    lines.add("7", summary);
    assert_eq!(
        first(&lines),
        2,
        "a later summary is an entry like any other"
    );
}

#[test]
fn o6_generated_sessions_are_folded_at_safe_cuts_behind_their_summary() {
    let mut folded = 0;
    for seed in 0..8 {
        let spec = SessionSpec::new(seed, 60).compaction(CompactionSchedule::EveryRounds(40));
        let file = SessionFile::new(spec.generate().bytes);
        let live = file.live();
        let pieces: Vec<ViewPiece> = live.iter().map(|live| live.piece.clone()).collect();
        let weights: Vec<Estimate> = live
            .iter()
            .map(|live| Estimate::new(live.entry.bytes().len() as u64 / 4))
            .collect();
        let first = first_foldable(live.iter().map(|live| live.entry.view()));
        let used = weights.iter().copied().sum::<Estimate>().padded();
        let limits = limits((used * 5 / 4).max(4_000));
        if let Some(chosen) = choose(&pieces, &weights, first, &limits, used) {
            check(&pieces, &weights, first, &limits, &chosen);
            folded += 1;
        }
    }
    assert!(folded >= 4, "{folded} of 8");
}

proptest! {
    #[test]
    fn o6_chosen_spans_are_whole_ordered_and_never_reach_into_what_is_kept(
        view in prop::collection::vec(hostile(), 1..9).prop_map(|parts| {
            let parts = parts.into_iter().enumerate();
            parts.flat_map(|(at, part)| renamed(part, at)).collect::<Vec<_>>()
        }),
        weights in prop::collection::vec(0_u64..800, 240),
        window in 4_000_u64..20_000,
        first in 0_usize..6,
        used in 0_u64..40_000,
    ) {
        let weights: Vec<Estimate> = weights.into_iter().take(view.len()).map(Estimate::new).collect();
        let limits = limits(window);
        let boundary = view.iter().rposition(|piece| piece.part == PieceKind::Boundary);
        let floor = boundary.map_or(0, |at| at + 1).max(first);
        if let Some(chosen) = choose(&view, &weights, first, &limits, used) {
            check(&view, &weights, floor, &limits, &chosen);
        }
    }

    #[test]
    fn o6_folding_again_and_again_ends(
        turns in prop::collection::vec((1_usize..6, 10_u64..4_000), 1..40),
        window in 4_000_u64..200_000,
    ) {
        let limits = limits(window);
        let mut made = Made::turns(0, 0, 0);
        for (at, (rounds, each)) in turns.iter().enumerate() {
            let turn = Made::turns(1, *rounds, *each);
            made.pieces.extend(renamed(turn.pieces, at));
            made.weights.extend(turn.weights);
        }
        let mut used = made.weight();
        let mut folds = 0;
        let mut steps = 0;
        while let Some(chosen) = made.choose(&limits, used + folds) {
            check(&made.pieces, &made.weights, 0, &limits, &chosen);
            let before = used + folds;
            folds += limits.fold_weight() * chosen.spans.len() as u64;
            made.pieces.drain(..chosen.cut);
            made.weights.drain(..chosen.cut);
            used = made.weight();
            prop_assert!(used + folds < before, "each makes room");
            steps += 1;
            prop_assert!(steps < 200);
        }
    }
}
