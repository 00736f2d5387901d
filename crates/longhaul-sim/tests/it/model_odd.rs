//! Odd requests and recorded ones: the model answers everything, and uses only what it was offered.

use longhaul_sim::model::{DraftBlock, SimModel, SimModelOptions};
use longhaul_sim::request::{ApiMessage, ApiRole, ApiTool, MessagesRequest};
use longhaul_testkit::corpora;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::model_talk::{block, calls, message, reply, request, text, typed, words};

fn role(name: &str) -> ApiRole {
    match name {
        "assistant" => ApiRole::Assistant,
        "system" => ApiRole::System,
        _ => ApiRole::User,
    }
}

fn read_message(value: &Value) -> ApiMessage {
    let content = match &value["content"] {
        Value::String(words) => vec![text(words)],
        Value::Array(blocks) => blocks
            .iter()
            .filter(|part| part["type"].is_string())
            .map(|part| block(part.clone()))
            .collect(),
        _ => Vec::new(),
    };
    message(role(value["role"].as_str().unwrap_or("")), content)
}

fn read_tool(value: &Value) -> ApiTool {
    typed(
        value["name"].as_str().unwrap_or(""),
        value["type"].as_str(),
        value.clone(),
    )
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn read_request(body: &Value) -> MessagesRequest {
    let mut made = request(
        list(&body["messages"]).iter().map(read_message).collect(),
        list(&body["tools"]).iter().map(read_tool).collect(),
    );
    made.max_tokens = body["max_tokens"].as_u64();
    for field in ["tool_choice", "thinking", "output_config"] {
        if let Some(value) = body.get(field) {
            made.fields.insert(field.to_owned(), value.clone());
        }
    }
    made
}

#[test]
fn recorded_requests_are_answered_with_valid_calls() {
    let Some(folder) = corpora::corpora() else {
        return;
    };
    let pairs = std::fs::read_to_string(folder.join("api-pairs/anthropic_pairs.jsonl")).unwrap();
    let (mut answered, mut called) = (0, 0);
    for line in pairs.lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let Ok(body) = serde_json::from_str::<Value>(pair["request"].as_str().unwrap_or("")) else {
            continue;
        };
        if list(&body["messages"]).is_empty() {
            continue;
        }
        let request = read_request(&body);
        let draft = reply(
            &mut SimModel::new(SimModelOptions::default()),
            &request,
            answered,
        );
        assert!(!draft.content.is_empty(), "{}", pair["id"]);
        answered += 1;
        for (name, input) in calls(&draft) {
            let tool = request.tools.iter().find(|tool| tool.name == name).unwrap();
            if let Some(schema) = tool.fields.get("input_schema") {
                assert!(
                    jsonschema::is_valid(schema, input),
                    "{} {name} {input}",
                    pair["id"]
                );
            }
            called += 1;
        }
    }
    assert!(
        answered > 500 && called > 50,
        "{answered} answered, {called} calls"
    );
}

