//! Tests summaries that the provider makes by its own compaction (N3).

use longhaul_core::engine::{
    CompactRequest, EffectFailureKind, EngineInput, Event, Pivot, Summarizer, SummarizerSetting,
};
use longhaul_core::summary::PivotDirection;
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
