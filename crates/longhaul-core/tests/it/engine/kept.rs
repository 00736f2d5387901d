//! Tests what a compaction keeps of the user's words, whatever the session, the window and the request prefix.

use longhaul_core::boundary::CompactionTrigger;
use longhaul_core::engine::{
    CompactFailure, CompactRequest, EffectFailureKind, EngineInput, Event, Summarizer,
};
use longhaul_core::prompt::RequestPrefix;
use longhaul_core::report::LossReport;
use proptest::prelude::*;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::desk::{Answer, Desk, GOOD, Setting, Sum, head, long};

/// Returns a request prefix of so many estimated tokens.
fn head_of(tokens: u64) -> RequestPrefix {
    let text = "h".repeat(tokens as usize * 3);
    RequestPrefix {
        system: to_raw_value(&json!([{"type": "text", "text": text}])).unwrap(),
        ..head("claude-opus-4-6")
    }
}

fn local() -> CompactRequest {
    CompactRequest {
        local: true,
        ..CompactRequest::default()
    }
}

/// Returns the text of the newest summary message.
fn summary(desk: &Desk) -> String {
    let lines = desk.transcript.iter().rev();
    let line = lines
        .map(|line| serde_json::from_slice::<serde_json::Value>(line).unwrap())
        .find(|line| line["isCompactSummary"] == true)
        .unwrap();
    line["message"]["content"].as_str().unwrap().to_owned()
}

fn report(desk: &Desk) -> LossReport {
    desk.last_compaction().report.clone()
}

#[test]
fn y4_a_rule_that_is_stated_again_is_kept_once_where_it_was_stated_last() {
    let mut desk = Desk::new();
    desk.exchange(
        "Build a parser. Never use regexes.",
        Answer::Says(long(), 4_000),
    );
    desk.exchange("You may now use regexes.", Answer::Says("Fine.", 4_100));
    desk.exchange(
        "Now the lexer. Never use regexes.",
        Answer::Says("Fine.", 4_200),
    );
    desk.input(EngineInput::Compact(local()));
    assert_eq!(report(&desk).rules.total, 2, "the rule, and its revocation");
    let rules = desk.engine.live().facts().rules();
    let rules: Vec<(&str, u32)> = rules
        .iter()
        .map(|rule| (rule.text.as_str(), rule.ordinal))
        .collect();
    assert_eq!(
        rules,
        [("You may now use regexes.", 2), ("Never use regexes.", 3)],
        "the revocation is overruled"
    );
}

#[test]
fn x1_below_the_threshold_a_compaction_that_would_cut_the_users_words_is_refused() {
    let mut desk = Desk::with(Setting {
        window: 1_000_000,
        ..Setting::default()
    });
    let request = "Never touch the billing tables. Always run the tests first. ".repeat(40);
    desk.exchange(&request, Answer::Says("I will keep to that.", 1_200));
    let lines = desk.transcript.len();
    for request in [local(), CompactRequest::default()] {
        desk.events.clear();
        desk.input(EngineInput::Compact(request));
        assert_eq!(desk.failures(), [CompactFailure::WouldNotShrink]);
    }
    let told = desk.events.iter().find_map(|event| match event {
        Event::CompactFailed { message, .. } => Some(message.clone()),
        _ => None,
    });
    assert!(told.unwrap().contains("only cut your own words"));
    assert_eq!(desk.transcript.len(), lines, "nothing was written");
    assert!(desk.summaries_sent.is_empty(), "and nothing was paid for");
}

#[test]
fn x1_a_summary_that_was_paid_for_is_condensed_and_not_replaced_by_extracts() {
    let mut desk = Desk::with(Setting {
        window: 1_000_000,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 4_500));
    let files = "- src/parser.rs: the tokens are read one by one\n".repeat(300);
    let paid = format!(
        "<summary>\n1. Request: a parser.\n3. Files:\n{files}8. Current: the lexer.\n9. Next: the parser.\n</summary>"
    );
    desk.sums
        .push_back(Sum::Writes(Box::leak(paid.into_boxed_str())));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let done = desk.last_compaction();
    assert_eq!(done.by, Summarizer::Fork);
    assert!(done.after < done.before);
    assert!(done.report.keeps_every_word());
    let text = summary(&desk);
    for kept in [
        "1. Request: a parser.",
        "8. Current: the lexer.",
        "9. Next: the parser.",
    ] {
        assert!(text.contains(kept), "{text}");
    }
    assert!(text.contains("left out for lack of room"), "{text}");
}

