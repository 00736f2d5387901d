//! Tests rounds, and requests to summarize that are too long themselves.

use longhaul_core::message::Id;
use longhaul_core::rounds::{
    MARKER, MOST_RETRIES, PieceKind, RequestLead, RequestShortening, Rounds, ShortenedRequest,
    ShorteningExhausted, ViewPiece, drop_oldest,
};
use longhaul_core::tokens::Estimate;
use proptest::prelude::*;
use serde_json::json;

use crate::cut::{hostile, is_safe};
use crate::lines::{Lines, usage};
use crate::session_file::SessionFile;

fn pieces(lines: &Lines) -> Vec<ViewPiece> {
    let (table, conversation, _) = lines.resolve();
    let rows = conversation.view().rows.iter();
    rows.map(|at| ViewPiece::of_row(&table, &table.rows()[*at as usize]))
        .collect()
}

fn text(text: &str) -> serde_json::Value {
    json!([{"type": "text", "text": text}])
}

/// Returns rounds as lists of line numbers.
fn grouped(lines: &Lines) -> Vec<Vec<u64>> {
    let view = lines.view();
    let rounds = Rounds::of(&pieces(lines));
    (0..rounds.len())
        .map(|round| view[rounds.pieces(round)].to_vec())
        .collect()
}

#[test]
fn l1_what_precedes_the_first_response_is_round_0_and_a_prompt_belongs_to_the_round_before_it() {
    let mut lines = Lines::default();
    lines.user("1", "go").user("2", "and this");
    lines.call("3", "m1", "Read", "t1", usage(100));
    lines.result("4", "t1", "one");
    lines.reply("5", "m2", text("done"), usage(100));
    lines.user("6", "next");
    lines.reply("7", "m3", text("ok"), usage(100));
    assert_eq!(
        grouped(&lines),
        [vec![1, 2], vec![3, 4], vec![5, 6], vec![7]]
    );
}

#[test]
fn l1_m6_lines_of_one_response_with_results_between_them_are_one_round() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(100));
    lines.after("2").result("3", "t1", "one");
    lines.after("2").call("4", "m1", "Read", "t2", usage(100));
    lines.result("5", "t2", "two");
    lines.reply("6", "m2", text("done"), usage(100));
    assert_eq!(grouped(&lines), [vec![1], vec![2, 3, 4, 5], vec![6]]);
}

#[test]
fn l1_a_result_that_came_late_keeps_its_rounds_together() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Bash", "t1", usage(100));
    lines.reply("3", "m2", text("meanwhile"), usage(100));
    lines.result("4", "t1", "late");
    lines.reply("5", "m3", text("done"), usage(100));
    assert_eq!(grouped(&lines), [vec![1], vec![2, 3, 4], vec![5]]);
}

#[test]
fn l1_a_boundary_and_its_summary_are_round_0() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.boundary("2", "3", json!({"trigger": "auto"}));
    lines.reply("4", "m1", text("on"), usage(100));
    assert_eq!(grouped(&lines), [vec![2, 3], vec![4]]);
}

/// Returns a prompt and then responses without tools: as many rounds and one more.
fn plain(responses: usize) -> Vec<ViewPiece> {
    let piece = |part| ViewPiece {
        part,
        calls: Vec::new(),
        answers: Vec::new(),
    };
    let response = |at: usize| PieceKind::Response(Some(Id::of(&format!("m{at}"))));
    std::iter::once(PieceKind::Input)
        .chain((0..responses).map(response))
        .map(piece)
        .collect()
}

fn weights(count: usize, each: u64) -> Vec<Estimate> {
    vec![Estimate::new(each); count]
}

#[test]
fn l1_the_oldest_rounds_go_until_their_padded_estimate_covers_the_gap() {
    let pieces = plain(9);
    // Each piece weighs 300, padded 400.
    let weights = weights(10, 300);
    for (gap, rounds) in [(0, 1), (1, 1), (400, 1), (401, 2), (1_200, 3), (1_201, 4)] {
        let dropped = drop_oldest(&pieces, &weights, Some(gap)).unwrap();
        assert_eq!((dropped.rounds, dropped.from), (rounds, rounds), "{gap}");
        assert_eq!(dropped.weight, Estimate::new(300 * rounds as u64));
    }
    let all_but_one = drop_oldest(&pieces, &weights, Some(1_000_000)).unwrap();
    assert_eq!(all_but_one.rounds, 9, "the newest is still tried");
}

#[test]
fn l1_without_a_gap_a_fifth_of_the_rounds_goes_and_at_least_one() {
    for (rounds, dropped) in [(2, 1), (4, 1), (9, 1), (10, 2), (14, 2), (15, 3), (100, 20)] {
        let pieces = plain(rounds - 1);
        let done = drop_oldest(&pieces, &weights(rounds, 10), None).unwrap();
        assert_eq!(done.rounds, dropped, "{rounds}");
    }
}

