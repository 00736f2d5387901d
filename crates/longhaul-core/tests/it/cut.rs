//! Tests where a view is cut, and what each part becomes.

use longhaul_core::message::Id;
use longhaul_core::rounds::{PieceKind, ViewPiece};
use longhaul_core::summary::{CompactionScope, PivotDirection, ReadTools, kept_files, safe_cut};
use proptest::prelude::*;
use serde_json::json;

use crate::lines::{Lines, usage};

fn id(kind: &str, number: u8) -> Id {
    Id::of(&format!("{kind}{number}"))
}

/// Returns views that no program should write: entangled responses, ids used twice, results before their calls,
/// boundaries anywhere.
pub(crate) fn hostile() -> impl Strategy<Value = Vec<ViewPiece>> {
    let message = prop::option::weighted(0.8, 0_u8..5);
    let part = (0_u8..20, message).prop_map(|(kind, message)| {
        let message = message.map(|number| id("m", number));
        match kind {
            0 => PieceKind::Boundary,
            1 | 2 => PieceKind::Unsent,
            3..=8 => PieceKind::Input,
            9..=11 => PieceKind::Reasoning(message),
            _ => PieceKind::Response(message),
        }
    });
    let calls = || prop::collection::vec(0_u8..6, 0..3);
    let piece = (part, calls(), calls()).prop_map(|(part, calls, answers)| ViewPiece {
        part,
        calls: if part.is_response() {
            calls.into_iter().map(|call| id("t", call)).collect()
        } else {
            Vec::new()
        },
        answers: match part {
            PieceKind::Input => answers.into_iter().map(|call| id("t", call)).collect(),
            _ => Vec::new(),
        },
    });
    prop::collection::vec(piece, 0..24)
}

/// Whether nothing that belongs together lies on both sides of a cut. This is computed independently here, piece by
/// piece.
pub(crate) fn is_safe(view: &[ViewPiece], cut: usize) -> bool {
    let message = |piece: &ViewPiece| match piece.part {
        PieceKind::Response(message) | PieceKind::Reasoning(message) => message,
        _ => None,
    };
    let (before, behind) = view.split_at(cut);
    let parts_a_response = before
        .iter()
        .filter_map(message)
        .any(|id| behind.iter().filter_map(message).any(|other| id == other));
    let call_of = |result: usize, call: &Id| {
        let makes = |at: &usize| view[*at].calls.contains(call);
        (0..=result)
            .rev()
            .find(makes)
            .or_else(|| (result..view.len()).find(makes))
    };
    let parts_a_pair = (0..view.len()).any(|at| {
        let answers = view[at].answers.iter();
        answers
            .filter_map(|call| call_of(at, call))
            .any(|made| (made < cut) != (at < cut))
    });
    let sent = |piece: &&ViewPiece| piece.part.is_sent();
    let last = before.iter().rfind(sent);
    let next = behind.iter().find(sent);
    let parts_reasoning = last.is_some_and(|piece| matches!(piece.part, PieceKind::Reasoning(_)))
        && next.is_some_and(|piece| piece.part.is_response());
    !(parts_a_response || parts_a_pair || parts_reasoning)
}

fn floor(view: &[ViewPiece]) -> usize {
    view.iter()
        .rposition(|piece| piece.part == PieceKind::Boundary)
        .map_or(0, |at| at + 1)
}

