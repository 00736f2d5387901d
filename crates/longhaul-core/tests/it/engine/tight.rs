//! Tests the view where other things leave too little room for the user's words: what is cut, and that the room is used
//! (X1, Y1). What hooks say takes the room, because no draft leaves that out.

use longhaul_core::engine::{CompactFailure, CompactRequest, EngineInput, HookOutcome, Summarizer};
use longhaul_core::rehydrate::{FileText, RestoreSourceResult};

use super::desk::{Answer, Desk, GOOD, Sum, long};

/// The limits of a window of 20,000: of automatic compaction, of input, and of what can be sent.
const LIMITS: [u64; 3] = [13_400, 15_400, 16_000];

/// Returns a text of so many estimated tokens.
fn text(tokens: usize) -> &'static str {
    Box::leak("word ".repeat(tokens * 3 / 5).into_boxed_str())
}

fn hooks_say(desk: &mut Desk, tokens: usize) {
    desk.session_start = HookOutcome {
        context: vec![text(tokens).into()],
        ..HookOutcome::default()
    };
}

/// Returns a summary with many lines that can be left out one by one.
fn many_lines() -> &'static str {
    let more = "- one more line of the summary\n".repeat(220);
    let written = GOOD.replace("</summary>", &more) + "</summary>";
    Box::leak(written.into_boxed_str())
}

/// The number of these lines in the newest summary message.
fn lines_left(desk: &Desk) -> usize {
    let lines = desk.transcript.iter();
    let lines = lines.map(|line| String::from_utf8_lossy(line).into_owned());
    let summaries = lines.filter(|line| line.contains("\"isCompactSummary\":true"));
    summaries.last().unwrap().matches("one more line").count()
}

fn words_were_cut(desk: &Desk) -> bool {
    let notes = desk.last_compaction().report.notes.join(" ");
    notes.contains("the user's newest messages were kept first")
}

/// Fills the window with these requests and a long answer, lets hooks say so many tokens and the compaction do its work,
/// and stops before the next request is sent.
fn full(wishes: impl Iterator<Item = String>, said: usize) -> Desk {
    let mut desk = Desk::new();
    for wish in wishes {
        desk.exchange(&wish, Answer::Says("Done.", 300));
    }
    desk.exchange("What is next?", Answer::Says(text(14_000), 15_990));
    desk.sums.push_back(Sum::Writes(many_lines()));
    hooks_say(&mut desk, said);
    desk.say("Go on.");
    desk.hold = Some("send");
    desk.turn();
    desk
}

fn short_wishes(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|at| format!("Step {at}: look at record {at} and tell me what it is for."))
}

fn long_wishes(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|at| {
        let wish = format!("look at record {at} and tell me what it is for. ");
        format!("Step {at}: {}", wish.repeat(15))
    })
}

/// Asserts that the words were cut no further than to a limit. `said` is what hooks said.
fn assert_room_is_used(desk: &Desk, said: usize) {
    let used = desk.engine.status().used;
    // A quarter of the words' budget must have room, and the rest of the view takes some hundred tokens.
    let limit = match said {
        ..11_800 => LIMITS[0],
        12_600..13_800 => LIMITS[1],
        14_700.. => LIMITS[2],
        _ => *LIMITS.iter().find(|limit| **limit > used).unwrap(),
    };
    assert!(used < limit, "{used} of {limit}, hooks said {said}");
    assert!(used + 16 >= limit, "{used} of {limit}, hooks said {said}");
}

#[test]
fn x1_words_that_must_be_cut_fill_the_room_below_the_limit() {
    let mut cut = 0;
    for said in (10_000..15_000).step_by(350) {
        let desk = full(short_wishes(120), said);
        assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
        if words_were_cut(&desk) {
            assert_room_is_used(&desk, said);
            cut += 1;
        }
    }
    assert!(cut > 8, "{cut}");
}

#[test]
fn x1_what_the_users_words_leave_of_the_room_is_for_the_summary() {
    let mut filled = 0;
    for said in (9_360..15_000).step_by(170) {
        let desk = full(long_wishes(20), said);
        if words_were_cut(&desk) {
            assert_room_is_used(&desk, said);
            filled = lines_left(&desk).max(filled);
        }
    }
    assert!(filled >= 2, "{filled}");
}

#[test]
fn x1_where_even_the_window_leaves_no_room_the_users_words_are_not_cut_for_nothing() {
    for said in [16_000, 17_000] {
        let desk = full(long_wishes(20), said);
        if desk.compactions() == 1 {
            assert!(
                !words_were_cut(&desk),
                "{:?}",
                desk.last_compaction().report
            );
            assert_eq!(desk.last_compaction().report.user_messages.omitted, 0);
        }
    }
}

