//! Several processes on one session: the second is told, and no prompt is lost silently.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::chat::Provider;
use crate::support::{Finish, World};

fn only_transcript(world: &World) -> PathBuf {
    let projects = world.home().join("projects");
    let mut found: Vec<PathBuf> = std::fs::read_dir(projects)
        .unwrap()
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// A process that has the newest session open until its input ends.
fn holder(world: &World, provider: &Provider, transcript: &Path) -> Child {
    let child = provider
        .chat(world, &["--continue"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lease = transcript.with_extension("lock");
    // Waits until the process says who it is; the test harness ends a test that waits for ever.
    while !std::fs::read_to_string(&lease).is_ok_and(|text| text.contains("since")) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_second_process_is_told_who_has_the_session_and_offered_a_copy() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    provider.chat(&world, &["-p", "First?"]).finish().ends(0);
    let transcript = only_transcript(&world);
    let before = std::fs::read(&transcript).unwrap();
    let mut first = holder(&world, &provider, &transcript);

    let run = provider
        .chat(&world, &["-p", "Second?", "--continue"])
        .finish();
    let run = run.ends(3).says("is in use by longhaul (process ");
    assert!(run.err.contains(&first.id().to_string()), "{}", run.err);
    for words in ["since 20", "--fork-session", "--wait"] {
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
    assert_eq!(run.out, "");
    let id = transcript.file_stem().unwrap().to_str().unwrap();
    world
        .run(["compact", id, "--local", "--force"])
        .ends(3)
        .says("is in use by");
    assert_eq!(std::fs::read(&transcript).unwrap(), before);

    let args = ["-p", "Second?", "--continue", "--fork-session"];
    let run = provider.chat(&world, &args).finish().ends(0);
    assert_eq!(run.out, "Two.\n");
    assert!(run.err.contains("in a copy"), "{}", run.err);
    assert_eq!(std::fs::read(&transcript).unwrap(), before);

    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert!(!transcript.with_extension("lock").exists());
}

#[test]
fn a_second_process_can_wait_until_the_session_is_free() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    provider.chat(&world, &["-p", "First?"]).finish().ends(0);
    let transcript = only_transcript(&world);
    let mut first = holder(&world, &provider, &transcript);
    let mut second = provider
        .chat(&world, &["-p", "Second?", "--continue", "--wait"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It says that it waits, and is still running.
    let mut said = [0; 16];
    std::io::Read::read_exact(second.stderr.as_mut().unwrap(), &mut said).unwrap();
    assert!(second.try_wait().unwrap().is_none());
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    let output = second.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Two.\n");
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_process_that_was_killed_holds_nothing() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    provider.chat(&world, &["-p", "First?"]).finish().ends(0);
    let transcript = only_transcript(&world);
    let mut first = holder(&world, &provider, &transcript);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(transcript.with_extension("lock").exists());
    let run = provider
        .chat(&world, &["-p", "Second?", "--continue"])
        .finish();
    assert_eq!(run.ends(0).out, "Two.\n");
}

#[test]
fn flags_about_going_on_need_a_session_to_go_on_with() {
    let world = World::new();
    for flag in ["--wait", "--fork-session"] {
        world
            .run(["chat", "-p", "x", flag])
            .ends(2)
            .says("--resume");
    }
}

/// The lines that a process appends when it continues this session.
fn appended(world: &World, transcript: &Path, prompt: &str) -> Vec<u8> {
    let before = std::fs::read(transcript).unwrap();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#, r#"{"text":"More."}"#]);
    let mut chat: Command = provider.chat(world, &["-p", prompt, "--continue"]);
    chat.finish().ends(0);
    let after = std::fs::read(transcript).unwrap();
    std::fs::write(transcript, &before).unwrap();
    after[before.len()..].to_vec()
}

#[test]
fn prompts_on_a_branch_that_was_left_are_told_and_can_be_taken_up() {
    let world = World::new();
    let provider = Provider::scripted(&[r#"{"text":"One."}"#]);
    provider.chat(&world, &["-p", "First?"]).finish().ends(0);
    let transcript = only_transcript(&world);
    // As if two processes had continued it at the same time.
    let (one, other) = (
        appended(&world, &transcript, "Count the ducks."),
        appended(&world, &transcript, "Paint the barn."),
    );
    let mut both = std::fs::read(&transcript).unwrap();
    both.extend(one);
    both.extend(other);
    std::fs::write(&transcript, &both).unwrap();

    let turns = [
        r#"{"text":"a"}"#,
        r#"{"text":"b"}"#,
        r#"{"text":"c"}"#,
        r#"{"text":"d"}"#,
    ];
    let provider = Provider::scripted(&turns);
    let run = provider
        .chat(&world, &["-p", "Go on.", "--continue"])
        .finish()
        .ends(0);
    assert!(run.err.contains("with 1 prompt "), "{}", run.err);
    assert!(run.err.contains("Count the ducks."), "{}", run.err);
    let command = run.err.split("longhaul chat ").last().unwrap().trim();
    let flags: Vec<&str> = command.split_whitespace().collect();
    let id = flags[1].to_owned();
    let shown = world.run(["show", &id]).ends(0).out;
    assert!(
        shown.contains("barn") && !shown.contains("ducks"),
        "{shown}"
    );

    let args: Vec<&str> = ["-p", "And now?"].into_iter().chain(flags).collect();
    provider.chat(&world, &args).finish().ends(0);
    let shown = world.run(["show", &id]).ends(0).out;
    assert!(
        shown.contains("ducks") && !shown.contains("barn"),
        "{shown}"
    );

    let args = ["-p", "x", "--continue", "--branch", "nothing"];
    provider
        .chat(&world, &args)
        .finish()
        .fails(&["no branch of this session"]);
}

#[test]
fn permission_denials_list_calls_that_a_rule_denied() {
    let world = World::new();
    let provider = Provider::scripted(&[
        r#"{"tools":[{"name":"Bash","input":{"command":"rm x"}},{"name":"Bash","input":{"command":"touch y"}}]}"#,
        r#"{"text":"Done."}"#,
    ]);
    let args = [
        "-p",
        "Go.",
        "--output-format",
        "json",
        "--disallowed-tools",
        "Bash(rm:*)",
    ];
    let run = provider.chat(&world, &args).finish().ends(0);
    let denials = &run.json()["permission_denials"];
    assert_eq!(denials.as_array().unwrap().len(), 2, "{denials}");
    assert_eq!(denials[0]["tool_name"], "Bash");
    assert_eq!(denials[0]["tool_input"]["command"], "rm x");
    assert_eq!(denials[1]["tool_input"]["command"], "touch y");
    assert!(run.err.contains("Bash(rm:*)"), "{}", run.err);
}
