//! Tests compactions that succeed.

use longhaul_core::boundary::CompactionTrigger;
use longhaul_core::engine::{
    CompactFailure, CompactRequest, CompactionPhase, EngineInput, Event, HookOutcome, Pivot,
    Summarizer,
};
use longhaul_core::rehydrate::{FileText, RestoreSourceResult};
use longhaul_core::summary::PivotDirection;

use super::desk::{Answer, Desk, GOOD, Sum, long};

fn compacted(desk: &Desk) -> &longhaul_core::engine::CompactionSuccess {
    let last = desk.events.iter().rev().find_map(|event| match event {
        Event::Compacted(done) => Some(done),
        _ => None,
    });
    last.unwrap()
}

#[test]
fn f1_the_steps_come_in_order_and_the_turn_goes_on() {
    let mut desk = Desk::new();
    desk.fill();
    desk.asked.clear();
    desk.turn();
    assert_eq!(
        desk.asked,
        [
            "PreCompact auto",
            "summarize",
            "gather",
            "SessionStart",
            "archive",
            "persist",
            "PostCompact auto",
            "send",
            "persist"
        ]
    );
}

#[test]
fn f1_an_empty_conversation_is_refused_with_a_sentence() {
    let mut desk = Desk::new();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::Empty]);
    assert!(desk.asked.is_empty());
}

#[test]
fn f1_what_was_just_compacted_is_not_compacted_again() {
    let mut desk = Desk::new();
    desk.fill();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::NothingNew]);
}

#[test]
fn f2_the_last_summary_is_part_of_what_is_summarized_next() {
    let mut desk = Desk::new();
    desk.fill();
    desk.turn();
    desk.exchange("More?", Answer::Says(long(), 14_000));
    desk.say("Go on.");
    desk.turn();
    assert_eq!(desk.compactions(), 2);
    let second = String::from_utf8(desk.summaries_sent[1].body.concat()).unwrap();
    assert!(second.contains("1. Request: build a parser."));
}

#[test]
fn f7_the_fork_repeats_the_parents_bytes_and_writes_nothing_to_the_cache() {
    let mut desk = Desk::new();
    desk.fill();
    desk.turn();
    let parent = String::from_utf8(desk.sent[1].body.concat()).unwrap();
    let fork = String::from_utf8(desk.summaries_sent[0].body.concat()).unwrap();
    let marker = r#","cache_control":{"type":"ephemeral"}"#;
    let end = parent.rfind(marker).unwrap();
    assert_eq!(
        parent[..end + marker.len()],
        fork[..end + marker.len()],
        "the marker stays where it was"
    );
    let body = Desk::body(&desk.summaries_sent[0]);
    assert!(body.get("tool_choice").is_none());
    assert_eq!(body["max_tokens"], 4_000, "as the parent's");
}

#[test]
fn f8_the_phases_are_told_and_always_end() {
    let mut desk = Desk::new();
    desk.fill();
    desk.turn();
    let phases: Vec<Option<CompactionPhase>> = desk
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Phase(phase) => Some(*phase),
            _ => None,
        })
        .collect();
    let expected = [
        Some(CompactionPhase::PreCompactHooks),
        Some(CompactionPhase::Compacting),
        Some(CompactionPhase::SessionStartHooks),
        None,
    ];
    assert_eq!(phases, expected);
}

#[test]
fn f8_the_status_is_repeated_every_half_minute() {
    let mut desk = Desk::new();
    desk.fill();
    desk.hold = Some("summarize");
    desk.turn();
    let deadline = desk.engine.deadline().unwrap();
    assert_eq!(deadline.duration_since(desk.now).as_secs(), 30);
    desk.later(29);
    desk.input(EngineInput::Wake);
    desk.later(1);
    desk.input(EngineInput::Wake);
    let told = desk
        .events
        .iter()
        .filter(|event| matches!(event, Event::StillCompacting { seconds: 30 }));
    assert_eq!(told.count(), 1);
}