proptest! {
    #[test]
    fn p3_the_cut_is_safe_keeps_no_less_and_no_more_than_it_must(view in hostile(), pivot in 0_usize..26) {
        let floor = floor(&view);
        let wanted = pivot.clamp(floor, view.len());
        let up_to = safe_cut(&view, pivot, PivotDirection::UpTo);
        prop_assert!((floor..=wanted).contains(&up_to));
        prop_assert!(up_to == floor || is_safe(&view, up_to));
        prop_assert!((up_to + 1..=wanted).all(|nearer| !is_safe(&view, nearer)));
        let from = safe_cut(&view, pivot, PivotDirection::From);
        prop_assert!((wanted..=view.len()).contains(&from));
        prop_assert!(is_safe(&view, from));
        prop_assert!((wanted..from).all(|nearer| !is_safe(&view, nearer)));
    }

    #[test]
    fn p1_the_parts_make_up_the_view(view in hostile(), pivot in 0_usize..26) {
        let up_to = CompactionScope::partial(&view, pivot, PivotDirection::UpTo);
        prop_assert_eq!(up_to.summarized.start, floor(&view));
        prop_assert_eq!(up_to.summarized.end, up_to.kept.start);
        prop_assert_eq!(up_to.kept.end, view.len());
        let from = CompactionScope::partial(&view, pivot, PivotDirection::From);
        prop_assert_eq!(from.kept.start, floor(&view));
        prop_assert_eq!(from.kept.end, from.summarized.start);
        prop_assert_eq!(from.summarized.end, view.len());
    }
}

/// Returns a prompt, two parallel calls on lines of their own after a thought, their results, a reply, and a prompt.
fn parallel() -> Lines {
    let thought = json!([{"type": "thinking", "thinking": "hm", "signature": "s"}]);
    let mut lines = Lines::default();
    lines.user("0", "go");
    lines.reply("1", "m1", thought, usage(100));
    lines.call("2", "m1", "Read", "t1", usage(100));
    lines.result("3", "t1", "one");
    lines.after("2").call("4", "m1", "Read", "t2", usage(100));
    lines.result("5", "t2", "two");
    lines.reply(
        "6",
        "m2",
        json!([{"type": "text", "text": "done"}]),
        usage(200),
    );
    lines.user("7", "next");
    lines
}

fn pieces(lines: &Lines) -> Vec<ViewPiece> {
    let (table, conversation, _) = lines.resolve();
    let rows = conversation.view().rows.iter();
    rows.map(|at| ViewPiece::of_row(&table, &table.rows()[*at as usize]))
        .collect()
}

#[test]
fn p3_a_cut_never_parts_parallel_calls_their_results_or_a_thought() {
    let view = pieces(&parallel());
    for inside in 1..6 {
        assert_eq!(safe_cut(&view, inside, PivotDirection::UpTo), 1, "{inside}");
    }
    for inside in 2..6 {
        assert_eq!(safe_cut(&view, inside, PivotDirection::From), 6, "{inside}");
    }
    for safe in [0, 1, 6, 7, 8] {
        assert_eq!(safe_cut(&view, safe, PivotDirection::UpTo), safe);
        assert_eq!(safe_cut(&view, safe, PivotDirection::From), safe);
    }
}

#[test]
fn p3_a_thought_without_a_message_id_stays_with_what_follows_it() {
    let mut lines = Lines::default();
    lines.user("0", "go");
    let reply = |content| json!({"type": "assistant", "message": {"role": "assistant", "content": content}});
    lines.add(
        "1",
        reply(json!([{"type": "thinking", "thinking": "hm", "signature": "s"}])),
    );
    lines.add("2", reply(json!([{"type": "text", "text": "so"}])));
    lines.add("3", reply(json!([{"type": "text", "text": "and"}])));
    let view = pieces(&lines);
    assert_eq!(safe_cut(&view, 2, PivotDirection::UpTo), 1);
    assert_eq!(safe_cut(&view, 3, PivotDirection::UpTo), 3);
}

#[test]
fn p3_an_id_that_a_program_uses_again_does_not_glue_the_conversation_together() {
    let mut lines = Lines::default();
    lines.user("0", "go");
    lines.call("1", "m1", "Read", "call_0", usage(100));
    lines.result("2", "call_0", "one");
    lines.call("3", "m2", "Read", "call_0", usage(100));
    lines.result("4", "call_0", "two");
    let view = pieces(&lines);
    assert_eq!(safe_cut(&view, 3, PivotDirection::UpTo), 3);
    assert_eq!(safe_cut(&view, 4, PivotDirection::UpTo), 3);
    assert_eq!(safe_cut(&view, 2, PivotDirection::UpTo), 1);
}

