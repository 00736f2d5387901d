//! Tests what a compaction must free, and what is restored beside the summary, where a large request prefix leaves
//! little of the window.

use longhaul_core::engine::{CompactFailure, EngineInput, Event, Summarizer};
use longhaul_core::prompt::RequestPrefix;
use longhaul_core::rehydrate::{FileText, RestoreSourceResult};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::desk::{Answer, Desk, Setting, head};

/// Returns a conversation in a window of so many tokens, with a request prefix of so many estimated tokens.
fn with_prefix(window: u64, tokens: usize) -> Desk {
    let mut desk = Desk::with(Setting {
        window,
        ..Setting::default()
    });
    let text = "h".repeat(tokens * 3);
    let prefix = RequestPrefix {
        system: to_raw_value(&json!([{"type": "text", "text": text}])).unwrap(),
        ..head("claude-opus-4-6")
    };
    desk.input(EngineInput::Head(Box::new(prefix)));
    desk
}

/// Returns an answer of so many estimated tokens.
fn answer(tokens: usize) -> &'static str {
    Box::leak("word ".repeat(tokens * 3 / 5).into_boxed_str())
}

/// Returns a conversation of 1,700 tokens after a request prefix of so many, of which a compaction cannot free the
/// tenth of the window that it must.
fn with_little_to_free(prefix: usize, used: u64) -> Desk {
    let mut desk = with_prefix(20_000, prefix);
    desk.exchange("Build a parser.", Answer::Says(answer(1_600), used));
    desk.events.clear();
    desk.summaries_sent.clear();
    desk
}

#[test]
fn y1_a_threshold_makes_no_compaction_that_frees_too_little_and_rests_then() {
    let mut desk = with_little_to_free(11_700, 13_500);
    desk.exchange("Go on.", Answer::Says("Yes.", 13_550));
    assert_eq!(desk.compactions(), 0);
    assert_eq!(desk.failures(), [CompactFailure::WouldNotShrink]);
    assert_eq!(desk.sent.len(), 2, "the turn goes on");
    let asked = desk.summaries_sent.len();
    desk.exchange("And now?", Answer::Says("Yes.", 13_600));
    desk.exchange("And then?", Answer::Says("Yes.", 14_500));
    assert_eq!(desk.summaries_sent.len(), asked, "nobody is asked again");
    assert_eq!(desk.failures().len(), 1, "and nothing fails again");
}

#[test]
fn y1_a_full_window_is_compacted_however_little_that_frees() {
    let mut desk = with_little_to_free(13_300, 15_700);
    desk.exchange("Go on.", Answer::Says("Yes.", 14_500));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    let done = desk.last_compaction();
    assert!(done.before - done.after < 2_000, "less than a tenth");
}

#[test]
fn y1_above_the_threshold_as_much_is_restored_as_the_next_limit_has_room_for() {
    // The request prefix alone exceeds the threshold of 26,800; input is refused at 30,800.
    let restored = |lines: usize| {
        let mut desk = with_prefix(40_000, 27_000);
        desk.exchange("Build a parser.", Answer::Says(answer(3_500), 30_900));
        desk.events.clear();
        desk.files = vec![RestoreSourceResult::Found(FileText {
            path: "/p/a.rs".into(),
            text: "fn a() {}\n".repeat(lines),
        })];
        desk.exchange("Go on.", Answer::Says("Yes.", 28_000));
        assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
        let done = desk.last_compaction();
        assert_eq!(done.by, Summarizer::Fork);
        assert!(done.report.keeps_every_word(), "{:?}", done.report);
        let over = |event: &Event| matches!(event, Event::ThresholdExceededAfter { .. });
        assert!(desk.events.iter().any(over), "the user is told");
        let told = done.report.notes.join(" ");
        assert!(
            !told.contains("were kept first"),
            "no words are cut: {told}"
        );
        assert!(!told.contains("condensed"), "nor the summary: {told}");
        done.report.files.restored
    };
    assert_eq!(restored(100), 1);
    assert_eq!(restored(1_200), 0);
}

#[test]
fn y1_nobody_is_told_of_a_threshold_that_a_compaction_stays_below() {
    let mut desk = Desk::new();
    desk.fill();
    desk.turn();
    assert_eq!(desk.compactions(), 1);
    let over = |event: &Event| matches!(event, Event::ThresholdExceededAfter { .. });
    assert!(!desk.events.iter().any(over));
}