#[test]
fn f9_an_automatic_summary_tells_the_model_to_go_on_and_one_by_hand_does_not() {
    let message = |automatic: bool| {
        let mut desk = Desk::new();
        desk.fill();
        if automatic {
            desk.turn()
        } else {
            desk.input(EngineInput::Compact(CompactRequest::default()))
        }
        let line = desk
            .transcript
            .iter()
            .find(|line| String::from_utf8_lossy(line).contains("isCompactSummary"));
        let line: serde_json::Value = serde_json::from_slice(line.unwrap()).unwrap();
        assert_eq!(line["isVisibleInTranscriptOnly"], true);
        line["message"]["content"].as_str().unwrap().to_owned()
    };
    let (automatic, manual) = (message(true), message(false));
    assert!(automatic.contains("/t/s.jsonl"), "where to look details up");
    assert!(
        automatic.len() > manual.len() && automatic.starts_with(manual.trim_end()),
        "{automatic}\n\n{manual}"
    );
}

#[test]
fn f10_hook_results_and_files_follow_the_summary() {
    let mut desk = Desk::new();
    desk.fill();
    desk.files = vec![RestoreSourceResult::Found(FileText {
        path: "/p/a.rs".into(),
        text: "fn a() {}\n".into(),
    })];
    desk.session_start = HookOutcome {
        context: vec!["Remember the milk.".into()],
        ..HookOutcome::default()
    };
    desk.post_compact = HookOutcome {
        context: vec!["And the eggs.".into()],
        ..HookOutcome::default()
    };
    desk.turn();
    let sent = Desk::body(desk.sent.last().unwrap());
    let texts: Vec<String> = sent["messages"][0]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["text"].as_str().unwrap().to_owned())
        .collect();
    let at = |what: &str| {
        texts
            .iter()
            .position(|text| text.contains(what))
            .unwrap_or_else(|| panic!("{what}: {texts:#?}"))
    };
    assert!(at("1. Request") < at("fn a() {}"));
    assert!(at("fn a() {}") < at("Remember the milk."));
    assert!(at("Remember the milk.") < at("And the eggs."));
}

#[test]
fn k1_hooks_add_instructions_and_may_block() {
    let mut desk = Desk::new();
    desk.fill();
    desk.pre_compact = HookOutcome {
        instructions: vec!["Mention the weather.".into()],
        ..HookOutcome::default()
    };
    desk.turn();
    let asked = String::from_utf8(desk.summaries_sent[0].body.concat()).unwrap();
    assert!(asked.contains("Mention the weather."));

    let mut desk = Desk::new();
    desk.fill();
    desk.pre_compact = HookOutcome {
        blocked: Some("not now".into()),
        ..HookOutcome::default()
    };
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::Blocked]);
    assert!(desk.summaries_sent.is_empty());
}

#[test]
fn f9_what_a_host_asks_for_by_itself_is_automatic_and_the_model_goes_on() {
    for (trigger, name) in [
        (CompactionTrigger::Manual, "manual"),
        (CompactionTrigger::Auto, "auto"),
    ] {
        let mut desk = Desk::new();
        desk.fill();
        desk.input(EngineInput::Compact(CompactRequest {
            trigger,
            ..CompactRequest::default()
        }));
        let boundary = &desk.subtypes("compact_boundary")[0];
        assert_eq!(boundary["compactMetadata"]["trigger"], name);
        let told = include_str!("../../../src/summary/message/automatic.md").trim();
        let views = desk.engine.live().views();
        let goes_on = views.map(|view| String::from_utf8_lossy(view.line).contains(&told[..40]));
        assert_eq!(
            goes_on.filter(|found| *found).count(),
            usize::from(name == "auto")
        );
    }
}

