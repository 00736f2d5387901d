//! Tests print mode: a prompt, its answer, streams and signals (Q4).

use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Provider;
use crate::support::{Finish, Run, World};

#[test]
fn q4_a_prompt_is_answered_on_stdout() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"It is a shop."}"#, r#"{"text":"Yes."}"#]);
    let run = provider
        .chat(&world, &["-p", "What is this?"])
        .finish()
        .ends(0);
    assert_eq!(
        (run.out.as_str(), run.err.as_str()),
        ("It is a shop.\n", "")
    );
    let run = provider
        .chat(&world, &["-p", "--continue", "--output-format", "json"])
        .finish_with(b"Sure?")
        .ends(0);
    assert_eq!(run.json()["result"], "Yes.");
    assert_eq!(run.json()["subtype"], "success");
    let id = run.json()["session_id"].as_str().unwrap().to_owned();
    let inspected = world.run(["inspect", &id[..8], "--json"]).ends(0);
    assert_eq!(inspected.json()["rounds"], 2);
}

#[test]
fn q4_a_stream_is_an_object_a_line() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    let input = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"A\"}}\n{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"B\"}}\n";
    let args = [
        "-p",
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
    ];
    let run = provider.chat(&world, &args).finish_with(input).ends(0);
    let kinds: Vec<String> = run
        .out
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        ["system", "assistant", "result", "assistant", "result"]
    );
}

#[test]
fn q4_a_line_that_fails_gets_its_result_and_the_next_one_is_answered() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    let prompt = |text: &str| {
        let message = serde_json::json!({"role": "user", "content": text});
        serde_json::json!({"type": "user", "message": message}).to_string()
    };
    let input = [
        "no JSON".to_owned(),
        prompt("/nonsense"),
        prompt("A"),
        prompt(""),
        prompt("B"),
    ];
    let args = [
        "-p",
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
    ];
    let run = provider.chat(&world, &args);
    let run = { run }.finish_with(input.join("\n").as_bytes()).ends(1);
    let lines = run.out.lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let results: Vec<Value> = lines.filter(|line| line["type"] == "result").collect();
    let failed = results
        .iter()
        .map(|line| line["is_error"].as_bool().unwrap());
    assert_eq!(
        failed.collect::<Vec<_>>(),
        [true, true, false, true, false],
        "{}",
        run.out
    );
    assert_eq!(
        (&results[2]["result"], &results[4]["result"]),
        (&"One.".into(), &"Two.".into())
    );
}

#[test]
fn q4_what_cannot_begin_ends_with_two() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#]);
    let run = |args: &[&str]| -> Run { provider.chat(&world, args).finish() };
    run(&["-p"]).fails(&["there is no prompt", "pipe it in"]);
    run(&["-p", "x", "--continue"]).fails(&["no session in"]);
    run(&["-p", "x", "--resume", "nobody"]).fails(&["no session nobody found"]);
    run(&["-p", "x", "--output-format", "xml"]).ends(2);
    run(&["--output-format", "json"]).ends(2);
    run(&["-p", "x", "--model", "claude-of-nowhere"])
        .ends(2)
        .says("claude-of-nowhere");
    run(&["-p", "x", "--window", "100"])
        .ends(2)
        .says("too small");
    run(&["-p", "x", "--add-dir", "nowhere"]).fails(&["nowhere: not a folder"]);
    world.write("home/config.toml", "[compaction]\nautomatc = true\n");
    run(&["-p", "x"]).fails(&["config.toml", "2"]);
}

#[test]
fn q4_a_new_session_can_be_given_its_id() {
    let world = World::new();
    let id = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
    let args = ["chat", "-p", "--session-id", id, "Hello"];
    world.run(args).ends(0);
    let listed = world.run(["inspect", id, "--json"]).ends(0);
    assert_eq!(listed.json()["rounds"], 1);
    world.run(args).ends(2).says("there is a session 6f9619ff");
    for no_uuid in [
        "12",
        "no-uuid!/..",
        "6f9619ff-8b86-4d01-b42d-00cf4fc964fg",
        "6f9619ff8b864d01b42d00cf4fc964ff",
    ] {
        world
            .run(["chat", "-p", "--session-id", no_uuid, "Hello"])
            .ends(2)
            .says("is not a UUID: --session-id takes one");
    }
    world
        .run(["chat", "-p", "Hello", "--resume"])
        .fails(&["--resume needs the id of a session"]);
}

