//! Conversations of real clients: all convert, and those that are long enough are summarized without a model.

use std::collections::BTreeMap;
use std::fs;

use longhaul_core::history::DiscardReason;
use longhaul_core::message::Entry;
use longhaul_core::normalize::{RenderOptions, Rendering};
use longhaul_gateway::manage::DraftError;
use longhaul_gateway::manage::entries::ConversationEntries;
use longhaul_provider::Dialect;
use longhaul_testkit::corpora::{claude_code_transcripts, corpora};
use serde_json::{Value, json};

use super::attempt::{NoSummary, summarize};
use super::summaries::run;
use super::{accepted, sent, settings, talk, text};

/// Summarizes a conversation in a window of this size, and checks the result.
fn check(
    dialect: Dialect,
    elements: &[Value],
    window: u64,
    came: &mut BTreeMap<&'static str, usize>,
) {
    let settings = settings(Some(window));
    let talk = talk(dialect, elements);
    let read = ConversationEntries::of(&talk, None, settings.now).unwrap();
    assert_eq!(read.entries.len(), elements.len());
    let outcome = match run(summarize(&talk, None, None, &settings)) {
        Ok(draft) => {
            assert!(draft.after < draft.before);
            let user = json!({"role": "user", "content": "go on"});
            assert_eq!(accepted(dialect, &sent(&draft, &[user])), Ok(()));
            let report: Value = serde_json::to_value(&draft.report).unwrap();
            let told = &report["user_messages"];
            assert_eq!(
                text(&draft)
                    .matches("This session continues an earlier")
                    .count(),
                1
            );
            if told["total"] == told["verbatim"] {
                "word for word"
            } else {
                "shortened"
            }
        }
        Err(NoSummary { reason, error }) => match (reason, error) {
            (DiscardReason::WouldNotShrink, _) => "too short to gain",
            (DiscardReason::TooLarge { .. }, _) => "too large",
            (_, Some(DraftError::Nothing(_))) => "nothing",
            (_, Some(DraftError::Unanswered)) => "open calls",
            (_, other) => panic!("{other:?}"),
        },
    };
    *came.entry(outcome).or_default() += 1;
}

#[test]
fn x8_recorded_requests_convert_and_are_summed_up() {
    let Some(folder) = corpora() else { return };
    let pairs = fs::read_to_string(folder.join("api-pairs/anthropic_pairs.jsonl")).unwrap();
    let mut came = BTreeMap::new();
    for line in pairs.lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let request = pair["request"].as_str().unwrap_or_default();
        let Ok(request) = serde_json::from_str::<Value>(request) else {
            continue;
        };
        let Some(messages) = request["messages"].as_array() else {
            continue;
        };
        if messages.iter().all(|message| message["role"].is_string()) {
            check(Dialect::Anthropic, messages, 20_000, &mut came);
        }
    }
    println!("api-pairs: {came:?}");
    assert!(came.values().sum::<usize>() > 600);
    let folder = folder.join("agent-recordings/openhands-claude-sonnet-4");
    let mut came = BTreeMap::new();
    for file in fs::read_dir(folder).unwrap() {
        let record: Value =
            serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap();
        check(
            Dialect::OpenAi,
            record["messages"].as_array().unwrap(),
            6_000,
            &mut came,
        );
    }
    println!("OpenHands: {came:?}");
}

/// The messages of a session's newest request.
fn rendered(path: &std::path::Path) -> Vec<Value> {
    let resumed = longhaul_store::resume(path).unwrap();
    let views = resumed.entries.iter().map(Entry::view);
    let mut rendering = Rendering::begin(RenderOptions::default(), views);
    rendering.seal();
    let buffer = rendering.buffer();
    let mut list = buffer.copy(0, buffer.len());
    list.insert(0, b'[');
    list.extend_from_slice(rendering.closing());
    list.push(b']');
    serde_json::from_slice(&list).unwrap()
}

#[test]
fn x8_y1_recorded_sessions_are_summed_up_word_for_word() {
    let Some(files) = claude_code_transcripts() else {
        return;
    };
    let mut came = BTreeMap::new();
    for file in files {
        let messages = rendered(&file);
        if !messages.is_empty() {
            check(Dialect::Anthropic, &messages, 200_000, &mut came);
            check(Dialect::Anthropic, &messages, 30_000, &mut came);
        }
    }
    println!("Claude Code: {came:?}");
    assert!(!came.contains_key("too large"), "{came:?}");
    assert!(came["word for word"] >= 6, "{came:?}");
}