#[test]
fn p1_up_to_a_pivot_the_rest_is_kept_word_for_word() {
    let mut desk = Desk::new();
    desk.fill();
    let uuid = desk.engine.live().newest().unwrap().to_owned();
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot {
            uuid: uuid.clone(),
            direction: PivotDirection::UpTo,
        }),
        ..CompactRequest::default()
    }));
    assert_eq!(desk.compactions(), 1);
    let fork = Desk::body(&desk.summaries_sent[0]);
    assert!(
        !fork.to_string().contains("Go on."),
        "only what lies before the pivot is sent"
    );
    let boundary = &desk.subtypes("compact_boundary")[0];
    assert_eq!(
        boundary["compactMetadata"]["preservedSegment"]["headUuid"],
        uuid
    );
    desk.turn();
    let sent = Desk::body(desk.sent.last().unwrap());
    let texts = sent["messages"][0]["content"].to_string();
    assert!(texts.find("1. Request").unwrap() < texts.find("Go on.").unwrap());
}

#[test]
fn y8_what_is_said_after_a_partial_compaction_hangs_on_what_was_written_last() {
    let mut desk = Desk::new();
    desk.fill();
    let uuid = desk.engine.live().newest().unwrap().to_owned();
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot {
            uuid: uuid.clone(),
            direction: PivotDirection::UpTo,
        }),
        ..CompactRequest::default()
    }));
    desk.say("And now?");
    let lines: Vec<serde_json::Value> = desk
        .transcript
        .iter()
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let summary = lines.iter().find(|line| line["isCompactSummary"] == true);
    let said = lines.last().unwrap();
    assert_eq!(said["message"]["content"], "And now?");
    assert_eq!(
        said["parentUuid"],
        summary.unwrap()["uuid"],
        "not on the entry that was kept and is shown last"
    );
    assert_ne!(said["parentUuid"], uuid);
}

#[test]
fn p1_from_a_pivot_on_what_lies_before_is_kept_before_the_summary() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says("I will.", 900));
    desk.exchange("Which language?", Answer::Says("Rust.", 1_000));
    desk.say("What do you know about it?");
    let uuid = desk.engine.live().newest().unwrap().to_owned();
    desk.answers.push_back(Answer::Says(long(), 5_000));
    desk.turn();
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot {
            uuid,
            direction: PivotDirection::From,
        }),
        ..CompactRequest::default()
    }));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.events);
    desk.exchange("Go on.", Answer::Says("Yes.", 2_000));
    let sent = Desk::body(desk.sent.last().unwrap());
    assert_eq!(sent["messages"][0]["content"][0]["text"], "Build a parser.");
    assert!(sent["messages"].to_string().contains("1. Request"));
}

#[test]
fn x1_what_the_user_said_survives_whatever_the_model_wrote() {
    let mut desk = Desk::new();
    desk.fill();
    desk.turn();
    let sent = String::from_utf8(desk.sent.last().unwrap().body.concat()).unwrap();
    assert!(sent.contains("Build a parser. Never use regexes."));
    let report = &compacted(&desk).report;
    assert_eq!(report.user_messages.total, 3);
    assert_eq!(report.rules.total, report.rules.verbatim);
    assert!(report.tokens.after < report.tokens.before);
    let on_disk = &desk.subtypes("compact_boundary")[0]["compactMetadata"]["report"];
    assert_eq!(on_disk["user_messages"]["total"], 3);
}

#[test]
fn o4_a_compaction_in_a_chain_says_so() {
    let mut desk = Desk::new();
    desk.fill();
    desk.turn();
    assert!(!compacted(&desk).recompaction.in_chain);
    desk.exchange("More?", Answer::Says(long(), 14_000));
    desk.say("Go on.");
    desk.turn();
    let again = &compacted(&desk).recompaction;
    assert!(again.in_chain);
    assert_eq!(again.turns_since, Some(2));
}

#[test]
fn d4_a_compaction_is_no_cache_break() {
    let mut desk = Desk::new();
    desk.fill();
    desk.answers.push_back(Answer::Says("Going on.", 100));
    desk.turn();
    assert!(
        !desk
            .events
            .iter()
            .any(|event| matches!(event, Event::CacheBreak(_)))
    );
}

