//! Leaving and coming back: the next request is what it would have been.

use std::path::Path;
use std::process::Command;

use longhaul_testkit::terminal::TestTerminal;

use super::house::{House, Typing};
use super::wire::find;
use crate::support::plain_session;

/// All background requests to the model are off.
const PLAIN: [&str; 4] = [
    "--set",
    "compaction.notes=false",
    "--set",
    "compaction.background=false",
];

fn some_turns(terminal: &mut TestTerminal) {
    for prompt in [
        "tell 400 #1",
        "read notes.txt more.txt #2",
        "run echo hello",
        "todo #4",
    ] {
        terminal.asks(prompt, &format!("Done with: {prompt}"));
    }
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(done.unwrap().success());
}

#[test]
fn y2_the_request_after_a_resume_is_to_the_byte_the_one_without_it() {
    let house = House::new();
    let mut terminal = house.chat(&PLAIN);
    some_turns(&mut terminal);
    // As if the process ended here: only what is on disk counts.
    let other = house.world.root().join("other");
    copy(&house.world.home(), &other);
    terminal.asks("tell 5 next", "Done with: tell 5 next");
    let without = house.wire.requests().pop().unwrap();
    terminal.leaves();

    let other = other.to_str().unwrap();
    let args = [&PLAIN[..], &["--continue"]].concat();
    let mut terminal = house.start(&args, &[("LONGHAUL_HOME", other)]);
    terminal.sees("> what should be done?");
    terminal.asks("tell 5 next", "Done with: tell 5 next");
    let with = house.wire.requests().pop().unwrap();
    terminal.leaves();
    assert_eq!(
        String::from_utf8(with).unwrap(),
        String::from_utf8(without).unwrap()
    );
    assert!(house.last_cache_read() > 4_000);
    house.nothing_refused();
}

/// The request prefix and the conversation up to its last message, without the cache breakpoints, which move.
fn said(request: &[u8]) -> (String, String) {
    let at = find(request, b"\"messages\":[").unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let messages = text(&request[at..]).replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    (text(&request[..at]), messages)
}

#[test]
fn y2_whoever_leaves_and_comes_back_repeats_the_bytes_of_the_last_request() {
    let house = House::new();
    let mut terminal = house.chat(&PLAIN);
    some_turns(&mut terminal);
    terminal.leaves();
    terminal.sees("--resume ");
    let shown = terminal.all();
    let id = shown
        .rsplit_once("--resume ")
        .map(|(_, id)| id.split_whitespace().next().unwrap().to_owned())
        .unwrap();
    for (round, args) in [vec!["--continue"], vec!["--resume", &id]]
        .into_iter()
        .enumerate()
    {
        let before = house.wire.requests().pop().unwrap();
        let mut terminal = house.chat(&[&PLAIN[..], &args].concat());
        terminal.sees("Done with: todo #4");
        let prompt = format!("tell 5 back{round}");
        terminal.asks(&prompt, &format!("Done with: {prompt}"));
        terminal.says("/exit");
        assert_eq!(terminal.ends(), 0);
        let after = house.wire.requests().pop().unwrap();
        let ((head, old), (same_head, new)) = (said(&before), said(&after));
        assert_eq!(head, same_head);
        let old = old.rsplit_once("}]").unwrap().0;
        assert!(new.starts_with(old), "{old}\n\n{new}");
        assert!(house.last_cache_read() > 4_000);
    }
    house.nothing_refused();
    let found = house.inspected();
    assert_eq!(found["rounds"], 4 + 3 + 2);
}

#[test]
fn g2_another_programs_session_goes_on_in_a_copy() {
    let house = House::new();
    let session = plain_session();
    let name = "claude/projects/-work/0b0e1ab1-0000-4000-8000-000000000001.jsonl";
    let theirs = house.world.write(name, &session.bytes);
    let mut terminal = house.chat(&["--resume", theirs.to_str().unwrap()]);
    terminal.until("a notice", |terminal| {
        let all = terminal.all();
        let words: Vec<&str> = all.split_whitespace().collect();
        words.join(" ").contains("belongs to another program")
    });
    terminal.asks("tell 5 here", "Done with: tell 5 here");
    terminal.leaves();
    assert_eq!(std::fs::read(&theirs).unwrap(), session.bytes);
    let ours = std::fs::read(house.transcript()).unwrap();
    assert!(find(&ours, b"Done with: tell 5 here").is_some());
    house.nothing_refused();
    house.inspected();
}

