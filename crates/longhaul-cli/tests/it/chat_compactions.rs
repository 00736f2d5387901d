//! Compactions in `longhaul chat -p`: what the model is asked, what it sees afterwards, and what hooks and the log say
//! about it.

use serde_json::{Value, json};

use crate::chat::Provider;
use crate::support::{Finish, Run, World};

const OFF: &str = "Stop. Cancel that, scrap the whole Postgres migration. We stay on MySQL.";
const TODO: &str = "Migrate the user tables to Postgres";

/// A turn with a long answer.
fn long() -> String {
    json!({"text": "A long story about the river. ".repeat(400)}).to_string()
}

/// A turn that writes a todo list with work for a migration.
fn todos() -> String {
    let todos = json!([{"content": TODO, "status": "in_progress", "activeForm": "Migrating"}]);
    json!({"tools": [{"name": "TodoWrite", "input": {"todos": todos}}]}).to_string()
}

/// Sends these prompts, one after the other, to one session in print mode. All are answered.
fn talk(world: &World, turns: &[String], prompts: &[&str], args: &[&str]) -> Run {
    say(world, turns, prompts, args).ends(0)
}

fn say(world: &World, turns: &[String], prompts: &[&str], args: &[&str]) -> Run {
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    let provider = Provider::scripted(&turns);
    let input = prompts.iter().map(|text| {
        let line = json!({"type": "user", "message": {"role": "user", "content": text}});
        format!("{line}\n")
    });
    let mut chat = provider.chat(world, &["-p", "--input-format", "stream-json"]);
    chat.args(["--output-format", "stream-json"])
        .args(args)
        .env("LONGHAUL_LOG_FORMAT", "json");
    chat.finish_with(input.collect::<String>().as_bytes())
}

