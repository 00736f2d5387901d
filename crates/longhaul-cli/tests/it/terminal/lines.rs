//! Where there is no screen: scripts, pipes, dumb terminals.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::house::{House, Typing};
use crate::support::Finish;

#[test]
fn q4_three_formats_of_one_answer() {
    let house = House::new();
    let run = |args: &[&str]| {
        let all = [&["-p"], args].concat();
        house.piped(&all).finish_with(b"read notes.txt #1").ends(0)
    };
    assert_eq!(run(&[]).out, "Done with: read notes.txt #1\n");
    let json = run(&["--output-format", "json"]).json();
    assert_eq!(json["result"], "Done with: read notes.txt #1");
    assert_eq!(json["num_turns"], 2);
    let stream = run(&["--output-format", "stream-json"]).out;
    let kinds = stream.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["type"].as_str().unwrap().to_owned()
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["system", "assistant", "user", "assistant", "result"]
    );
    house.nothing_refused();
    for path in house.transcripts() {
        house.inspected_at(&path);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn q4_an_interrupt_ends_it_with_130_and_what_it_started() {
    let house = House::new();
    let seconds = format!("601.{}", std::process::id());
    let prompt = format!("run sleep {seconds}");
    let child = house
        .piped(&["-p", &prompt, "--permission-mode", "bypassPermissions"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let runs = || super::cancelling::runs(&["sleep", &seconds]);
    super::house::until("sleep", runs);
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    super::house::until("end of sleep", || !runs());
    house.inspected();
    let run = house.piped(&["-p", "--continue", "tell 3 more"]).finish();
    assert!(run.ends(0).out.contains("Done with: tell 3 more"));
    house.nothing_refused();
}

#[test]
fn q2_a_dumb_terminal_gets_lines() {
    let house = House::new();
    let mut terminal = house.start(&[], &[("TERM", "dumb")]);
    terminal.sees("> ");
    for turn in 1..=3 {
        terminal.keys(&format!("tell 400 #{turn}\n"));
        terminal.sees(&format!("Done with: tell 400 #{turn}"));
    }
    terminal.keys("run touch made.txt\n");
    terminal.sees("number, or what to do instead:");
    terminal.keys("1\n");
    terminal.sees("Done with: run touch made.txt");
    assert!(house.work().join("made.txt").exists());
    terminal.keys("/compact\n");
    terminal.sees("a: approve");
    terminal.keys("a\n");
    terminal.sees("compacted");
    terminal.keys("tell 5 again\n");
    terminal.sees("Done with: tell 5 again");
    terminal.leaves();
    assert!(!terminal.bytes().contains(&0x1b), "{:?}", terminal.shown());
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q2_a_pipe_is_answered_line_by_line() {
    let house = House::new();
    let input = b"tell 5 one\nread notes.txt #2\nrun touch yes.txt\n1\ntell 5 three\n/cost\nrun touch no.txt\n";
    let run = house.piped(&[]).finish_with(input).ends(0);
    for text in [
        "Done with: tell 5 one",
        "Done with: read notes.txt #2",
        "Done with: tell 5 three",
    ] {
        assert!(run.out.contains(text), "no {text} in:\n{}", run.out);
    }
    assert!(!run.out.contains('\u{1b}'));
    assert!(house.work().join("yes.txt").exists());
    assert!(!house.work().join("no.txt").exists(), "nobody said yes");
    house.nothing_refused();
    house.inspected();
}
