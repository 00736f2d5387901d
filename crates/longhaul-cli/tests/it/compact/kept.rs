//! What `longhaul compact`, `inspect`, `show` and `recall` keep and report of what the user said.

use std::path::Path;

use longhaul_testkit::corpora;
use serde_json::{Value, json};

use super::Found;
use crate::support::{Finish, World};

/// Lines of a session that another program wrote, one entry after the other.
#[derive(Default)]
struct Lines {
    lines: Vec<Value>,
    parent: Option<String>,
}

impl Lines {
    fn push(&mut self, mut line: Value) {
        let at = self.lines.len() + 1;
        let uuid = format!("00000000-0000-4000-8000-{at:012}");
        line["uuid"] = json!(uuid);
        line["parentUuid"] = json!(self.parent);
        line["sessionId"] = json!("s");
        line["isSidechain"] = json!(false);
        line["timestamp"] = json!(format!("2026-05-01T10:{:02}:{:02}.000Z", at / 60, at % 60));
        self.parent = Some(uuid);
        self.lines.push(line);
    }

    fn user(&mut self, content: Value) {
        self.push(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    fn reply(&mut self, id: &str, content: Value, output: u64) {
        self.push(json!({"type": "assistant", "message": {"id": id, "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": content, "stop_reason": "end_turn",
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 1_000, "output_tokens": output}}}));
    }

    fn says(&mut self, id: &str, text: &str) {
        self.reply(
            id,
            json!([{"type": "text", "text": text}]),
            text.len() as u64 / 3 + 1,
        );
    }

    fn calls(&mut self, id: &str, tool: &str, input: Value, result: &str, is_error: bool) {
        let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        self.reply(&format!("msg_{id}"), call, 200);
        self.user(json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}]));
    }

    /// The next entry has no parent.
    fn begin_anew(&mut self) {
        self.parent = None;
    }

    fn write(&self, world: &World, name: &str) -> std::path::PathBuf {
        let lines: Vec<String> = self.lines.iter().map(Value::to_string).collect();
        world.write(name, lines.join("\n") + "\n")
    }
}

fn much() -> String {
    "Here is what I know about it, line by line. ".repeat(600)
}

/// Compacts without a model, and gives what people said in the new view, and the report.
#[track_caller]
fn compacted(world: &World, file: &Path) -> (String, Value) {
    let out = world.root().join("out.jsonl");
    let _ = std::fs::remove_file(&out);
    let mut command = world.longhaul(["compact", "--local", "--json", "--output"]);
    let report = command.arg(&out).arg(file).finish().ends(0).json();
    let found = Found::at(&out);
    found.is_accepted("out.jsonl");
    (found.said(), report["report"].clone())
}