#[test]
fn x1_a_large_head_leaves_the_users_words_what_it_leaves_free() {
    // The threshold is 26,800, and the request prefix alone exceeds it; 3,800 are free below the limit at which input
    // is refused.
    let mut desk = Desk::with(Setting {
        window: 40_000,
        ..Setting::default()
    });
    desk.engine
        .handle(EngineInput::Head(Box::new(head_of(27_000))), desk.now);
    desk.run();
    for at in 0..60 {
        let text = format!("Rename the field number {at} of the record.");
        desk.exchange(&text, Answer::Says("Done.", 27_100 + at));
    }
    desk.exchange("Never rename the last one.", Answer::Says(long(), 31_000));
    desk.say("Go on.");
    desk.turn();
    assert!(desk.compactions() > 0);
    let report = report(&desk);
    assert_eq!(report.user_messages.omitted, 0, "{report:?}");
    assert!(report.keeps_every_word(), "{report:?}");
}

#[test]
fn x1_what_was_said_again_and_again_takes_room_once() {
    let mut desk = Desk::new();
    for _ in 0..400 {
        desk.exchange(
            "Please go on with the next file.",
            Answer::Says("Done.", 900),
        );
    }
    desk.exchange("What do you know about it?", Answer::Says(long(), 14_000));
    desk.say("Go on.");
    desk.turn();
    let report = report(&desk);
    assert_eq!(
        (report.user_messages.total, report.user_messages.omitted),
        (402, 0)
    );
    assert!(report.keeps_every_word(), "{report:?}");
    assert_eq!(
        summary(&desk)
            .matches("Please go on with the next file.")
            .count(),
        1
    );
}

#[test]
fn y4_newest_words_and_rules_are_kept_first_when_not_all_fit() {
    let mut desk = Desk::with(Setting {
        window: 8_000,
        ..Setting::default()
    });
    desk.exchange("Never force-push to main.", Answer::Says("Right.", 300));
    for at in 0..400 {
        let text = format!(
            "Step {at}: {}",
            "look at the next record and tell me. ".repeat(3)
        );
        desk.exchange(&text, Answer::Says("Done.", 300));
    }
    desk.exchange("What is next?", Answer::Says(long(), 6_500));
    desk.say("The newest request of all.");
    desk.sums.push_back(Sum::Fails(EffectFailureKind::Other));
    desk.turn();
    let text = summary(&desk);
    let counts = report(&desk).user_messages;
    assert!(text.contains("Never force-push to main."), "{text}");
    assert!(text.contains("The newest request of all."), "{text}");
    assert!(
        text.contains("Step 399:"),
        "the newest are kept first: {text}"
    );
    assert!(counts.omitted > 0, "not all fit: {counts:?}");
    assert_eq!(
        counts.total,
        counts.verbatim + counts.shortened + counts.omitted
    );
}

#[test]
fn y1_a_count_far_below_the_estimate_is_compared_with_a_count() {
    let mut desk = Desk::with(Setting {
        window: 8_000,
        ..Setting::default()
    });
    for at in 0..400 {
        let text = format!(
            "Step {at}: {}",
            "look at the next record and tell me. ".repeat(3)
        );
        desk.exchange(&text, Answer::Says("Done.", 300));
    }
    // The window is at the threshold, but not yet at the limit at which any compaction is better than none.
    desk.exchange("What is next?", Answer::Says(long(), 5_600));
    desk.say("The newest request of all.");
    desk.turn();
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    assert!(summary(&desk).contains("The newest request of all."));
}

#[test]
fn x9_newest_input_without_a_reply_is_not_turned_into_extracts() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 4_200));
    desk.say("Look at it.");
    desk.works("t1", 400, 4_300);
    desk.input(EngineInput::Compact(local()));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.turn();
    let sent = Desk::body(desk.sent.last().unwrap());
    let results = sent["messages"].to_string();
    assert!(
        results.contains(&"x".repeat(1_600)),
        "the result is there whole"
    );
    assert!(
        results.contains("tool_use"),
        "with the call that it answers"
    );
}

#[test]
fn y1_what_a_compaction_kept_is_nothing_new_and_a_turn_after_it_is() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 4_200));
    desk.say("Look at it.");
    desk.works("t1", 400, 4_300);
    desk.input(EngineInput::Compact(local()));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    let lines = desk.transcript.len();
    desk.input(EngineInput::Compact(local()));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::NothingNew; 2]);
    assert_eq!(desk.transcript.len(), lines, "nothing was written");
    desk.exchange("Go on with it.", Answer::Says(long(), 4_400));
    desk.input(EngineInput::Compact(local()));
    assert_eq!(desk.compactions(), 2, "{:?}", desk.failures());
}