#[test]
fn a_session_that_is_open_in_another_terminal_is_offered_as_a_copy() {
    let house = House::new();
    let mut first = house.chat(&PLAIN);
    first.asks("tell 5 one", "Done with: tell 5 one");
    let args = [&PLAIN[..], &["--continue"]].concat();
    let mut second = house.start(&args, &[]);
    second.sees("Continue in a copy of it? [y/N]");
    second.keys("y\r");
    second.sees("> what should be done?");
    second.asks("tell 5 two", "Done with: tell 5 two");
    first.asks("tell 5 three", "Done with: tell 5 three");
    assert_eq!(house.transcripts().len(), 2);
    second.leaves();
    first.leaves();

    let mut first = house.chat(&args);
    let mut second = house.start(&args, &[]);
    second.sees("Continue in a copy of it? [y/N]");
    second.keys("\r");
    second.sees("--fork-session continues in a copy");
    first.leaves();
    house.nothing_refused();
}

#[test]
fn q3_a_resumed_session_shows_its_calls_its_cost_and_an_unanswered_prompt() {
    let house = House::new();
    let mut terminal = house.chat(&PLAIN);
    terminal.asks("run echo hello", "Done with: run echo hello");
    terminal.says("hang on");
    terminal.until("the request", |_| house.calls() == 3);
    terminal.keys("\u{1b}");
    terminal.sees("■ stopped");
    terminal.is_idle();
    terminal.leaves();

    let args = [&PLAIN[..], &["--continue"]].concat();
    let mut terminal = house.chat(&args);
    terminal.sees("✓ Bash echo hello");
    terminal.sees("● Done with: run echo hello");
    terminal.sees("· stopped");
    terminal.sees("the last prompt was never answered");
    assert!(!terminal.all().contains("[Request interrupted"));
    terminal.says("/cost");
    terminal.sees("before it was resumed: $");
    terminal.leaves();
}

/// The lines of the screen that say what came of a call, by its tool.
fn ended_calls(shown: &str) -> Vec<(String, String)> {
    let calls = shown.lines().filter_map(|line| line.strip_prefix("✓ "));
    let parts = calls.map(|line| {
        let tool = line.split_whitespace().next().unwrap_or_default();
        let result = line.rsplit_once(" · ").map_or("", |(_, result)| result);
        (tool.to_owned(), result.trim_end().to_owned())
    });
    parts.collect()
}

#[test]
fn q3_a_resumed_session_says_of_all_calls_what_it_said_when_they_ended() {
    let house = House::new();
    let mode = ["--permission-mode", "bypassPermissions"];
    let mut terminal = house.chat(&[&PLAIN[..], &mode].concat());
    for prompts in [
        ["read notes.txt", "grep o", "glob *.txt", "write made.txt"],
        [
            "todo #1",
            "run echo hello",
            "grep nowhere",
            "glob *.nothing",
        ],
    ] {
        for prompt in prompts {
            terminal.asks(prompt, &format!("Done with: {prompt}"));
        }
        let live = ended_calls(&terminal.all());
        terminal.leaves();
        terminal = house.chat(&[&PLAIN[..], &mode, &["--continue"]].concat());
        terminal.sees(&format!("Done with: {}", prompts[3]));
        terminal.is_idle();
        let resumed = ended_calls(&terminal.all());
        let few = live.len() - 4..;
        assert_eq!(resumed[resumed.len() - 4..], live[few.clone()]);
        assert!(live[few].iter().all(|(_, result)| !result.is_empty()));
    }
    terminal.leaves();
    house.nothing_refused();
}