#[test]
fn q4_files_that_a_prompt_mentions_go_with_it() {
    let world = World::new();
    world.write("project/notes.txt", "the tea is green\n");
    world.write("secret.txt", "the safe is open\n");
    let provider = Provider::scripted(&[r#"{"text":"It is green."}"#]);
    let prompt = "What about @notes.txt, @../secret.txt and @nobody?";
    let run = provider
        .chat(&world, &["-p", prompt])
        .current_dir(world.root().join("project"))
        .finish()
        .ends(0)
        .says("attached notes.txt (1 line)")
        .says("../secret.txt is not attached");
    assert_eq!(run.out, "It is green.\n");
    let folder = std::fs::read_dir(world.home().join("projects")).unwrap();
    let folder = folder.map(|it| it.unwrap().path()).next().unwrap();
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path());
    let transcript = files
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect::<String>();
    assert!(transcript.contains("the tea is green"));
    assert!(!transcript.contains("the safe is open"));
}

#[test]
fn k1_settings_of_a_project_that_nobody_trusts_do_not_count_in_print_mode() {
    let world = World::new();
    let turns = [
        r#"{"tools":[{"name":"Bash","input":{"command":"touch made.txt"}}]}"#,
        r#"{"text":"Done."}"#,
    ];
    let settings = r#"{"permissions": {"allow": ["Bash(touch:*)"]}}"#;
    world.write("project/.claude/settings.json", settings);
    let folder = world.root().join("project");
    let provider = Provider::scripted(&turns);
    provider
        .chat(&world, &["-p", "Go."])
        .current_dir(&folder)
        .finish()
        .ends(0)
        .says("is not trusted");
    assert!(!folder.join("made.txt").exists());
    let provider = Provider::scripted(&turns);
    provider
        .chat(&world, &["-p", "Go.", "--trust"])
        .current_dir(&folder)
        .finish()
        .ends(0);
    assert!(folder.join("made.txt").exists());
    let provider = Provider::scripted(&turns);
    std::fs::remove_file(folder.join("made.txt")).unwrap();
    provider
        .chat(
            &world,
            &["-p", "Go.", "--allowed-tools", "Read, Bash(touch:*)"],
        )
        .current_dir(&folder)
        .finish()
        .ends(0);
    assert!(folder.join("made.txt").exists());
    provider
        .chat(&world, &["-p", "Go.", "--disallowed-tools", "Bash(x"])
        .finish()
        .fails(&["is not a valid rule"]);
}

#[cfg(unix)]
#[test]
fn q4_a_signal_ends_it_cleanly() {
    let world = World::new();
    let provider =
        Provider::scripted(&[r#"{"text":"A long story of many words.","fault":"stall(after=4)"}"#]);
    for signal in ["-INT", "-TERM"] {
        let mut child = provider
            .chat(
                &world,
                &["-p", "Tell me.", "--output-format", "stream-json"],
            )
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The first line has been printed, so the program listens to signals.
        let mut first = [0];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut first)
            .unwrap();
        let killed = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let out = String::from_utf8(output.stdout).unwrap();
        let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!(last["subtype"], "error_during_execution");
        let id = last["session_id"].as_str().unwrap();
        world.run(["inspect", id, "--json"]).ends(0);
    }
}

#[cfg(unix)]
#[test]
fn q4_a_reader_that_goes_away_is_no_error() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#]);
    let mut child = provider
        .chat(&world, &["-p", "x", "--output-format", "stream-json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn q4_each_prompt_of_a_stream_is_answered_while_the_input_stays_open() {
    use std::io::{BufRead, BufReader, Write};
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    let args = [
        "-p",
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
    ];
    let mut child = provider
        .chat(&world, &args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for answer in ["One.", "Two."] {
        let prompt = r#"{"type":"user","message":{"role":"user","content":"Go on."}}"#;
        writeln!(stdin, "{prompt}").unwrap();
        let result = lines
            .by_ref()
            .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
            .find(|line| line["type"] == "result")
            .unwrap();
        assert_eq!(result["result"], answer);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn q4_commands_work_in_print_mode() {
    let world = World::new();
    let long = format!(
        r#"{{"text":"{}"}}"#,
        "A long story about the river. ".repeat(300)
    );
    let provider = Provider::scripted(&[&long, r#"{"text":"Two."}"#]);
    world.write(".claude/commands/greet.md", "Say hello to $ARGUMENTS.");
    let chat = |args: &[&str]| provider.chat(&world, args).finish();
    chat(&["-p", "Tell me a story."]).ends(0);
    let run = chat(&["-p", "--continue", "/context"]).ends(0);
    assert!(run.out.contains("your messages"), "{}", run.out);
    let run = chat(&[
        "-p",
        "--continue",
        "/compact keep the river",
        "--output-format",
        "json",
    ])
    .ends(0);
    let result = run.json()["result"].as_str().unwrap().to_owned();
    assert!(result.starts_with("● compacted"), "{result}");
    assert_eq!(run.json()["num_turns"], 0);
    let id = run.json()["session_id"].as_str().unwrap().to_owned();
    let inspected = world.run(["inspect", &id[..8], "--json"]).ends(0);
    assert_eq!(inspected.json()["boundaries"].as_array().unwrap().len(), 1);
    let run = chat(&["-p", "--continue", "/report"]).ends(0);
    assert!(run.out.contains("1 of 1 word for word"), "{}", run.out);
    chat(&["-p", "--continue", "/nonsense"])
        .ends(1)
        .says("there is no command /nonsense");
    chat(&["-p", "--continue", "/greet the captain"]).ends(0);
    let found = world.run(["recall", &id[..8], "captain"]).ends(0);
    assert!(
        found.out.contains("Say hello to the captain."),
        "{}",
        found.out
    );
}

#[test]
fn a1_settings_for_language_and_style_reach_the_model() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"Shwmae."}"#]);
    let settings = r#"{"language": "Welsh", "outputStyle": "Explanatory"}"#;
    world.write("claude/settings.json", settings);
    let run = provider
        .chat(
            &world,
            &["-p", "Hi", "--output-format", "json", "--max-turns", "3"],
        )
        .finish()
        .ends(0);
    let id = run.json()["session_id"].as_str().unwrap().to_owned();
    let last = ["--request", "--turn", "-1"];
    let shown = |id: &str| {
        let args = ["show", &id[..8]].into_iter().chain(last);
        world.run(args).ends(0)
    };
    let first = shown(&id);
    for told in ["in Welsh", "Insight", "Turns: at most 3", "/scratchpad"] {
        assert!(first.out.contains(told), "{told}: {}", first.out);
    }
    let run = provider
        .chat(
            &world,
            &[
                "-p",
                "Hi",
                "--system-prompt",
                "You are a pirate.",
                "--output-format",
                "json",
            ],
        )
        .finish();
    let id = run.json()["session_id"].as_str().unwrap().to_owned();
    let shown = shown(&id);
    assert!(shown.out.contains("You are a pirate."));
    assert!(
        !shown.out.contains("Welsh"),
        "a3: it replaces all: {}",
        shown.out
    );
}