#[test]
fn p3_the_cut_never_passes_the_boundary() {
    let mut lines = parallel();
    lines.boundary("8", "9", json!({"trigger": "auto"}));
    lines.user("10", "on");
    let view = pieces(&lines);
    assert_eq!(view[0].part, PieceKind::Boundary);
    assert_eq!(safe_cut(&view, 0, PivotDirection::UpTo), 1);
    assert_eq!(safe_cut(&view, 0, PivotDirection::From), 1);
    assert_eq!(safe_cut(&view, 99, PivotDirection::UpTo), 3);
}

#[test]
fn f2_everything_from_the_last_boundary_on_is_summarized_the_earlier_summary_too() {
    let mut lines = parallel();
    let all = CompactionScope::whole(&pieces(&lines));
    assert_eq!((all.sent.clone(), all.kept.len()), (0..8, 0));
    lines.boundary("8", "9", json!({"trigger": "auto"}));
    lines.user("10", "on");
    let view = pieces(&lines);
    let chained = CompactionScope::whole(&view);
    assert_eq!(chained.sent, 1..3, "the summary is part of the input");
    assert_eq!(chained.summarized, chained.sent);
    assert_eq!(chained.messages(&view), 2);
}

#[test]
fn p2_up_to_sends_what_lies_before_the_pivot_and_from_sends_everything() {
    let view = pieces(&parallel());
    let up_to = CompactionScope::partial(&view, 6, PivotDirection::UpTo);
    assert_eq!(
        (up_to.sent, up_to.summarized, up_to.kept),
        (0..6, 0..6, 6..8)
    );
    let from = CompactionScope::partial(&view, 6, PivotDirection::From);
    assert_eq!((from.sent, from.summarized, from.kept), (0..8, 6..8, 0..6));
    let nothing = CompactionScope::partial(&view, 0, PivotDirection::UpTo);
    assert_eq!(nothing.messages(&view), 0, "nothing to sum up");
}

#[test]
fn p4_files_that_the_kept_part_shows_are_named() {
    let mut lines = Lines::default();
    let read = |lines: &mut Lines, number: usize, tool: &str, result: serde_json::Value| {
        let input = json!({"file_path": format!("/p/{number}.rs")});
        let call =
            json!([{"type": "tool_use", "id": format!("t{number}"), "name": tool, "input": input}]);
        lines.reply(
            &format!("c{number}"),
            &format!("m{number}"),
            call,
            usage(100),
        );
        let mut block = json!({"type": "tool_result", "tool_use_id": format!("t{number}")});
        for (key, value) in result.as_object().unwrap() {
            block[key] = value.clone();
        }
        lines.add(
            &format!("r{number}"),
            json!({"type": "user", "message": {"content": [block]}}),
        );
    };
    read(&mut lines, 1, "Read", json!({"content": "1 fn main"}));
    read(
        &mut lines,
        2,
        "Read",
        json!({"content": "Unchanged since it was read."}),
    );
    read(
        &mut lines,
        3,
        "Read",
        json!({"content": "no such file", "is_error": true}),
    );
    read(&mut lines, 4, "Grep", json!({"content": "hit"}));
    read(
        &mut lines,
        5,
        "Read",
        json!({"content": [{"type": "text", "text": "1 struct"}]}),
    );
    read(&mut lines, 6, "Read", json!({"content": "was cleared"}));
    lines.call("c7", "m7", "Read", "t7", usage(100));
    let lines = lines.lines.iter().map(|line| line.clone().into());
    let entries: Vec<_> = lines
        .map(|line| longhaul_core::message::Entry::read(line).unwrap())
        .collect();
    let tools = ReadTools {
        names: &["Read"],
        unchanged: "Unchanged since",
        cleared: &[Id::of("t6")],
    };
    let files = kept_files(entries.iter().map(|entry| entry.view()), tools);
    assert_eq!(
        files.into_iter().collect::<Vec<_>>(),
        ["/p/1.rs", "/p/5.rs"]
    );
}
