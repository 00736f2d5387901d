//! Tests of print mode.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::hooks::fake::FakeHooks;
use longhaul::hooks::{HookEventName, HookReason, HookResponse};
use longhaul_agent::agent::{SessionChoice, UserPrompt};
use longhaul_agent::print::{PrintExit, PrintFormat, PrintOptions, PromptQueue, print};
use longhaul_agent::tool::{ToolAccess, Toolbox};
use longhaul_core::money::Usd;
use serde_json::{Value, json};

use crate::agent::house::{House, Rules, Toy, calls, long, text};

/// Runs print mode and returns the code, the output and the notices.
async fn printed(
    house: &House,
    said: impl Into<PromptQueue>,
    options: PrintOptions,
) -> (PrintExit, String, Vec<String>) {
    let builder = house.builder().unattended();
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    let (mut out, mut talk) = (Vec::new(), Vec::new());
    let mut hear = |line: &str| talk.push(line.to_owned());
    let exit = print(&mut agent, &mut events, said, &options, &mut out, &mut hear).await;
    (exit.unwrap(), String::from_utf8(out).unwrap(), talk)
}

fn in_format(format: PrintFormat) -> PrintOptions {
    PrintOptions {
        format,
        ..PrintOptions::default()
    }
}

/// Removes what differs from run to run.
fn settled(mut value: Value) -> Value {
    let object = value.as_object_mut().unwrap();
    for (name, with) in [
        ("session_id", json!("SESSION")),
        ("duration_ms", json!(0)),
        ("cwd", json!("CWD")),
        ("transcript_path", json!("TRANSCRIPT")),
        ("uuid", json!("UUID")),
    ] {
        if object.contains_key(name) {
            object.insert(name.to_owned(), with);
        }
    }
    if let Some(message) = object.get_mut("message").and_then(Value::as_object_mut) {
        message.remove("usage");
    }
    if object.contains_key("usage") {
        let count = |name: &str| object["usage"][name].as_u64().unwrap();
        assert!(count("output_tokens") > 0);
        assert!(object["total_cost_usd"].as_f64().unwrap() > 0.0);
        object.insert("usage".into(), json!("USAGE"));
        object.insert("total_cost_usd".into(), json!("COST"));
    }
    if let Some(metadata) = object
        .get_mut("compact_metadata")
        .and_then(Value::as_object_mut)
    {
        metadata.insert("duration_ms".into(), json!(0));
        for name in ["pre_tokens", "post_tokens"] {
            assert!(metadata[name].as_u64().unwrap() > 0);
            metadata.insert(name.into(), json!("TOKENS"));
        }
    }
    value
}

/// The form for a snapshot: one object per line, with the ids of this run replaced by their order.
fn shown(out: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for line in out.lines() {
        let text = settled(serde_json::from_str(line).unwrap()).to_string();
        for part in text.split('"') {
            let is_id = part.starts_with("toolu_") || part.starts_with("msg_");
            if is_id && !ids.iter().any(|id| id == part) {
                ids.push(part.to_owned());
            }
        }
        lines.push(text);
    }
    let mut all = lines.join("\n");
    for (id, number) in ids.iter().zip(1..) {
        all = all.replace(id, &format!("ID{number}"));
    }
    all
}

async fn with_tool() -> House {
    let turns = [
        calls(&[
            ("Look", json!({"what": "a"})),
            ("Change", json!({"what": "b"})),
        ]),
        text("Done, as far as I may."),
    ];
    let mut house = House::scripted(&turns).await;
    house.toolbox = Toolbox::default()
        .with(Toy::echo("Look", ToolAccess::Reads(PathBuf::from("/x"))))
        .with(Toy::echo("Change", ToolAccess::Writes(PathBuf::from("/x"))));
    house.gate = Some(Arc::new(Rules {
        ask: vec!["Change"],
        ..Rules::default()
    }));
    house
}

#[tokio::test]
async fn q4_text_is_the_last_reply_and_nothing_else() {
    let house = with_tool().await;
    let (exit, out, talk) = printed(
        &house,
        vec![UserPrompt::text("Go.")],
        PrintOptions::default(),
    )
    .await;
    assert_eq!(
        (exit, out.as_str()),
        (PrintExit::Done, "Done, as far as I may.\n")
    );
    assert_eq!(talk, ["Change b was not allowed: it changes something"]);
}