fn lines(run: &Run) -> Vec<Value> {
    let lines = run.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The first request after what was said, as text.
fn next_request(world: &World, run: &Run) -> String {
    let id = lines(run)[0]["session_id"].as_str().unwrap().to_owned();
    let shown = world.run(["show", &id[..8], "--request", "--say", "Go on."]);
    let request = shown.ends(0).json();
    let mut texts = Vec::new();
    for message in request["messages"].as_array().unwrap() {
        for block in message["content"].as_array().unwrap() {
            texts.extend(block["text"].as_str().map(str::to_owned));
        }
    }
    texts.join("\n")
}

#[test]
fn y4_work_that_was_called_off_in_a_chat_carries_the_words_and_is_no_next_step() {
    let world = World::new();
    let turns = [todos(), long(), long(), long()];
    let prompts = ["Please migrate our database to Postgres.", OFF, "/compact"];
    let run = talk(&world, &turns, &prompts, &[]);
    let seen = next_request(&world, &run);
    assert!(seen.contains(TODO), "nothing is deleted: {seen}");
    for (at, _) in seen.match_indices(TODO) {
        let near = seen.get(at.saturating_sub(600)..).unwrap_or(&seen[at..]);
        let near: String = near.chars().take(1_200 + TODO.len()).collect();
        assert!(near.contains("Cancel that, scrap the whole"), "{near}");
    }
    // What the model wrote stays, with the user's words beside it; the engine proposes none of it.
    let next = seen.split("9. Next step").nth(1).unwrap();
    let next = next.split("\n\n").next().unwrap();
    for line in next.lines().filter(|line| line.contains(TODO)) {
        assert!(
            line.contains("(called off; the user has said since: “Stop."),
            "{line}"
        );
    }
    assert!(!seen.contains(&format!("- Go on with: {TODO}")), "{seen}");
}

#[test]
fn y4_words_that_call_work_off_are_a_setting_of_the_chat() {
    let off = "Abblasen, bitte.";
    for (set, is_off) in [
        ("called_off.words=hinfällig", false),
        ("called_off.words=abblasen,hinfällig", true),
    ] {
        let world = World::new();
        let turns = [todos(), long(), long(), long()];
        let prompts = ["Please migrate our database to Postgres.", off, "/compact"];
        let run = talk(&world, &turns, &prompts, &["--set", set]);
        let seen = next_request(&world, &run);
        assert!(seen.contains(TODO), "{seen}");
        let quoted = format!("“{off}”");
        assert_eq!(seen.contains(&quoted), is_off, "{set}: {seen}");
    }
}

#[test]
fn f4_c1_compact_instructions_are_read_when_a_compaction_of_a_chat_begins() {
    let world = World::new();
    world.write(
        "CLAUDE.md",
        "# Compact Instructions\n\nKeep every port number.\n",
    );
    let change = "printf '# Compact Instructions\\n\\nKeep every colour.\\n' > CLAUDE.md";
    let change = json!({"tools": [{"name": "Bash", "input": {"command": change}}]}).to_string();
    let turns = [change, long(), long()];
    let args = ["--allowed-tools", "Bash", "--trust"];
    let run = talk(&world, &turns, &["Change it.", "/compact"], &args);
    // The simulated model says in its summary which instructions it was given.
    let seen = next_request(&world, &run);
    let minds = seen.split("This summary was asked to mind:").nth(1);
    let minds = minds.unwrap_or_else(|| panic!("{seen}"));
    assert!(minds.contains("Keep every colour."), "{minds}");
    assert!(!seen.contains("Keep every port number."), "{seen}");
}

#[test]
fn k1_q4_what_compaction_hooks_say_reaches_who_runs_print_mode() {
    let world = World::new();
    let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let settings = json!({"hooks": {
        "PreCompact": hook(r#"echo '{"systemMessage": "the backup is made"}'"#),
        "PostCompact": hook("echo 'the index was not renewed' >&2; exit 2"),
    }});
    world.write("claude/settings.json", settings.to_string());
    let run = talk(&world, &[long(), long()], &["Tell me.", "/compact"], &[]);
    for said in ["the backup is made", "the index was not renewed"] {
        assert!(run.err.contains(said), "{said} in {}", run.err);
    }

    let settings =
        json!({"hooks": {"PreCompact": hook("echo 'not before the release' >&2; exit 2")}});
    world.write("claude/settings.json", settings.to_string());
    let run = say(&world, &[long(), long()], &["Tell me.", "/compact"], &[]).ends(1);
    assert!(run.err.contains("not before the release"), "{}", run.err);
}

#[test]
fn e1_o4_the_log_of_a_chat_has_the_fields_of_a_compaction() {
    let world = World::new();
    let args = ["--log", "info"];
    let run = talk(&world, &[long(), long()], &["Tell me.", "/compact"], &args);
    let logged: Vec<Value> = (run.err.lines())
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let is_compact = |line: &&Value| line.to_string().contains(r#""event":"compact""#);
    let found = logged.iter().find(is_compact);
    let line = found.unwrap_or_else(|| panic!("{}", run.err));
    let fields = if line["fields"].is_object() {
        &line["fields"]
    } else {
        line
    };
    for name in [
        "trigger",
        "pre_tokens",
        "post_tokens",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "duration_ms",
        "cost",
        "turn_id",
        "threshold",
        "source",
    ] {
        assert!(!fields[name].is_null(), "{name}: {line}");
    }
    // The reported, the logged and the written number are the same.
    let told = lines(&run);
    let boundary = told
        .iter()
        .find(|line| line["subtype"] == "compact_boundary");
    let metadata = &boundary.unwrap()["compact_metadata"];
    assert_eq!(metadata["pre_tokens"], fields["pre_tokens"], "{line}");
}

#[test]
fn d3_the_diff_of_a_cache_that_was_not_read_lies_with_the_chats_session() {
    let world = World::new();
    // This provider cannot read what it wrote to its cache a moment ago.
    let prompts = ["Tell me.", "More."];
    let args = ["--model", "claude-sonnet-4-6", "--log", "info"];
    let run = talk(&world, &[long(), long()], &prompts, &args);
    let logged = (run.err.lines()).filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let diffs: Vec<String> = logged
        .filter_map(|line| line["fields"]["diff"].as_str().map(str::to_owned))
        .collect();
    let [diff] = diffs.as_slice() else {
        panic!("{}", run.err);
    };
    let id = lines(&run)[0]["session_id"].as_str().unwrap().to_owned();
    assert!(diff.contains(&id), "{diff}");
    assert!(std::fs::metadata(diff).unwrap().len() > 0, "{diff}");
}