#[test]
fn y6_a_preview_changes_nothing_and_an_approved_summary_is_used() {
    let mut desk = Desk::new();
    desk.fill();
    let lines = desk.transcript.len();
    desk.input(EngineInput::Compact(CompactRequest {
        preview: true,
        ..CompactRequest::default()
    }));
    let preview = desk.events.iter().find_map(|event| match event {
        Event::Preview(preview) => Some(preview.clone()),
        _ => None,
    });
    assert!(preview.unwrap().summary.contains("build a parser"));
    assert_eq!(desk.transcript.len(), lines);
    desk.input(EngineInput::Compact(CompactRequest {
        approved: Some("We build a parser. All else is gone.".into()),
        ..CompactRequest::default()
    }));
    assert_eq!(compacted(&desk).by, Summarizer::Approved);
    assert_eq!(desk.summaries_sent.len(), 1, "the model was asked once");
    assert!(
        desk.transcript
            .iter()
            .any(|line| String::from_utf8_lossy(line).contains("All else is gone."))
    );
}

#[test]
fn y1_a_summary_longer_than_what_it_replaces_is_condensed() {
    let mut desk = Desk::new();
    desk.fill();
    let long: &'static str = Box::leak(
        format!(
            "<summary>{}</summary>",
            "Much ado about nothing. ".repeat(4_000)
        )
        .into_boxed_str(),
    );
    desk.sums.push_back(Sum::Writes(long));
    desk.turn();
    assert_eq!(desk.compactions(), 1);
    let done = compacted(&desk);
    assert_eq!(
        done.by,
        Summarizer::Fork,
        "what was paid for is not thrown away"
    );
    assert!(done.after < done.before);
    assert!(done.report.keeps_every_word());
    assert_eq!(desk.sent.len(), 3);
}

#[test]
fn f6_the_draft_is_not_part_of_the_summary() {
    let mut desk = Desk::new();
    desk.fill();
    desk.sums.push_back(Sum::Writes(GOOD));
    desk.turn();
    let sent = String::from_utf8(desk.sent.last().unwrap().body.concat()).unwrap();
    assert!(!sent.contains("walked through it") && !sent.contains("<summary>"));
}

#[test]
fn e1_files_that_were_put_back_or_not_are_told() {
    let mut desk = Desk::new();
    desk.fill();
    desk.files = vec![
        RestoreSourceResult::Found(FileText {
            path: "/p/a.rs".into(),
            text: "fn a() {}\n".into(),
        }),
        RestoreSourceResult::Failed {
            what: "/p/gone.rs".into(),
            why: "it does not exist".into(),
        },
    ];
    desk.turn();
    let told: Vec<(&str, Option<&str>)> = desk
        .events
        .iter()
        .filter_map(|event| match event {
            Event::FileRestore { path, failed } => Some((path.as_str(), failed.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [("/p/a.rs", None), ("/p/gone.rs", Some("it does not exist"))]
    );
}

#[test]
fn y3_without_an_archive_the_report_does_not_claim_one() {
    let results = |no_archive: bool| {
        let mut desk = Desk::new();
        desk.no_archive = no_archive;
        desk.say("Look first.");
        desk.works("t0", 50, 900);
        desk.fill();
        desk.turn();
        compacted(&desk).report.results
    };
    assert_eq!((results(true).cleared, results(true).archived), (1, 0));
    assert_eq!((results(false).cleared, results(false).archived), (1, 1));
}

#[test]
fn y1_where_the_provider_counts_more_than_we_estimate_the_new_view_is_judged_by_its_count() {
    let restored = |measured: u64| {
        let mut desk = Desk::new();
        desk.exchange("Build a parser.", Answer::Says("I will.", 900));
        desk.exchange("What of it?", Answer::Says(long(), measured));
        desk.files = vec![RestoreSourceResult::Found(FileText {
            path: "/p/a.rs".into(),
            text: "fn a() {}\n".repeat(300),
        })];
        desk.say("Go on.");
        desk.input(EngineInput::Compact(CompactRequest::default()));
        compacted(&desk).report.files.restored
    };
    assert_eq!(restored(4_000), 1);
    assert_eq!(restored(60_000), 0, "it would be full again at once");
}