#[test]
fn l1_after_three_retries_it_ends() {
    let pieces = plain(50);
    let weights = weights(51, 10);
    let mut shortening = RequestShortening::new(&pieces, &weights);
    for _ in 0..MOST_RETRIES {
        shortening.retry(None).unwrap();
    }
    assert_eq!(
        shortening.retry(None),
        Err(ShorteningExhausted::TooManyRetries)
    );
}

#[test]
fn l2_a_marker_goes_first_and_never_counts_as_a_round() {
    let pieces = plain(3);
    let weights = weights(4, 10);
    let mut shortening = RequestShortening::new(&pieces, &weights);
    let mut from = Vec::new();
    let end = loop {
        match shortening.retry(None) {
            Ok(dropped) => {
                assert_eq!(dropped.lead, RequestLead::Marker);
                from.push(dropped.from);
            }
            Err(end) => break end,
        }
    };
    assert_eq!(
        from,
        [1, 2, 3],
        "each retry drops a round of the conversation"
    );
    assert_eq!(end, ShorteningExhausted::TooManyRetries);
    crate::snapshot::check("rounds_marker", MARKER.trim_end());
}

#[test]
fn l3_with_nothing_left_to_drop_it_ends_with_a_typed_error() {
    for pieces in [Vec::new(), plain(0), plain(1)[1..].to_vec()] {
        let weights = weights(pieces.len(), 10);
        assert_eq!(
            drop_oldest(&pieces, &weights, Some(5)),
            Err(ShorteningExhausted::NothingLeft)
        );
    }
    let pieces = plain(1);
    let weights = weights(2, 10);
    let mut shortening = RequestShortening::new(&pieces, &weights);
    assert!(shortening.retry(Some(1_000)).is_ok());
    assert_eq!(
        shortening.retry(Some(1_000)),
        Err(ShorteningExhausted::NothingLeft)
    );
    let said = ShorteningExhausted::NothingLeft.to_string();
    assert!(said.contains("too long"), "{said}");
}

#[test]
fn l1_generated_sessions_have_a_round_for_each_response_of_their_view() {
    use longhaul_testkit::session::{CompactionSchedule, SessionSpec};
    for seed in 0..6 {
        let spec = SessionSpec::new(seed, 30).compaction(CompactionSchedule::EveryRounds(12));
        let file = SessionFile::new(spec.generate().bytes);
        let live = file.live();
        let pieces: Vec<ViewPiece> = live.iter().map(|live| live.piece.clone()).collect();
        let rounds = Rounds::of(&pieces);
        let mut messages: Vec<Id> = live
            .iter()
            .filter(|live| live.piece.part.is_response())
            .filter_map(|live| live.entry.view().message_id())
            .collect();
        messages.dedup();
        messages.sort();
        messages.dedup();
        let before = usize::from(
            !pieces[rounds.pieces(0).start..rounds.pieces(0).end]
                .iter()
                .any(|piece| piece.part.is_response()),
        );
        assert_eq!(rounds.len(), messages.len() + before, "seed {seed}");
    }
}

proptest! {
    #[test]
    fn l1_rounds_cover_the_view_and_never_hold_half_a_pair(view in hostile()) {
        let rounds = Rounds::of(&view);
        let mut at = 0;
        for round in 0..rounds.len() {
            let pieces = rounds.pieces(round);
            prop_assert_eq!(pieces.start, at);
            prop_assert!(is_safe(&view, pieces.start));
            prop_assert!(view[pieces.clone()].iter().any(|piece| piece.part.is_sent()));
            at = pieces.end;
        }
        prop_assert!(rounds.is_empty() || at == view.len());
    }

    #[test]
    fn l2_every_retry_makes_progress_and_leaves_a_whole_suffix(
        view in hostile(),
        gaps in prop::collection::vec(prop::option::of(0_u64..400), 3),
        weight in 0_u64..50,
    ) {
        let weights = vec![Estimate::new(weight); view.len()];
        let mut shortening = RequestShortening::new(&view, &weights);
        let mut left = Rounds::of(&view).len();
        let mut from = 0;
        for gap in gaps {
            let dropped: ShortenedRequest = match shortening.retry(gap) {
                Ok(dropped) => dropped,
                Err(end) => {
                    prop_assert_eq!(end, ShorteningExhausted::NothingLeft);
                    prop_assert!(left <= 1);
                    break;
                }
            };
            prop_assert!(dropped.rounds >= 1 && dropped.rounds < left, "some go, some stay");
            prop_assert!(view[from..dropped.from].iter().any(|piece| piece.part.is_sent()));
            prop_assert!(view[dropped.from..].iter().any(|piece| piece.part.is_sent()));
            prop_assert!(is_safe(&view, dropped.from), "pairs stay whole");
            let first = view[dropped.from..].iter().find(|piece| piece.part.is_sent());
            let starts_with_response = first.is_some_and(|piece| piece.part.is_response());
            prop_assert_eq!(dropped.lead == RequestLead::Marker, starts_with_response);
            left -= dropped.rounds;
            from = dropped.from;
        }
    }
}
