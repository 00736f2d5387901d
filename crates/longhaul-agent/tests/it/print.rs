//! Tests of print.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_agent::agent::{Said, Start};
use longhaul_agent::print::{Exit, Format, Options, print, prompts};
use longhaul_agent::tool::{Access, Toolbox};
use longhaul_provider::CancellationToken;
use serde_json::{Value, json};

use crate::agent::house::{House, Rules, Toy, calls, long, text};

/// Prints and gives the code, what was written and what was said.
async fn printed(house: &House, said: Vec<Said>, options: Options) -> (Exit, String, Vec<String>) {
    let builder = house.builder().unattended();
    let (mut agent, mut events) = builder.open(Start::New).await.unwrap();
    let (mut out, mut talk) = (Vec::new(), Vec::new());
    let mut hear = |line: &str| talk.push(line.to_owned());
    let exit = print(&mut agent, &mut events, said, &options, &mut out, &mut hear).await;
    (exit.unwrap(), String::from_utf8(out).unwrap(), talk)
}

fn in_format(format: Format) -> Options {
    Options {
        format,
        ..Options::default()
    }
}

/// What differs from run to run, taken out.
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

/// As a snapshot shows it: a line each, the ids of this run by their order.
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
        .with(Toy::echo("Look", Access::Reads(PathBuf::from("/x"))))
        .with(Toy::echo("Change", Access::Writes(PathBuf::from("/x"))));
    house.gate = Some(Arc::new(Rules {
        ask: vec!["Change"],
        ..Rules::default()
    }));
    house
}

#[tokio::test]
async fn q4_text_is_the_last_reply_and_nothing_else() {
    let house = with_tool().await;
    let (exit, out, talk) = printed(&house, vec!["Go.".into()], Options::default()).await;
    assert_eq!(
        (exit, out.as_str()),
        (Exit::Done, "Done, as far as I may.\n")
    );
    assert_eq!(talk, ["Change b was not allowed: it changes something"]);
}

#[tokio::test]
async fn q4_json_is_one_object() {
    let house = with_tool().await;
    let (exit, out, _) = printed(&house, vec!["Go.".into()], in_format(Format::Json)).await;
    assert_eq!(exit.code(), 0);
    assert_eq!(out.lines().count(), 1);
    insta::assert_snapshot!(shown(&out));
}

#[tokio::test]
async fn q4_stream_json_is_an_object_a_line_as_things_happen() {
    let house = with_tool().await;
    let (_, out, _) = printed(&house, vec!["Go.".into()], in_format(Format::StreamJson)).await;
    insta::assert_snapshot!(shown(&out));
}

#[tokio::test]
async fn q4_a_compaction_is_a_line_of_the_stream() {
    let turns: Vec<Value> = (0..9).map(|_| long()).collect();
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(24_000);
    let said = (1..=4)
        .map(|number| Said::text(format!("Part {number}.")))
        .collect();
    let (exit, out, _) = printed(&house, said, in_format(Format::StreamJson)).await;
    assert_eq!(exit, Exit::Done);
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
    let (exit, out, _) = printed(&house, vec!["Go.".into()], in_format(Format::Json)).await;
    assert_eq!(exit.code(), 1);
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("error_max_turns"), &json!(true))
    );

    let mut house = House::scripted(&[text("x")]).await;
    house.model = "claude-of-nowhere".into();
    let (exit, _, talk) = printed(&house, vec!["Go.".into()], Options::default()).await;
    assert_eq!(exit.code(), 2, "{talk:?}");
    assert!(
        talk.iter().any(|line| line.contains("claude-of-nowhere")),
        "{talk:?}"
    );

    let house = House::scripted(&[text("x")]).await;
    let interrupt = CancellationToken::new();
    interrupt.cancel();
    let options = Options {
        interrupt,
        ..in_format(Format::Json)
    };
    let (exit, out, _) = printed(&house, vec!["Go.".into()], options).await;
    assert_eq!(exit.code(), 130);
    assert!(out.contains("error_during_execution"));
}

#[test]
fn q4_prompts_are_read_from_a_stream_of_objects() {
    let text = r#"{"type":"user","message":{"role":"user","content":"One."}}

{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Two."},{"type":"image","source":{}}]}}"#;
    let said = prompts(text).unwrap();
    assert_eq!(said[0], Said::text("One."));
    assert_eq!((said[1].text.as_str(), said[1].blocks.len()), ("Two.", 1));
    let wrong = prompts("\n{\"type\":\"assistant\"}").unwrap_err();
    assert_eq!(wrong.line, 2);
}
