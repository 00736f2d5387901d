//! Tests how a draft is judged where the provider counts other than the estimate: the request prefix is counted once,
//! and only the rest is scaled (Y1).

use longhaul_core::engine::{
    CompactFailure, CompactRequest, EngineInput, HookOutcome, Pivot, PrefixRecording, Summarizer,
    SummarizerSetting,
};
use longhaul_core::prompt::RequestPrefix;
use longhaul_core::rehydrate::{FileText, RestoreSourceResult};
use longhaul_core::summary::PivotDirection;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, GOOD, Setting, Sum, head, long};

/// Returns a text of so many estimated tokens.
fn text(tokens: usize) -> &'static str {
    Box::leak("word ".repeat(tokens * 3 / 5).into_boxed_str())
}

/// Makes a hook say so many estimated tokens after the summary; no draft leaves that out.
fn hooks_say(desk: &mut Desk, tokens: usize) {
    desk.session_start = HookOutcome {
        context: vec![text(tokens).into()],
        ..HookOutcome::default()
    };
}

/// Gives a file of so many lines back to whoever gathers what is restored.
fn file(desk: &mut Desk, lines: usize) {
    desk.files = vec![RestoreSourceResult::Found(FileText {
        path: "/p/a.rs".into(),
        text: "fn a() {}\n".repeat(lines),
    })];
}

#[test]
fn y1_the_first_reply_tells_what_the_request_prefix_counts_and_the_rest_has_what_it_leaves() {
    // The prefix is estimated at a few tokens and counted as 50,000; the threshold is 67,000.
    let mut seen = [0, 0];
    for said in (13_000..16_500).step_by(250) {
        let mut desk = Desk::with(Setting {
            window: 100_000,
            ..Setting::default()
        });
        desk.exchange("Build a parser.", Answer::Says("I will.", 50_000));
        desk.exchange("What of it?", Answer::Says(text(20_000), 70_000));
        hooks_say(&mut desk, said);
        file(&mut desk, 400);
        desk.input(EngineInput::Compact(CompactRequest::default()));
        let done = desk.last_compaction();
        let restored = done.report.files.restored;
        let counted = 50_000 + done.after;
        if restored == 1 {
            assert!(counted < 67_000 + 100, "{counted}");
        } else {
            let with_file = counted + 2_000;
            assert!(with_file > 67_000 - 100, "{with_file}");
        }
        seen[usize::from(restored == 1)] += 1;
    }
    assert!(seen.iter().all(|times| *times > 0), "{seen:?}");
}

#[test]
fn y1_a_prefix_never_counts_more_than_the_view_leaves_of_the_count() {
    let mut desk = Desk::new();
    // The cache of the first request is counted generously, that of the second is not.
    desk.exchange("Build a parser.", Answer::Says("I will.", 9_000));
    desk.exchange("What of it?", Answer::Says(long(), 6_000));
    file(&mut desk, 10);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    assert_eq!(desk.last_compaction().report.files.restored, 1);
}

#[test]
fn y1_a_gain_is_the_difference_of_two_counts_where_the_provider_counts_less() {
    let mut desk = Desk::new();
    for _ in 0..5 {
        desk.exchange("Build a parser.", Answer::Says(text(5_000), 8_000));
    }
    desk.exchange("Is it done?", Answer::Says("It is.", 13_500));
    hooks_say(&mut desk, 11_500);
    desk.say("Go on.");
    desk.turn();
    // By the estimate, 12,000 tokens are left of 13,500; by the count, half of that.
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
}

#[test]
fn y1_where_the_estimate_is_right_what_a_hook_says_is_no_gain() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(text(13_200), 13_500));
    hooks_say(&mut desk, 11_500);
    desk.say("Go on.");
    desk.turn();
    assert_eq!(desk.compactions(), 0);
    assert_eq!(desk.failures(), [CompactFailure::WouldNotShrink]);
}

#[test]
fn y1_a_prefix_that_is_not_known_takes_nothing_of_the_room() {
    let restored = |prefixes: PrefixRecording| {
        let mut desk = Desk::with(Setting {
            prefixes,
            ..Setting::default()
        });
        let text = "h".repeat(12_500 * 3);
        let prefix = RequestPrefix {
            system: to_raw_value(&json!([{"type": "text", "text": text}])).unwrap(),
            ..head("claude-opus-4-6")
        };
        desk.input(EngineInput::Head(Box::new(prefix)));
        desk.exchange("Build a parser.", Answer::Says("I will.", 12_500));
        desk.exchange("What of it?", Answer::Says(long(), 16_500));
        hooks_say(&mut desk, 2_300);
        file(&mut desk, 150);
        desk.input(EngineInput::Compact(CompactRequest {
            local: true,
            ..CompactRequest::default()
        }));
        assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
        desk.last_compaction().report.files.restored
    };
    assert_eq!(restored(PrefixRecording::Written), 0);
    assert_eq!(restored(PrefixRecording::Unknown), 1);
}