#[test]
fn recorded_sessions_are_summed_up_and_gone_on_with() {
    let Some(files) = corpora::claude_code_transcripts() else {
        return;
    };
    for file in files {
        let lines = std::fs::read_to_string(&file).unwrap();
        let entries = lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let messages: Vec<ApiMessage> = entries
            .filter(|entry| entry["message"]["role"].is_string())
            .map(|entry| read_message(&entry["message"]))
            .filter(|message| !message.content.is_empty())
            .collect();
        if messages.is_empty() {
            continue;
        }
        let mut asked = request(messages.clone(), crate::model_folder::coding_tools());
        asked.max_tokens = Some(20_000);
        asked.messages.push(message(
            ApiRole::User,
            vec![text(
                "Summarise this conversation: <analysis>, then <summary>.",
            )],
        ));
        let summary = words(&reply(
            &mut SimModel::new(SimModelOptions::default()),
            &asked,
            1,
        ));
        assert!(
            summary.starts_with("<analysis>") && summary.ends_with("</summary>"),
            "{}",
            file.display()
        );
        assert!(summary.len() < 62_000);
        let mut on = request(messages, crate::model_folder::coding_tools());
        on.messages.push(message(
            ApiRole::User,
            vec![text("Go on and fix what is left.")],
        ));
        let draft = reply(&mut SimModel::new(SimModelOptions::default()), &on, 1);
        assert!(!calls(&draft).is_empty(), "{}: {draft:?}", file.display());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type".to_owned()),
        Just("object".to_owned()),
        Just("string".to_owned()),
        Just("integer".to_owned()),
        Just("array".to_owned()),
        Just("$ref".to_owned()),
        Just("#".to_owned()),
        Just("#/properties/a".to_owned()),
        Just("^(a|b){2,}é+$".to_owned()),
        Just("".to_owned()),
        "\\PC{0,12}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("required"),
        Just("items"),
        Just("enum"),
        Just("anyOf"),
        Just("allOf"),
        Just("$ref"),
        Just("pattern"),
        Just("minItems"),
        Just("maxItems"),
        Just("minimum"),
        Just("maximum"),
        Just("multipleOf"),
        Just("minLength"),
        Just("uniqueItems"),
        Just("additionalProperties"),
        Just("a"),
        Just("path"),
        Just("command"),
        Just("text"),
        Just("content"),
        Just("todos"),
        Just("file_path"),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|fields| Value::Object(
                fields
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_odd_breaks_it(
        schemas in prop::collection::vec((prop::sample::select(vec!["Read", "Edit", "Bash", "TodoWrite", "Skill", "x", "mcp__a__b", "memory"]), any_json()), 0..5),
        blocks in prop::collection::vec((prop::sample::select(vec!["text", "tool_use", "tool_result", "thinking", "weird"]), any_json(), any_json(), "\\PC{0,40}"), 0..8),
        prompt in "(Summarise in <summary>\n|Update the notes a.md\n# A\n_b_\n# B\n_c_\n# C\n_d_\n|)\\PC{0,60}",
        choice in prop::sample::select(vec!["auto", "any", "none", "tool"]),
        tokens in prop::sample::select(vec![1u64, 30, 900, 8000]),
        seed in any::<u64>(),
    ) {
        let tools = schemas.iter().map(|(name, schema)| typed(name, None, json!({ "name": name, "input_schema": schema }))).collect();
        let mut messages = Vec::new();
        for (index, (kind, input, content, words)) in blocks.iter().enumerate() {
            let fields = json!({ "type": kind, "text": words, "thinking": words, "id": "t", "tool_use_id": "t", "name": "Read", "input": input, "content": content, "is_error": index % 3 == 0 });
            messages.push(message(if index % 2 == 0 { ApiRole::User } else { ApiRole::Assistant }, vec![block(fields)]));
        }
        messages.push(message(ApiRole::User, vec![text(&prompt)]));
        let mut odd = request(messages, tools);
        odd.max_tokens = Some(tokens);
        let mut fields = Map::new();
        fields.insert("tool_choice".to_owned(), json!({ "type": choice, "name": "x" }));
        fields.insert("thinking".to_owned(), json!({ "type": "adaptive" }));
        odd.fields = fields;
        let draft = reply(&mut SimModel::new(SimModelOptions { seed, ..SimModelOptions::default() }), &odd, seed);
        for part in &draft.content {
            match part {
                DraftBlock::ToolUse { name, input } => {
                    prop_assert!(odd.tools.iter().any(|tool| &tool.name == name) && choice != "none");
                    prop_assert!(input.is_object());
                }
                DraftBlock::Server(_) => {}
                DraftBlock::Cited { text: words, .. }
                | DraftBlock::Text(words)
                | DraftBlock::Thinking(words) => prop_assert!(!words.trim().is_empty()),
            }
        }
    }
}