#[test]
fn x1_after_thirty_compactions_half_of_the_free_window_is_left_to_work_in() {
    let mut desk = Desk::with(Setting {
        window: 100_000,
        ..Setting::default()
    });
    desk.engine
        .handle(EngineInput::Head(Box::new(head_of(27_000))), desk.now);
    desk.run();
    let page: &'static str = Box::leak("A long answer about it. ".repeat(1_000).into_boxed_str());
    let threshold = 67_000;
    let mut at = 0_u64;
    let mut largest = 0;
    while desk.compactions() < 30 {
        assert!(at < 2_000, "{} compactions", desk.compactions());
        let view = desk.engine.live().ledger().whole().padded();
        let said = format!(
            "Request {at}: {}",
            format!("change module {at} so that it works. ").repeat(30)
        );
        let sections = format!(
            "<summary>{}{}</summary>",
            GOOD.replace(['<', '>'], ""),
            "1. More of it: a line of a summary.\n".repeat(1_200)
        );
        desk.sums
            .push_back(Sum::Writes(Box::leak(sections.into_boxed_str())));
        // The request prefix is counted by its estimate, and the reply is added to it.
        let counted = 27_000 + view + page.len() as u64 / 4;
        desk.exchange(&said, Answer::Says(page, counted));
        desk.sums.clear();
        let done = desk.events.iter().rev().find_map(|event| match event {
            Event::Compacted(done) => Some(done),
            _ => None,
        });
        largest = done.map_or(0, |done| done.after).max(largest);
        at += 1;
    }
    let free = threshold - 27_000;
    assert!(largest * 2 <= free + 2_000, "{largest} of {free}");
    let counts = report(&desk).user_messages;
    assert_eq!(counts.omitted, 0, "nothing is left out for it: {counts:?}");
}

#[test]
fn y1_a_long_summary_that_nobody_asked_for_leaves_most_of_the_window_free() {
    let after = |trigger: CompactionTrigger, approved: bool| {
        let mut desk = Desk::with(Setting {
            window: 100_000,
            ..Setting::default()
        });
        let page: &'static str = Box::leak("A long answer. ".repeat(8_000).into_boxed_str());
        desk.exchange("Read all of it.", Answer::Says(page, 40_000));
        let written = format!("{GOOD}{}", "- one more line of the summary\n".repeat(2_000));
        let text = written.replace("</summary>", "") + "</summary>";
        let text: &'static str = Box::leak(text.into_boxed_str());
        desk.sums.push_back(Sum::Writes(text));
        desk.input(EngineInput::Compact(CompactRequest {
            trigger,
            approved: approved.then(|| text.replace("<summary>", "").replace("</summary>", "")),
            ..CompactRequest::default()
        }));
        assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
        desk.engine.live().ledger().whole().padded()
    };
    // A fifth of the free part is for the summary; below the threshold a person gets all of the written summary.
    let fifth = 67_000 / 5;
    for approved in [false, true] {
        assert!(after(CompactionTrigger::Auto, approved) < fifth + 3_000);
        assert!(after(CompactionTrigger::Manual, approved) > fifth + 3_000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the session, the window and the request prefix: below the threshold, none of the user's words are cut
    /// beyond the budget, and words that are left out truly did not fit.
    #[test]
    fn x1_what_is_left_out_of_the_users_words_truly_does_not_fit(
        window in prop_oneof![Just(8_000_u64), Just(20_000), Just(40_000), Just(200_000)],
        head_share in 0_u64..95,
        messages in prop::collection::vec((1_usize..40, 1_usize..30), 1..60),
        by_model: bool,
    ) {
        let mut desk = Desk::with(Setting { window, ..Setting::default() });
        let threshold = desk.engine.status().auto_compact;
        let head = threshold * head_share / 100;
        desk.engine.handle(EngineInput::Head(Box::new(head_of(head))), desk.now);
        desk.run();
        for (at, (words, repeated)) in messages.iter().enumerate() {
            desk.say(&format!("Request {at}: {}", "some words of it ".repeat(words * repeated / 10 + 1)));
        }
        desk.answers
            .push_back(Answer::Says("Well then, here is the answer.", 0));
        desk.input(EngineInput::Turn);
        let compactions = desk.compactions();
        let used = desk.engine.status().used;
        desk.input(EngineInput::Compact(CompactRequest { local: !by_model, ..CompactRequest::default() }));
        let done = desk.events.iter().filter_map(|event| match event {
            Event::Compacted(done) => Some(done),
            _ => None,
        });
        for done in done {
            let counts = done.report.user_messages;
            prop_assert!(done.after < done.before);
            prop_assert_eq!(counts.total, counts.verbatim + counts.shortened + counts.omitted);
            // Either the budget is used up, or one more message would be too much for the window.
            let budget = window.min(100_000) / 5;
            let truly = done.after + 400 >= budget || head + done.after + 200 >= threshold;
            prop_assert!(counts.omitted == 0 || truly, "{:?} in {window}, head {head}", done.report);
        }
        if desk.compactions() == compactions {
            let refused = |kind: &CompactFailure| matches!(kind, CompactFailure::WouldNotShrink | CompactFailure::NothingNew);
            prop_assert!(desk.failures().iter().all(refused), "{:?}", desk.failures());
        } else if used < threshold {
            let report = &desk.last_compaction().report;
            let budget = longhaul_core::facts::FactsBudget::of_window(&desk.engine.status()).tokens;
            let spoken: u64 = desk.engine.live().facts().messages().iter().map(|one| one.text.len() as u64 / 3 + 6).sum();
            prop_assert!(report.keeps_every_word() || spoken + 400 > budget, "{report:?}");
        }
    }
}