#[tokio::test]
async fn q4_json_is_one_object() {
    let house = with_tool().await;
    let (exit, out, _) = printed(
        &house,
        vec![UserPrompt::text("Go.")],
        in_format(PrintFormat::Json),
    )
    .await;
    assert_eq!(exit.code(), 0);
    assert_eq!(out.lines().count(), 1);
    insta::assert_snapshot!(shown(&out));
}

#[tokio::test]
async fn q4_stream_json_is_an_object_a_line_as_things_happen() {
    let house = with_tool().await;
    let (_, out, _) = printed(
        &house,
        vec![UserPrompt::text("Go.")],
        in_format(PrintFormat::StreamJson),
    )
    .await;
    insta::assert_snapshot!(shown(&out));
}

#[tokio::test]
async fn q4_a_compaction_is_a_line_of_the_stream() {
    let turns: Vec<Value> = (0..9).map(|_| long()).collect();
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(24_000);
    let said: Vec<UserPrompt> = (1..=4)
        .map(|number| UserPrompt::text(format!("Part {number}.")))
        .collect();
    let (exit, out, _) = printed(&house, said, in_format(PrintFormat::StreamJson)).await;
    assert_eq!(exit, PrintExit::Done);
    let boundary = out
        .lines()
        .find(|line| line.contains("compact_boundary"))
        .unwrap();
    insta::assert_snapshot!(shown(boundary));
    let results = out
        .lines()
        .filter(|line| line.contains("\"type\":\"result\""));
    assert_eq!(results.count(), 4, "one for each prompt");
}

#[tokio::test]
async fn q4_codes_say_how_it_ended() {
    let mut house = with_tool().await;
    house.max_turns = Some(1);
    let (exit, out, _) = printed(
        &house,
        vec![UserPrompt::text("Go.")],
        in_format(PrintFormat::Json),
    )
    .await;
    assert_eq!(exit.code(), 1);
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("error_max_turns"), &json!(true))
    );

    let mut house = House::scripted(&[text("x")]).await;
    house.model = "claude-of-nowhere".into();
    let (exit, _, talk) = printed(
        &house,
        vec![UserPrompt::text("Go.")],
        PrintOptions::default(),
    )
    .await;
    assert_eq!(exit.code(), 2, "{talk:?}");
    assert!(
        talk.iter().any(|line| line.contains("claude-of-nowhere")),
        "{talk:?}"
    );

    let house = House::scripted(&[text("x")]).await;
    let (mut agent, mut events) = house
        .builder()
        .unattended()
        .open(SessionChoice::New)
        .await
        .unwrap();
    agent.cancellation().cancel();
    let (options, mut out) = (in_format(PrintFormat::Json), Vec::new());
    let said = vec![UserPrompt::text("Go.")];
    let exit = print(
        &mut agent,
        &mut events,
        said,
        &options,
        &mut out,
        &mut |_| {},
    )
    .await;
    assert_eq!(exit.unwrap().code(), 130);
    assert!(
        String::from_utf8(out)
            .unwrap()
            .contains("error_during_execution")
    );
    assert!(
        house.bodies().is_empty(),
        "nothing is sent after an interrupt"
    );
}

#[tokio::test]
async fn q4_prompts_are_read_from_a_stream_of_objects() {
    let house = House::scripted(&[text("One."), text("Two."), text("Three.")]).await;
    let input = r#"{"type":"user","message":{"role":"user","content":"A"}}

{"type":"keep_alive"}
{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"B"}]}}
{"type":"assistant"}
{"type":"user","message":{"role":"user","content":"C"}}"#;
    let prompts = PromptQueue::from_lines(None, std::io::Cursor::new(input));
    let (exit, out, talk) = printed(&house, prompts, in_format(PrintFormat::StreamJson)).await;
    assert_eq!(exit, PrintExit::Failed, "a later line is not a prompt");
    assert!(talk.is_empty(), "{talk:?}");
    let results = out.lines().map(|line| serde_json::from_str(line).unwrap());
    let results: Vec<Value> = results
        .filter(|line: &Value| line["type"] == "result")
        .collect();
    let said: Vec<&str> = results
        .iter()
        .map(|line| line["result"].as_str().unwrap())
        .collect();
    assert!(said[2].starts_with("line 6 of the input"), "{said:?}");
    assert_eq!([said[0], said[1], said[3]], ["One.", "Two.", "Three."]);
    assert_eq!(
        (&results[2]["is_error"], &results[2]["num_turns"]),
        (&json!(true), &json!(0))
    );
    assert!(out.contains("control requests are not supported") && out.contains("r1"));
    assert_eq!(house.bodies().len(), 3);

    let prompts = PromptQueue::from_lines(None, std::io::Cursor::new("no JSON"));
    let (exit, _, talk) = printed(&house, prompts, PrintOptions::default()).await;
    assert_eq!((exit, talk.len()), (PrintExit::CannotBegin, 1), "{talk:?}");
}

