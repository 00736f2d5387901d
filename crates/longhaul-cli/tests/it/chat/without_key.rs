//! Tests the simulated model, which answers where there is no key, and lines as prompts.

use serde_json::Value;

use super::Provider;
use crate::support::{Finish, World};

#[test]
fn q1_the_offline_model_explains_a_file_again_that_has_not_changed() {
    let world = World::new();
    world.write("project/notes.md", "# Tides\n\nHigh at noon.\n");
    let ask = r#"{"type":"user","message":{"role":"user","content":"explain notes.md"}}"#;
    let args = [
        "chat",
        "-p",
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
    ];
    let run = world
        .longhaul(args)
        .current_dir(world.root().join("project"))
        .finish_with(format!("{ask}\n{ask}\n").as_bytes())
        .ends(0);
    assert!(run.out.contains("File unchanged since"), "{}", run.out);
    let lines = run
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let results: Vec<Value> = lines.filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), 2);
    for result in results {
        let said = result["result"].as_str().unwrap();
        assert!(said.contains("High at noon."), "{said}");
    }
}

#[test]
fn q4_without_a_key_a_simulated_model_answers_and_says_so() {
    let world = World::new();
    let run = world
        .run(["chat", "-p", "Hello"])
        .ends(0)
        .says("a simulated model answers");
    assert!(!run.out.trim().is_empty());
    world
        .run(["chat", "-p", "x", "--model", "claude-opus-5-5"])
        .fails(&["no key or address to reach claude-opus-5-5"]);
}

#[test]
fn q1_without_a_key_chat_knows_its_folder_and_shows_no_file_that_it_is_to_delete() {
    let world = World::new();
    let run = world
        .run(["chat", "-p", "Which folder do you work in?"])
        .ends(0);
    assert!(run.out.contains("I work in `/"), "{}", run.out);
    let run = world.run(["chat", "-p", "Delete Cargo.toml"]).ends(0);
    assert!(run.out.starts_with("I cannot do that"), "{}", run.out);
    assert_eq!(run.out.trim().lines().count(), 1, "{}", run.out);
}

#[test]
fn q1_the_simulated_model_is_marked_as_such_under_the_name_of_a_real_one() {
    let world = World::new();
    let prompt = |text: &str| {
        let message = serde_json::json!({"role": "user", "content": text});
        serde_json::json!({"type": "user", "message": message}).to_string()
    };
    let input = ["/model claude-sonnet-5-5", "Hello", "/cost", "/status"].map(prompt);
    let args = [
        "chat",
        "-p",
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
    ];
    let mut chat = world.longhaul(args);
    let run = chat.finish_with(input.join("\n").as_bytes()).ends(0);
    let lines = run.out.lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let results: Vec<Value> = lines.filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), 4, "{}", run.out);
    for result in &results {
        assert_eq!(result["is_simulated"], true, "{result}");
    }
    let cost = results[2]["result"].as_str().unwrap();
    let total = cost.lines().find(|line| line.contains("total $")).unwrap();
    assert!(total.contains(" simulated"), "{cost}");
    let status = results[3]["result"].as_str().unwrap();
    assert!(status.contains("claude-sonnet-5-5 (simulated)"), "{status}");
}

#[test]
fn q4_what_a_large_session_has_cost_is_waited_for() {
    let world = World::new();
    world.run(["chat", "-p", "Hello"]).ends(0);
    let home = world.root().join("home/projects");
    let project = std::fs::read_dir(home).unwrap().next().unwrap().unwrap();
    let files = std::fs::read_dir(project.path()).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let is_transcript =
        |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "jsonl");
    let transcript = files.find(is_transcript).unwrap();
    // A sub-agent's transcript takes time where the cost is read, and none where the session is opened.
    let text = std::fs::read_to_string(&transcript).unwrap();
    let folder = longhaul_store::layout::subagents_folder(&transcript);
    std::fs::create_dir_all(&folder).unwrap();
    let large = text.repeat(8_000_000 / text.len() + 1);
    std::fs::write(folder.join("agent-1.jsonl"), large).unwrap();
    let run = world.run(["chat", "-p", "--continue", "/cost"]).ends(0);
    assert!(run.out.contains("before it was resumed: $"), "{}", run.out);
    assert!(!run.out.contains("total $0.00 "), "{}", run.out);
}