#[test]
fn y1_an_approved_summary_that_must_be_cut_keeps_what_has_room() {
    let mut most = 0;
    for said in (9_400..11_800).step_by(170) {
        let mut desk = Desk::new();
        for wish in long_wishes(20) {
            desk.exchange(&wish, Answer::Says("Done.", 300));
        }
        desk.exchange("What is next?", Answer::Says(text(14_000), 15_990));
        hooks_say(&mut desk, said);
        desk.input(EngineInput::Compact(CompactRequest {
            approved: Some(
                many_lines()
                    .replace("<summary>", "")
                    .replace("</summary>", ""),
            ),
            ..CompactRequest::default()
        }));
        assert_eq!(desk.last_compaction().by, Summarizer::Approved);
        if words_were_cut(&desk) {
            let used = desk.engine.status().used;
            assert!(used < LIMITS[0] && used + 16 >= LIMITS[0], "{used}");
            most = lines_left(&desk).max(most);
        }
    }
    assert!(most >= 1, "{most}");
}

#[test]
fn x1_below_the_threshold_no_words_are_cut_for_what_hooks_say() {
    let mut desk = Desk::new();
    for wish in short_wishes(60) {
        desk.exchange(&wish, Answer::Says("Done.", 300));
    }
    desk.exchange("What is next?", Answer::Says(long(), 6_000));
    let lines = desk.lines_written();
    hooks_say(&mut desk, 4_200);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::WouldNotShrink]);
    assert_eq!(desk.lines_written(), lines, "nothing was replaced");
    assert_eq!(desk.lost_replies(), 1, "the summary is paid for");
}

#[test]
fn x1_words_that_fill_their_share_leave_the_rest_of_the_window_free() {
    let mut desk = Desk::new();
    for wish in short_wishes(600) {
        desk.exchange(&wish, Answer::Says("Done.", 300));
    }
    desk.exchange("What is next?", Answer::Says(text(5_000), 15_990));
    desk.say("Go on.");
    desk.turn();
    let done = desk.last_compaction();
    assert!(done.report.user_messages.omitted > 0, "{:?}", done.report);
    // Two fifths of what is free below the threshold are for the words.
    let share = LIMITS[0] * 2 / 5;
    assert!(
        done.after > share - 500 && done.after < share + 1_200,
        "{done:?}"
    );
}

#[test]
fn y4_no_rule_is_shortened_while_there_is_room_for_it() {
    let mut desk = Desk::new();
    let why = "because the old part of the system still reads it every night ".repeat(8);
    let rules: String = (0..40)
        .map(|at| format!("Never touch the table number {at}, {why}. "))
        .collect();
    desk.exchange(&rules, Answer::Says("I will not.", 7_300));
    desk.exchange("What is next?", Answer::Says(long(), 12_500));
    desk.input(EngineInput::Compact(CompactRequest {
        local: true,
        ..CompactRequest::default()
    }));
    let report = &desk.last_compaction().report;
    assert_eq!(report.rules.verbatim, report.rules.total, "{report:?}");
    assert_eq!(report.rules.total, 40);
}

#[test]
fn f10_the_report_says_what_was_left_out_to_make_the_view_fit() {
    let note = |said: usize| {
        let desk = full(short_wishes(120), said);
        let notes = desk.last_compaction().report.notes.clone();
        notes.last().cloned().unwrap_or_default()
    };
    assert_eq!(note(2_000), "", "everything has room");
    let condensed = "To make the conversation fit: files, todos and the rest were not put back; the model's summary was condensed.";
    assert_eq!(note(9_000), condensed);
    let cut = "To make the conversation fit: files, todos and the rest were not put back; the model's summary was condensed; rules and the user's newest messages were kept first, and older ones as far as there was room.";
    assert_eq!(note(11_500), cut);
}

#[test]
fn f10_the_report_says_that_files_would_have_made_the_view_no_smaller() {
    let mut desk = Desk::new();
    desk.exchange("What is next?", Answer::Says(text(1_100), 6_000));
    desk.files = vec![RestoreSourceResult::Found(FileText {
        path: "/p/a.rs".into(),
        text: text(3_000).into(),
    })];
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let report = &desk.last_compaction().report;
    let note = "The conversation would not have become smaller otherwise: files, todos and the rest were not put back.";
    assert_eq!(report.notes.last().unwrap(), note, "{report:?}");
}