#[test]
fn y1_extracts_that_take_too_much_room_are_made_again_and_not_condensed() {
    let mut shortened = 0;
    for said in (11_000..13_200).step_by(100) {
        let mut desk = Desk::new();
        for at in 0..20 {
            let wish = format!("Part {at}: tell me what is in src/part_{at}.rs.");
            desk.exchange(&wish, Answer::Says(text(600), 9_000));
        }
        hooks_say(&mut desk, said);
        desk.input(EngineInput::Compact(CompactRequest {
            local: true,
            ..CompactRequest::default()
        }));
        let Some(summary) = desk.transcript.iter().find_map(|line| {
            let line: Value = serde_json::from_slice(line).unwrap();
            (line["isCompactSummary"] == true).then(|| line["message"]["content"].to_string())
        }) else {
            continue;
        };
        let told = desk.last_compaction().report.notes.join(" ");
        shortened += usize::from(told.contains("the summary was made shorter"));
        assert!(!summary.contains("left out for lack of room"), "{summary}");
    }
    assert!(shortened > 0);
}

#[test]
fn y1_a_summary_is_condensed_before_it_takes_the_share_of_the_users_words() {
    let mut desk = Desk::new();
    for at in 0..400 {
        let wish = format!("Step {at}: {}", "look at the next record. ".repeat(4));
        desk.exchange(&wish, Answer::Says("Done.", 300));
    }
    desk.exchange("What is next?", Answer::Says(long(), 13_600));
    let more = "- one more line of the summary\n".repeat(220);
    let written = GOOD.replace("</summary>", &more) + "</summary>";
    desk.sums
        .push_back(Sum::Writes(Box::leak(written.into_boxed_str())));
    hooks_say(&mut desk, 6_000);
    desk.say("Go on.");
    desk.turn();
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    let done = desk.last_compaction();
    assert_eq!(done.by, Summarizer::Fork);
    let told = done.report.notes.join(" ");
    assert!(told.contains("summary was condensed"), "{:?}", done.report);
}

#[test]
fn x1_below_the_threshold_a_compaction_by_hand_gives_the_users_words_all_the_room() {
    let mut desk = Desk::new();
    for at in 0..300 {
        let wish = format!("Step {at}: look at record {at} and tell me what it is for.");
        desk.exchange(&wish, Answer::Says("Done.", 300));
    }
    desk.exchange("What is next?", Answer::Says(long(), 12_500));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let counts = desk.last_compaction().report.user_messages;
    assert_eq!((counts.total, counts.omitted), (301, 0), "{counts:?}");
}

#[test]
fn x1_words_that_are_kept_where_they_stand_are_not_repeated_beside_the_summary() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 5_000));
    desk.exchange(
        "Never rename the lexer.",
        Answer::Says("I will not.", 6_000),
    );
    let wish = desk.transcript.iter().find_map(|line| {
        let line: Value = serde_json::from_slice(line).unwrap();
        let said = line["message"]["content"] == "Never rename the lexer.";
        said.then(|| line["uuid"].as_str().unwrap().to_owned())
    });
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot {
            uuid: wish.unwrap(),
            direction: PivotDirection::UpTo,
        }),
        ..CompactRequest::default()
    }));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.exchange("Go on.", Answer::Says("Yes.", 3_000));
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    assert_eq!(sent.matches("Never rename the lexer.").count(), 1, "{sent}");
}

#[test]
fn n3_a_provider_summary_that_must_be_condensed_is_not_sent_as_the_signed_block() {
    let mut desk = Desk::with(Setting {
        summarizer: SummarizerSetting::Provider,
        ..Setting::default()
    });
    desk.fill();
    let block = json!([{"type": "compaction", "content": text(6_000),
        "encrypted_content": null, "signature": "sig1"}]);
    desk.sums.push_back(Sum::Provider(block));
    desk.turn();
    assert_eq!(desk.last_compaction().by, Summarizer::Provider);
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    assert!(!sent.contains("sig1"), "{sent}");
}

#[test]
fn y1_a_compaction_leaves_less_than_the_threshold_allows_if_it_is_told_to() {
    let left = |most_left: Option<u64>| {
        let mut desk = Desk::new();
        for at in 0..20 {
            let wish = format!("Part {at}: tell me what is in src/part_{at}.rs.");
            desk.exchange(&wish, Answer::Says(text(600), 9_000));
        }
        hooks_say(&mut desk, 2_000);
        desk.input(EngineInput::Compact(CompactRequest {
            local: true,
            most_left,
            ..CompactRequest::default()
        }));
        assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
        desk.last_compaction().report.tokens.after
    };
    let as_usual = left(None);
    assert_eq!(left(Some(u64::MAX)), as_usual);
    assert!(left(Some(4_000)) < as_usual, "{as_usual}");
}
