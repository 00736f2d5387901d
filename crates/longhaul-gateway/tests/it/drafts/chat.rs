//! Drafts of chat completions, in their own format.

use longhaul_core::history::DiscardReason;
use longhaul_core::message::{BlockKind, EntryKind};
use longhaul_gateway::manage::entries::ConversationEntries;
use longhaul_provider::Dialect;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::attempt::summarize;
use super::summaries::run;
use super::talks::{completions, turns};
use super::{accepted, behind, sent, settings, talk, text};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn x8_n5_summaries_of_chat_completions_are_one_message_and_keep_every_word(
        one in turns(8),
        two in turns(8),
        window in 20_000u64..60_000,
    ) {
        let settings = settings(Some(window));
        let first = completions(&one, 0);
        let made = run(summarize(&talk(Dialect::OpenAi, &first), None, None, &settings));
        let Ok(made) = made else {
            let refused = made.unwrap_err();
            let small = matches!(refused.reason, DiscardReason::WouldNotShrink | DiscardReason::TooLarge { .. });
            prop_assert!(small, "{refused}");
            return Ok(());
        };
        prop_assert_eq!(made.conversation.summary.len(), 1);
        let user = json!({"role": "user", "content": "go on"});
        prop_assert_eq!(accepted(Dialect::OpenAi, &sent(&made, std::slice::from_ref(&user))), Ok(()));
        let report: Value = serde_json::to_value(&made.report).unwrap();
        let shortened = |report: &Value| {
            let told = &report["user_messages"];
            told["total"] != told["verbatim"]
        };
        for turn in one.iter().filter(|_| !shortened(&report)) {
            prop_assert!(text(&made).contains(&turn.wish));
        }
        let next = behind(&made, Dialect::OpenAi, &completions(&two, 1_000));
        if let Ok(again) = run(summarize(&next, None, None, &settings)) {
            let report: Value = serde_json::to_value(&again.report).unwrap();
            prop_assert_eq!(report["user_messages"]["total"].as_u64().unwrap() as usize, one.len() + two.len());
            for turn in one.iter().chain(&two).filter(|_| !shortened(&report)) {
                prop_assert!(text(&again).contains(&turn.wish));
            }
            prop_assert_eq!(accepted(Dialect::OpenAi, &sent(&again, &[user])), Ok(()));
        }
    }
}

#[test]
fn n5_calls_answers_and_parts_become_blocks() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "shell", "arguments": arguments}});
    let elements = [
        json!({"role": "developer", "content": "Be kind."}),
        json!({"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "https://a.test/x.png"}},
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]}),
        json!({"role": "assistant", "content": null, "tool_calls": [
            call("c1", "{\"command\":[\"ls\"]}"), call("c2", "not json")]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "a"}),
        json!({"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "b"}]}),
        json!({"role": "assistant", "content": "x", "refusal": "no", "function_call": {"name": "f", "arguments": "{}"}}),
        json!({"role": "function", "name": "f", "content": "c"}),
    ];
    let talk = talk(Dialect::OpenAi, &elements);
    let read = ConversationEntries::of(&talk, Some(77), settings(None).now).unwrap();
    let kinds: Vec<(EntryKind, Vec<BlockKind>)> = read
        .entries
        .iter()
        .map(|entry| {
            let blocks = entry.facets().blocks.iter().filter(|block| !block.inner);
            (
                entry.facets().kind,
                blocks.map(|block| block.kind).collect(),
            )
        })
        .collect();
    use BlockKind::{Image, Other, Text, ToolResult, ToolUse};
    use EntryKind::{Assistant, User};
    let expected = [
        (User, vec![Text]),
        (User, vec![Text, Image, Other]),
        (Assistant, vec![ToolUse, ToolUse]),
        (User, vec![ToolResult]),
        (User, vec![ToolResult]),
        (Assistant, vec![Text, Text, ToolUse]),
        (User, vec![ToolResult]),
    ];
    assert_eq!(kinds, expected);
    assert!(read.entries[0].facets().flags.meta && !read.entries[1].facets().flags.meta);
    let line = |at: usize| -> Value { serde_json::from_slice(read.entries[at].bytes()).unwrap() };
    assert_eq!(
        line(2)["message"]["content"][0]["input"],
        json!({"command": ["ls"]})
    );
    assert_eq!(
        line(2)["message"]["content"][1]["input"],
        json!({"arguments": "not json"})
    );
    let made = &line(5)["message"]["content"][2]["id"];
    assert_eq!(&line(6)["message"]["content"][0]["tool_use_id"], made);
    assert_eq!(line(5)["message"]["usage"]["input_tokens"], 77);
    assert_eq!(line(2)["message"]["usage"], Value::Null);
}

#[test]
fn x1_the_same_words_twice_are_two_messages_also_behind_a_summary() {
    let said = [
        json!({"role": "user", "content": "continue"}),
        json!({"role": "assistant", "content": "x"}),
    ];
    let twice = [said.clone(), said.clone()].concat();
    let settings = settings(None);
    let ids = |elements: &[Value]| -> Vec<String> {
        let read =
            ConversationEntries::of(&talk(Dialect::OpenAi, elements), None, settings.now).unwrap();
        let uuid =
            |view: longhaul_core::message::EntryView<'_>| view.text(view.facets.uuid).into_owned();
        read.entries
            .iter()
            .map(|entry| uuid(entry.view()))
            .collect()
    };
    let all = ids(&twice);
    assert!(all[0] != all[2] && all[1] != all[3]);
    assert_eq!(
        ids(&said),
        all[..2],
        "the same history gives the same entries"
    );
    let long = json!({"role": "assistant", "content": "well ".repeat(9_000)});
    let talks = [said[0].clone(), long];
    let first = run(summarize(
        &talk(Dialect::OpenAi, &talks),
        None,
        None,
        &settings,
    ))
    .unwrap();
    let next = behind(&first, Dialect::OpenAi, &talks);
    let second = run(summarize(&next, None, None, &settings)).unwrap();
    let report: Value = serde_json::to_value(&second.report).unwrap();
    assert_eq!(report["user_messages"]["total"], 2);
}