#[test]
fn q1_where_there_is_no_shell_a_command_ends_with_what_to_install() {
    let world = World::new();
    let mut chat = world.longhaul(["chat", "--allowed-tools", "Bash", "-p", "run `echo hi`"]);
    let run = chat.env("PATH", world.root()).finish().ends(0);
    let said = if cfg!(windows) {
        "there is no bash; install Git for Windows"
    } else {
        "there is neither bash nor sh on the PATH; install one of them"
    };
    assert!(run.out.contains(said), "{}", run.out);
}

#[test]
fn q1_lines_are_prompts() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    let run = provider
        .chat(&world, &["First?"])
        .finish_with(b"Second?\n")
        .ends(0);
    assert!(
        run.out.contains("One.") && run.out.contains("Two."),
        "{}",
        run.out
    );
    // One answer follows the other, and the output of `/context` is between them.
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    let run = provider
        .chat(&world, &[])
        .finish_with(b"First?\n/context\nSecond?\n/cost\n")
        .ends(0);
    let at = |text: &str| run.out.find(text).unwrap_or_else(|| panic!("{}", run.out));
    assert!(at("One.") < at("tool") && at("tool") < at("Two.") && at("Two.") < at("total $"));
}

#[test]
fn q2_a_tour_comes_to_its_end_in_a_pipe_too() {
    let world = World::new();
    // The files and the settings of the user have no part in it.
    world.write("project/src/main.rs", "fn main() {}\n");
    world.write("home/config.toml", "[compaction]\nautomatic = false\n");
    world.write("claude/CLAUDE.md", "Answer in French.\n");
    let folder = world.root().join("project");
    let run = world
        .longhaul(["chat", "--tour"])
        .current_dir(&folder)
        .finish()
        .ends(0);
    for shown in [
        "Welcome.",
        "> Never change anything under data/.",
        "● compacted ",
        "Rules          1 of 1 word for word",
        "/resume ",
        "resumed after",
        "> Where were we?",
        "came from the cache",
        "That is the tour",
        "longhaul wrap claude",
    ] {
        assert!(run.out.contains(shown), "{shown}: {}", run.out);
    }
    assert!(!run.out.contains("main.rs"), "{}", run.out);
    // What the guide shows is what the tour prints.
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/chat.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let block = guide.split_once("```console\n").unwrap().1;
    let block = block.split_once("```").unwrap().0;
    assert!(block.lines().count() > 3);
    // The name of the folder is in the prompts, so the last digits differ.
    let rounded = |text: &str| {
        let mut parts = text.split(',').map(str::to_owned);
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |before, part| {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let is_thousands = digits == 3 && before.ends_with(|last: char| last.is_ascii_digit());
            let part = if is_thousands { &part[3..] } else { &part };
            format!("{before},{part}")
        })
    };
    let shown = rounded(&run.out);
    for line in block.lines() {
        assert!(shown.contains(&rounded(line)), "{line:?}: {}", run.out);
    }
    let listed = world.run(["inspect", "home/projects"]).ends(0);
    assert!(listed.out.contains("1 file,"), "{}", listed.out);
}

#[test]
fn q1_without_a_key_the_cache_is_warm_when_a_session_is_continued() {
    let world = World::new();
    world.write("project/README.md", "# A shop\n\nIt sells tea.\n");
    let folder = world.root().join("project");
    let ask = |args: &[&str]| {
        let all = ["chat", "--output-format", "json"].iter().chain(args);
        let run = world.longhaul(all).current_dir(&folder).finish().ends(0);
        let json = run.json();
        let count = |name: &str| json["usage"][name].as_u64().unwrap();
        (
            count("cache_read_input_tokens"),
            count("cache_creation_input_tokens"),
        )
    };
    let (_, written) = ask(&["-p", "What is in this project?"]);
    let (read, _) = ask(&["-p", "--continue", "Where were we?"]);
    assert!(written > 3_000 && read > 3_000, "{written} {read}");
}