#[tokio::test]
async fn f8_q4_a_stream_says_that_a_compaction_goes_on_and_how_it_ended() {
    let turns: Vec<Value> = (0..9).map(|_| long()).collect();
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(24_000);
    let said: Vec<UserPrompt> = (1..=4)
        .map(|number| UserPrompt::text(format!("Part {number}.")))
        .collect();
    let (_, out, _) = printed(&house, said, in_format(PrintFormat::StreamJson)).await;
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let at = |wanted: &dyn Fn(&Value) -> bool| lines.iter().position(wanted).unwrap();
    let compacting = at(&|line| line["status"] == "compacting");
    let boundary = at(&|line| line["subtype"] == "compact_boundary");
    let over = at(&|line| line["subtype"] == "status" && line["status"].is_null());
    assert!(compacting < boundary && compacting < over);
    let told = &lines[boundary]["compact_metadata"]["pre_tokens"];
    let transcript = lines[0]["transcript_path"].as_str().unwrap();
    let transcript = std::fs::read_to_string(transcript).unwrap();
    let written = transcript
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["subtype"] == "compact_boundary")
        .unwrap();
    assert_eq!(told, &written["compactMetadata"]["preTokens"]);
}

#[tokio::test]
async fn k1_q4_what_compaction_hooks_say_and_that_one_blocks_is_told() {
    let turns: Vec<Value> = (0..9).map(|_| long()).collect();
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(24_000);
    let said =
        || -> Vec<UserPrompt> { (1..=4).map(|part| format!("Part {part}.").into()).collect() };
    let message = |text: &str| HookResponse {
        messages: vec![text.to_owned()],
        ..HookResponse::default()
    };
    let hooks = FakeHooks::default()
        .answering(HookEventName::PreCompact, message("the backup is made"))
        .answering(
            HookEventName::PostCompact,
            message("the index was not renewed"),
        );
    house.hooks = Some(Arc::new(hooks));
    let (_, _, talk) = printed(&house, said(), PrintOptions::default()).await;
    for heard in [
        "PreCompact hook: the backup is made",
        "PostCompact hook: the index was not renewed",
    ] {
        assert!(talk.iter().any(|line| line == heard), "{heard}: {talk:?}");
    }

    let blocked = HookResponse {
        blocked: Some(HookReason {
            hook: "test".into(),
            text: "not before the release".into(),
        }),
        ..HookResponse::default()
    };
    let hooks = FakeHooks::default().answering(HookEventName::PreCompact, blocked);
    house.hooks = Some(Arc::new(hooks));
    let (_, _, talk) = printed(&house, said(), PrintOptions::default()).await;
    let told = talk.iter().find(|line| line.starts_with("not compacted:"));
    assert!(
        told.is_some_and(|line| line.contains("not before the release")),
        "{talk:?}"
    );
}

#[tokio::test]
async fn a1_a_session_ends_when_it_has_cost_as_much_as_it_may() {
    let house = with_tool().await;
    let most = Usd::from_pico(1);
    let builder = house.builder().unattended().max_cost(Some(most));
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    let (mut out, mut hear) = (Vec::new(), |_: &str| {});
    let options = in_format(PrintFormat::Json);
    let said = vec![UserPrompt::text("Go.")];
    let exit = print(&mut agent, &mut events, said, &options, &mut out, &mut hear).await;
    assert_eq!(exit.unwrap(), PrintExit::Failed);
    let result: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(result["subtype"], "error_max_budget_usd");
    let cost = Usd::from_f64(result["total_cost_usd"].as_f64().unwrap());
    assert_eq!(
        result["result"],
        format!("It has cost {cost}; the limit is {most}.")
    );
    assert!(cost > most);
    assert_eq!(
        house.bodies().len(),
        1,
        "the reply that reaches it is the last"
    );
    let system = house.last_body()["system"].to_string();
    assert!(system.contains("Cost: at most"), "{system}");
}
