//! Tests what the provider does by itself: summaries, clearing, dropping results from its cache.

use longhaul_core::engine::{
    CacheEditSupport, CompactRequest, EffectFailureKind, EngineInput, Event, NewEntry, Pivot,
    Summarizer, SummarizerSetting,
};
use longhaul_core::micro::PressureOwner;
use longhaul_core::summary::PivotDirection;
use longhaul_core::window::QuerySource;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, GOOD, Setting, Sum, head, long};

fn by_provider() -> Desk {
    Desk::with(Setting {
        summarizer: SummarizerSetting::Provider,
        ..Setting::default()
    })
}

fn signed(text: &str, signature: &str) -> Sum {
    Sum::Provider(
        json!([{"type": "compaction", "content": text, "encrypted_content": null,
        "signature": signature}]),
    )
}

fn who(desk: &Desk) -> Vec<Summarizer> {
    let done = desk.events.iter().filter_map(|event| match event {
        Event::Compacted(done) => Some(done.by),
        _ => None,
    });
    done.collect()
}

fn lines(desk: &Desk) -> Vec<Value> {
    let lines = desk.transcript.iter();
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn n3_the_conversations_own_bytes_go_out_with_a_field_behind_them() {
    let mut desk = by_provider();
    desk.fill();
    desk.sums.push_back(signed("We build a parser.", "sig1"));
    desk.turn();
    assert_eq!(who(&desk), [Summarizer::Provider]);
    let request = &desk.summaries_sent[0];
    assert!(
        request
            .betas
            .iter()
            .any(|beta| beta == "compact-2026-09-04")
    );
    assert_eq!(
        request.betas, desk.sent[0].betas,
        "the betas are part of the cache key"
    );
    let asked = Desk::body(request);
    assert_eq!(asked["compaction"], json!({"type": "summarize"}));
    let before = Desk::body(&desk.sent[1]);
    assert_eq!(
        asked["messages"][0]["content"][0]["text"],
        before["messages"][0]["content"][0]["text"]
    );
    assert_eq!(asked["system"], before["system"]);
}

#[test]
fn n3_the_signed_block_is_kept_byte_for_byte_and_stands_first() {
    let mut desk = by_provider();
    desk.fill();
    desk.sums
        .push_back(signed("We build a parser. \u{e9}\n", "sig/1=="));
    desk.turn();
    let written = lines(&desk);
    let at = written
        .iter()
        .position(|line| line["subtype"] == "compact_boundary")
        .unwrap();
    let (block, summary) = (&written[at + 1], &written[at + 2]);
    assert_eq!(block["type"], "assistant");
    assert_eq!(block["parentUuid"], written[at]["uuid"]);
    assert_eq!(summary["parentUuid"], block["uuid"]);
    assert_eq!(summary["isCompactSummary"], true);
    let said = summary["message"]["content"].as_str().unwrap();
    assert!(!said.contains("We build a parser."), "{said}");
    assert!(
        said.contains("Never use regexes."),
        "what the user said is guaranteed: {said}"
    );
    let sent = String::from_utf8(desk.sent.last().unwrap().body.concat()).unwrap();
    let raw = block["message"]["content"][0].to_string();
    let first = format!(r#""messages":[{{"role":"assistant","content":[{raw}"#);
    assert!(sent.contains(&first), "{sent}");
    assert!(
        desk.sent
            .last()
            .unwrap()
            .betas
            .iter()
            .any(|beta| beta == "compact-2026-09-04")
    );
}

#[test]
fn n3_a_second_compaction_leaves_exactly_one_signed_block() {
    let mut desk = by_provider();
    for signature in ["sig1", "sig2", "sig3"] {
        desk.exchange("What do you know?", Answer::Says(long(), 14_000));
        desk.say("Go on.");
        desk.sums.push_back(signed("It is a parser.", signature));
        desk.turn();
        let body = Desk::body(desk.sent.last().unwrap());
        let text = body.to_string();
        assert_eq!(text.matches(r#""type":"compaction""#).count(), 1, "{text}");
        assert_eq!(body["messages"][0]["content"][0]["signature"], signature);
    }
    assert_eq!(who(&desk), [Summarizer::Provider; 3]);
    // The next summary is our own, so the block is gone.
    desk.exchange("And?", Answer::Says(long(), 14_000));
    desk.say("Go on.");
    desk.sums.push_back(Sum::Provider(json!([])));
    desk.turn();
    assert_eq!(who(&desk).last(), Some(&Summarizer::Fork));
    let text = Desk::body(desk.sent.last().unwrap()).to_string();
    assert!(!text.contains(r#""type":"compaction""#));
}

#[test]
fn n3_what_was_just_summed_up_by_the_provider_is_not_summed_up_again() {
    let mut desk = by_provider();
    desk.fill();
    desk.sums.push_back(signed("We build a parser.", "sig1"));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1);
    assert_eq!(
        desk.failures(),
        [longhaul_core::engine::CompactFailure::NothingNew]
    );
}

#[test]
fn n3_whatever_fails_the_model_is_asked_instead() {
    let unsigned = json!([{"type": "compaction", "content": "text"}]);
    let empty = json!([{"type": "compaction", "content": null, "signature": "s"}]);
    for failure in [
        Sum::Provider(json!([])),
        Sum::Provider(unsigned),
        Sum::Provider(empty),
        Sum::Fails(EffectFailureKind::Transient),
        Sum::Fails(EffectFailureKind::Other),
    ] {
        let mut desk = by_provider();
        desk.fill();
        desk.sums.extend([failure, Sum::Writes(GOOD)]);
        desk.turn();
        assert_eq!(who(&desk), [Summarizer::Fork]);
        assert_eq!(desk.summaries_sent.len(), 2);
    }
}

#[test]
fn n3_what_follows_kept_messages_is_summed_up_by_the_model() {
    let mut desk = by_provider();
    desk.exchange("First.", Answer::Says(long(), 5_000));
    desk.exchange("Second.", Answer::Says(long(), 8_000));
    let pivot = |text: &str, direction| {
        let lines = lines(&desk);
        let line = lines.iter().find(|line| line["message"]["content"] == text);
        Some(Pivot {
            uuid: line.unwrap()["uuid"].as_str().unwrap().to_owned(),
            direction,
        })
    };
    let from = pivot("Second.", PivotDirection::From);
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: from,
        ..CompactRequest::default()
    }));
    assert_eq!(who(&desk), [Summarizer::Fork]);

    let mut desk = by_provider();
    desk.exchange("First.", Answer::Says(long(), 5_000));
    desk.exchange("Second.", Answer::Says("Short.", 8_000));
    let lines = lines(&desk);
    let line = lines
        .iter()
        .find(|line| line["message"]["content"] == "Second.");
    let uuid = line.unwrap()["uuid"].as_str().unwrap().to_owned();
    desk.sums.push_back(signed("The first.", "sig1"));
    desk.input(EngineInput::Compact(CompactRequest {
        pivot: Some(Pivot {
            uuid,
            direction: PivotDirection::UpTo,
        }),
        ..CompactRequest::default()
    }));
    assert_eq!(who(&desk), [Summarizer::Provider]);
    let asked = Desk::body(&desk.summaries_sent[0]);
    assert!(
        !asked.to_string().contains("Second."),
        "only what lies before the pivot is sent"
    );
    desk.exchange("Third.", Answer::Says("Yes.", 4_000));
    let body = Desk::body(desk.sent.last().unwrap());
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["assistant", "user", "assistant", "user"]);
}

#[test]
fn n3_instructions_go_along_whole() {
    let mut desk = by_provider();
    desk.fill();
    desk.sums.push_back(signed("Fine.", "sig1"));
    desk.input(EngineInput::Compact(CompactRequest {
        instructions: Some("Keep the API names.".into()),
        ..CompactRequest::default()
    }));
    let asked = Desk::body(&desk.summaries_sent[0]);
    let text = asked["compaction"]["instructions"].as_str().unwrap();
    assert!(text.contains("Keep the API names.") && text.contains("<summary>"));
    // The instructions are longer than the provider accepts, so the model is asked.
    let mut desk = by_provider();
    desk.fill();
    desk.input(EngineInput::Compact(CompactRequest {
        instructions: Some("x".repeat(17_000)),
        ..CompactRequest::default()
    }));
    assert_eq!(who(&desk), [Summarizer::Fork]);
}

#[test]
fn n3_another_head_keeps_the_beta_that_the_block_needs() {
    let mut desk = by_provider();
    desk.fill();
    desk.sums.push_back(signed("We build a parser.", "sig1"));
    desk.turn();
    let mut other = head("claude-opus-4-6");
    other.user_context = Some("New.".into());
    desk.input(EngineInput::Head(Box::new(other)));
    desk.exchange("More.", Answer::Says("Yes.", 3_000));
    let body = Desk::body(desk.sent.last().unwrap());
    assert_eq!(body["messages"][0]["content"][0]["type"], "compaction");
    let next = &body["messages"][1]["content"];
    assert_eq!(
        next[0]["text"], "New.",
        "the user context follows in the next message"
    );
}

#[test]
fn u7_the_request_asks_and_the_reply_tells() {
    let mut desk = Desk::with(Setting {
        pressure: PressureOwner::Providers,
        window: 200_000,
        ..Setting::default()
    });
    desk.exchange("Hello.", Answer::Cleared(5, 40_000, 60_000));
    let body = Desk::body(&desk.sent[0]);
    let edits = body["context_management"]["edits"].as_array().unwrap();
    assert_eq!(edits.last().unwrap()["type"], "clear_tool_uses_20250919");
    assert!(
        desk.sent[0]
            .betas
            .iter()
            .any(|beta| beta.starts_with("context-management"))
    );
    let told: Vec<_> = desk
        .events
        .iter()
        .filter_map(|event| match event {
            Event::NativeCleared {
                tool_uses, tokens, ..
            } => Some((*tool_uses, *tokens)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(5, 40_000)]);
    // The measurement counts what was left.
    assert_eq!(desk.engine.status().used, 60_030);
}

#[test]
fn u7_after_an_idle_hour_only_the_last_turns_thinking_stays() {
    let mut desk = Desk::with(Setting {
        pressure: PressureOwner::Providers,
        model: "claude-fable-5-2",
        window: 200_000,
        ..Setting::default()
    });
    let kept = |desk: &Desk| {
        let body = Desk::body(desk.sent.last().unwrap());
        body["context_management"]["edits"][0]["keep"].clone()
    };
    desk.exchange("Hello.", Answer::Says("Hi.", 1_000));
    assert_eq!(kept(&desk), "all");
    desk.later(3_700);
    desk.exchange("Again.", Answer::Says("Hi.", 1_000));
    assert_eq!(kept(&desk), json!({"type": "thinking_turns", "value": 1}));
    desk.exchange("And again.", Answer::Says("Hi.", 1_000));
    assert_eq!(kept(&desk), json!({"type": "thinking_turns", "value": 1}));
}

#[test]
fn u7_u5_the_provider_clears_in_our_place() {
    for (pressure, cleared) in [(PressureOwner::Ours, 1), (PressureOwner::Providers, 0)] {
        let mut desk = Desk::with(Setting {
            pressure,
            window: 200_000,
            ..Setting::default()
        });
        desk.say("Read them.");
        for id in ["t0", "t1", "t2", "t3", "t4", "t5", "t6"] {
            desk.works(id, 20_000, 140_000);
        }
        // The cache is cold, so there is no reason to wait.
        desk.later(400);
        desk.answers.push_back(Answer::Says("Done.", 150_000));
        desk.turn();
        let found = desk.subtypes("microcompact_boundary").len();
        assert!(
            found >= cleared && (cleared > 0 || found == 0),
            "{pressure:?}: {found}"
        );
    }
}

fn edits(desk: &Desk) -> Vec<Value> {
    let recorded = desk.subtypes("microcompact_boundary");
    recorded
        .iter()
        .map(|line| line["microcompactMetadata"]["cacheEdits"].clone())
        .collect()
}

fn with_edits() -> Desk {
    let mut desk = Desk::with(Setting {
        cache_edits: CacheEditSupport::Supported,
        window: 200_000,
        ..Setting::default()
    });
    desk.say("Read them.");
    for id in [
        "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11",
    ] {
        desk.works(id, 1_000, 15_000);
    }
    desk
}

#[test]
fn u4_deleted_results_leave_the_count_and_come_back_when_the_cache_is_gone() {
    let mut desk = with_edits();
    let before = desk.engine.status().used;
    desk.hold = Some("send");
    desk.turn();
    let during = desk.engine.status().used;
    assert_eq!(before - during, 7_000, "seven results of 1,000 tokens");
    desk.answers.push_back(Answer::Says("Done.", 15_000));
    desk.release();
    // Far less is read from the cache than before: it has expired, and the deletions from it are gone.
    desk.exchange("Next.", Answer::Says("Yes.", 1_000));
    assert_eq!(edits(&desk).len(), 2);
    assert_eq!(edits(&desk)[1], json!([]));
    assert!(desk.engine.live().cache_edits().is_empty());
    // That reply wrote the cache again, with all results in it: they can be deleted again.
    desk.exchange("And now?", Answer::Says("Yes.", 5_000));
    assert_eq!(edits(&desk)[2].as_array().unwrap().len(), 7);
}

#[test]
fn u4_m7_another_head_ends_what_was_asked_for_by_reference() {
    let mut desk = with_edits();
    desk.answers.push_back(Answer::Says("Done.", 15_000));
    desk.turn();
    let mut other = head("claude-opus-4-6");
    other.user_context = Some("New.".into());
    desk.input(EngineInput::Head(Box::new(other)));
    desk.exchange("Next.", Answer::Says("Yes.", 15_000));
    assert_eq!(edits(&desk).last(), Some(&json!([])));
    let body = Desk::body(desk.sent.last().unwrap());
    assert_eq!(body["cache_edits"], json!([]));
    assert!(
        body.to_string().contains(r#""cache_reference":"t0""#),
        "latched for the session"
    );
}

#[test]
fn r5_tools_that_were_discovered_are_on_the_boundary() {
    let mut desk = Desk::new();
    let attachment = |value| EngineInput::Add(vec![NewEntry::Attachment(value)]);
    desk.input(attachment(json!({"type": "deferred_tools_delta",
        "addedNames": ["mcp__a__x", "mcp__a__y"], "addedLines": ["mcp__a__x", "mcp__a__y"]})));
    desk.answers.push_back(Answer::Calls("Read", "t0", 500));
    desk.say("Find a tool.");
    desk.turn();
    let found = json!([{"type": "tool_reference", "tool_name": "mcp__b__z"}]);
    desk.input(EngineInput::Add(vec![NewEntry::ToolResults(vec![
        longhaul_core::engine::ToolOutput {
            tool_use_id: "t0".into(),
            content: found,
            is_error: false,
        },
    ])]));
    desk.input(attachment(
        json!({"type": "deferred_tools_delta", "removedNames": ["mcp__a__y"]}),
    ));
    desk.answers.push_back(Answer::Says(long(), 14_000));
    desk.turn();
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let names = |desk: &Desk| {
        let last = desk.subtypes("compact_boundary").pop().unwrap();
        last["compactMetadata"]["preCompactDiscoveredTools"].clone()
    };
    assert_eq!(names(&desk), json!(["mcp__a__x", "mcp__b__z"]));
    // The next boundary takes them from this one.
    desk.exchange("More.", Answer::Says(long(), 14_000));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(names(&desk), json!(["mcp__a__x", "mcp__b__z"]));
}

#[test]
fn c1_what_belongs_to_the_old_view_is_reset() {
    let mut desk = with_edits();
    desk.answers.push_back(Answer::Says("Done.", 15_000));
    desk.turn();
    assert!(!desk.engine.live().cache_edits().is_empty());
    assert!(!desk.engine.live().results().is_empty());
    let mut other = head("claude-opus-4-6");
    other.user_context = Some("Memory, read again.".into());
    desk.new_head = Some(other);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1);
    let live = desk.engine.live();
    assert!(live.cache_edits().is_empty(), "pinned edits");
    assert!(live.results().is_empty(), "results that may be cleared");
    assert!(live.cleared().is_empty());
    assert!(
        live.ledger().anchor().is_none(),
        "nothing measured the new view"
    );
    assert!(
        live.read_files().wanted(&Default::default()).is_empty(),
        "files read"
    );
    // A far smaller read than before is not a break, because the detector starts anew.
    desk.exchange("Next.", Answer::Says("Yes.", 100));
    assert!(
        !desk
            .events
            .iter()
            .any(|event| matches!(event, Event::CacheBreak(_)))
    );
    let body = Desk::body(desk.sent.last().unwrap());
    assert_eq!(
        body["messages"][0]["content"][0]["text"],
        "Memory, read again."
    );
    assert_eq!(body["cache_edits"], json!([]));
}

#[test]
fn c2_a_sub_agents_compaction_resets_nothing_of_the_main_thread() {
    let mut main = with_edits();
    main.answers.push_back(Answer::Says("Done.", 15_000));
    main.turn();
    let before = (
        main.engine.status().used,
        main.engine.live().cache_edits().to_vec(),
    );
    let mut agent = Desk::with(Setting {
        source: QuerySource::agent("explore"),
        ..Setting::default()
    });
    agent.fill();
    agent.turn();
    assert_eq!(agent.compactions(), 1);
    // Two engines share nothing: the state of the main thread is unchanged, and its next request continues.
    let after = (
        main.engine.status().used,
        main.engine.live().cache_edits().to_vec(),
    );
    assert_eq!(before, after);
    let last = main.sent.last().unwrap().body.concat();
    main.exchange("Next.", Answer::Says("Yes.", 15_200));
    let next = main.sent.last().unwrap().body.concat();
    let marker = br#","cache_control":{"type":"ephemeral"}"#;
    let shared = last
        .iter()
        .zip(&next)
        .take_while(|(one, other)| one == other)
        .count();
    assert!(next[shared..].len() < 2_000 || last[shared..].starts_with(marker));
    assert!(
        !main
            .events
            .iter()
            .any(|event| matches!(event, Event::CacheBreak(_)))
    );
}

#[test]
fn u4_u3_what_was_dropped_by_reference_and_then_cleared_is_taken_off_once() {
    let mut desk = with_edits();
    desk.answers.push_back(Answer::Says("Done.", 8_000));
    desk.turn();
    let measured = desk.engine.status().used;
    assert_eq!(measured, 8_030, "measured without the seven results");
    desk.later(3_700);
    desk.say("Back.");
    let before = desk.engine.status().used;
    desk.hold = Some("send");
    desk.turn();
    let cleared = desk.subtypes("microcompact_boundary").pop().unwrap();
    let ids = &cleared["microcompactMetadata"]["compactedToolIds"];
    assert_eq!(ids.as_array().unwrap().len(), 7);
    assert_eq!(desk.engine.status().used, before);
    assert!(desk.engine.live().cache_edits().is_empty());
}