#[test]
fn x1_a_short_session_is_not_compacted_at_the_price_of_the_users_words() {
    let world = World::new();
    let mut lines = Lines::default();
    let rules: Vec<String> = (0..8)
        .map(|at| format!("Never touch table number {at} of the billing schema, whatever happens."))
        .collect();
    lines.user(json!(rules.join("\n").repeat(3)));
    lines.says("msg_1", "I will keep to that.");
    let file = lines.write(&world, "short.jsonl");
    let before = std::fs::read(&file).unwrap();
    let out = world.root().join("out.jsonl");
    let run = |args: &[&str]| {
        world
            .longhaul(["compact", "--local"])
            .args(args)
            .arg(&file)
            .finish()
    };
    run(&["--output", "out.jsonl"])
        .ends(1)
        .says("only cut your own words");
    assert!(!out.exists(), "nothing is written");
    run(&["--preview"]).ends(1);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn x1_a_small_window_takes_no_more_of_the_users_words_than_it_must() {
    let Some(files) = corpora::claude_code_transcripts() else {
        return;
    };
    let world = World::new();
    for file in files {
        for window in ["20000", "40000"] {
            let run = world
                .longhaul([
                    "compact",
                    "--local",
                    "--preview",
                    "--json",
                    "--window",
                    window,
                ])
                .arg(&file)
                .finish();
            if run.code == 1 {
                continue;
            }
            let told = run.ends(0).json();
            let (report, after) = (&told["report"], told["after"].as_u64().unwrap());
            let messages = &report["user_messages"];
            let name = file.display();
            assert_eq!(messages["omitted"], 0, "{name} {window}: {report}");
            assert_eq!(
                report["rules"]["verbatim"], report["rules"]["total"],
                "{name} {window}"
            );
            assert!(after < told["before"].as_u64().unwrap(), "{name} {window}");
        }
    }
}

#[test]
fn x1_answers_and_refusals_inside_results_are_the_users_words() {
    let world = World::new();
    let mut lines = Lines::default();
    lines.user(json!("Set the project up."));
    let asked = json!({"questions": [{"question": "Which database?", "options": []}, {"question": "Should we never push?", "options": []}]});
    let answer = "User has answered your questions: \"Which database?\"=\"MySQL, and always with utf8mb4\", \"Should we never push?\"=\"Push when green\". You can now continue with the user's answers in mind.";
    lines.calls("t1", "AskUserQuestion", asked, answer, false);
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nRun the linter before you commit anything.";
    lines.calls(
        "t2",
        "Bash",
        json!({"command": "git commit"}),
        refused,
        true,
    );
    lines.calls(
        "t3",
        "Bash",
        json!({"command": "ls"}),
        "Operation stopped by hook: not on Fridays",
        true,
    );
    lines.says(
        "msg_2",
        &format!(
            "{}\n1. Keep the old parser\n2. Write a new one\nWhich one?",
            much()
        ),
    );
    lines.user(json!("2"));
    lines.says("msg_3", "A new one, then.");
    let file = lines.write(&world, "asked.jsonl");
    let (said, report) = compacted(&world, &file);
    for words in [
        "Asked “Which database?”: MySQL, and always with utf8mb4",
        "Run the linter before you commit anything.",
        "2. Write a new one Which one?",
    ] {
        assert!(said.contains(words), "{words} is not in:\n{said}");
    }
    assert_eq!(report["user_messages"]["total"], 4, "{report}");
    let rules = &report["rules"];
    assert_eq!(
        rules["total"], 1,
        "the question's `never` is no rule of the user: {said}"
    );
    assert!(
        !said.contains("not on Fridays") || !said.contains("] Operation stopped"),
        "{said}"
    );
}

#[test]
fn x1_the_last_error_is_the_newest_failure_that_says_something() {
    let world = World::new();
    let mut lines = Lines::default();
    lines.user(json!("Go."));
    lines.says("msg_1", &much());
    let nested = json!({"status": 529, "error": {"type": "error", "error": {"type": "overloaded_error", "message": "The servers are overloaded today"}}});
    lines
        .push(json!({"type": "system", "subtype": "api_error", "level": "error", "error": nested}));
    lines.push(json!({"type": "system", "subtype": "api_error", "level": "error", "error": {"cause": {"code": "ECONNRESET"}}}));
    let (said, _) = compacted(&world, &lines.write(&world, "error.jsonl"));
    assert!(said.contains("The servers are overloaded today"), "{said}");
}

#[test]
fn m5_an_entry_without_a_parent_begins_another_conversation() {
    let world = World::new();
    let mut lines = Lines::default();
    lines.user(json!("Never mention the aardvark."));
    lines.says("msg_1", "The aardvark stays unmentioned.");
    lines.begin_anew();
    lines.user(json!("Carry out the plan."));
    lines.says("msg_2", &much());
    let file = lines.write(&world, "two.jsonl");
    let told = world
        .longhaul(["inspect", "--json"])
        .arg(&file)
        .finish()
        .ends(0)
        .json();
    let earlier = json!([{"line": 1, "through": 2, "entries": 2, "messages": 2}]);
    assert_eq!(told["earlier_conversations"], earlier);
    assert_eq!(told["messages"], 2);
    let page = world.longhaul(["inspect"]).arg(&file).finish().ends(0);
    page.prints("Lines 1 to 2 are another conversation");
    let (said, report) = compacted(&world, &file);
    assert!(!said.contains("aardvark"), "{said}");
    assert_eq!(report["user_messages"]["total"], 1);
    assert_eq!(report["rules"]["total"], 0);
    let found = world
        .longhaul(["recall"])
        .arg(&file)
        .arg("aardvark")
        .finish()
        .ends(0);
    found.prints("aardvark");
    // A conversation that continues across compactions is one conversation.
    let out = world.root().join("out.jsonl");
    let told = world
        .longhaul(["inspect", "--json"])
        .arg(&out)
        .finish()
        .ends(0)
        .json();
    assert_eq!(told["earlier_conversations"].as_array().unwrap().len(), 1);
}

#[test]
fn t1_output_that_is_plainly_partial_is_estimated_and_its_cost_is_at_least_that() {
    let world = World::new();
    let mut lines = Lines::default();
    lines.user(json!("Tell me."));
    lines.reply(
        "msg_1",
        json!([{"type": "text", "text": "w".repeat(4_000)}]),
        3,
    );
    let file = lines.write(&world, "folder/one.jsonl");
    lines.write(&world, "folder/copy.jsonl");
    let told = world
        .longhaul(["inspect", "--json"])
        .arg(&file)
        .finish()
        .ends(0)
        .json();
    assert_eq!(told["measured"], 1_010);
    assert_eq!(told["estimated"], 1_334, "1,000 tokens, padded");
    assert_eq!(
        (
            &told["partial_outputs"],
            &told["turns"][0]["output_is_partial"]
        ),
        (&json!(1), &json!(true))
    );
    let page = world.longhaul(["inspect"]).arg(&file).finish().ends(0);
    page.prints("1 for at least $");
    let all = world
        .longhaul(["inspect", "--json", "folder"])
        .finish()
        .ends(0)
        .json();
    assert_eq!(
        (&all["totals"]["rounds"], &all["totals"]["repeated_rounds"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        all["totals"]["cost_usd"], told["cost_usd"],
        "a response counts once"
    );
    world
        .run(["inspect", "folder"])
        .ends(0)
        .prints("at least $");
}

#[test]
fn z2_text_of_white_space_alone_is_in_no_request() {
    let world = World::new();
    let mut lines = Lines::default();
    lines.user(json!("Look."));
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}});
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"});
    lines.reply("msg_1", json!([{"type": "text", "text": "\n\n"}]), 1);
    lines.reply("msg_1", json!([thought]), 1);
    lines.reply("msg_1", json!([call]), 30);
    lines.user(json!([{"type": "tool_result", "tool_use_id": "t1", "content": "a.rs"}]));
    let file = lines.write(&world, "blank.jsonl");
    let run = world
        .longhaul(["show", "--request"])
        .arg(&file)
        .finish()
        .ends(0);
    let blocks = run.json()["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap().clone())
        .collect::<Vec<_>>();
    assert!(
        blocks.iter().all(|block| block["text"]
            .as_str()
            .is_none_or(|text| !text.trim().is_empty())),
        "{blocks:?}"
    );
    assert!(blocks.iter().any(|block| block["type"] == "tool_use"));
}

#[test]
fn m7_a_foreign_transcript_that_was_compacted_still_makes_a_request() {
    let world = World::new();
    let mut lines = Lines::default();
    lines.user(json!("Tell me all."));
    lines.says("msg_1", &much());
    let file = lines.write(&world, "foreign.jsonl");
    compacted(&world, &file);
    for args in [
        &["show", "--request"][..],
        &["show", "--request", "--say", "Go on."],
    ] {
        let body = world
            .longhaul(args)
            .arg(world.root().join("out.jsonl"))
            .finish()
            .ends(0)
            .json();
        assert_eq!(body["model"], "claude-sonnet-4-5", "{args:?}");
    }
    let bytes = std::fs::read(world.root().join("out.jsonl")).unwrap();
    let piped = world
        .longhaul(["show", "-", "--request"])
        .finish_with(&bytes)
        .ends(0)
        .json();
    assert_eq!(piped["model"], "claude-sonnet-4-5");
}
