//! Failures around a conversation: each is reported, and nothing is lost.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use longhaul_testkit::terminal::TestTerminal;

use super::house::{House, Typing};
use crate::support::Finish;

/// Nobody listens there.
const NOWHERE: &str = "http://127.0.0.1:1";

/// A provider that refuses every request.
fn turns_away() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut length = 0;
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                if let Some((_, value)) = line.to_lowercase().split_once("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let body = r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#;
            let head = format!(
                "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = reader
                .get_mut()
                .write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("http://{address}")
}

/// A prompt fails with a message, is kept, and is answered once the problem is fixed.
fn fails_and_goes_on(house: &House, wrong: &[(&str, &str)], args: &[&str], says: &[&str]) {
    let mut terminal = house.start(args, wrong);
    terminal.sees("> what should be done?");
    terminal.says("tell 5 words");
    terminal.sees("■ failed:");
    terminal.is_idle();
    let shown = terminal.shown().replace('\n', " ");
    for text in says {
        assert!(shown.contains(text), "no {text} in:\n{shown}");
    }
    terminal.leaves();
    house.inspected();
    let mut terminal = house.chat(&["--continue"]);
    terminal.asks("tell 5 more", "Done with: tell 5 more");
    terminal.leaves();
    let last = String::from_utf8(house.wire.requests().pop().unwrap()).unwrap();
    assert!(last.contains("tell 5 words") && last.contains("tell 5 more"));
    house.inspected();
}

#[test]
fn q1_without_a_network_it_is_said_and_nothing_is_lost() {
    let house = House::new();
    let wrong = [("ANTHROPIC_BASE_URL", NOWHERE)];
    // Otherwise it would wait for the network for ten minutes.
    let at_once = ["--set", "retry.patience=0"];
    fails_and_goes_on(&house, &wrong, &at_once, &["127.0.0.1:1"]);
    let mut run = house.piped(&["-p", "tell 5 words", "--set", "retry.patience=0"]);
    let run = run.env("ANTHROPIC_BASE_URL", NOWHERE).finish();
    assert!([1, 2].contains(&run.code), "{}", run.code);
    assert_eq!(run.out, "");
    assert!(run.err.contains("127.0.0.1:1"), "{}", run.err);
}

#[test]
fn q1_a_wrong_key_is_said_and_nothing_is_lost() {
    let house = House::new();
    let url = turns_away();
    let wrong = [("ANTHROPIC_BASE_URL", url.as_str())];
    fails_and_goes_on(
        &house,
        &wrong,
        &[],
        &["invalid x-api-key", "ANTHROPIC_API_KEY"],
    );
    let mut run = house.piped(&["-p", "tell 5 words"]);
    let run = run.env("ANTHROPIC_BASE_URL", &url).finish().ends(2);
    assert_eq!(run.out, "");
    assert!(run.err.contains("ANTHROPIC_API_KEY"), "{}", run.err);
}

#[test]
fn q1_an_unknown_model_is_said_and_nothing_is_lost() {
    let house = House::new();
    let args = ["--model", "claude-of-nowhere"];
    fails_and_goes_on(&house, &[], &args, &["claude-of-nowhere"]);
}

#[test]
fn q1_without_a_key_the_simulated_model_answers_and_says_so() {
    let house = House::new();
    let none = [
        ("ANTHROPIC_API_KEY", ""),
        ("ANTHROPIC_BASE_URL", ""),
        ("LONGHAUL_MODEL", ""),
    ];
    let mut terminal = house.start(&[], &none);
    terminal.sees("> what should be done?");
    terminal.sees("ANTHROPIC_API_KEY is not set");
    terminal.says("who are you?");
    terminal.sees("●");
    terminal.is_idle();
    terminal.leaves();
    house.inspected();
    assert_eq!(house.calls(), 0);
}

#[test]
fn g2_a_typo_in_the_configuration_is_named_with_its_line() {
    let house = House::new();
    let config = "# mine\n[compaction]\nautomatc = true\n";
    house.world.write("home/config.toml", config);
    let mut terminal = house.start(&[], &[]);
    assert_eq!(terminal.ends(), 2);
    let shown = terminal.all().replace('\n', " ");
    for text in ["config.toml", "3", "automatc", "automatic"] {
        assert!(shown.contains(text), "no {text} in:\n{shown}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn g2_a_home_that_cannot_be_written_is_named() {
    let house = House::new();
    let mut terminal = house.start(&[], &[("LONGHAUL_HOME", "/proc/nowhere")]);
    terminal.until("a sentence", |terminal| {
        terminal.all().contains("/proc/nowhere")
    });
    let code = ends_or_leaves(&mut terminal);
    let shown = terminal.all();
    assert!(shown.contains("LONGHAUL_HOME"), "{code}:\n{shown}");
}

/// Returns the exit code. If the program is still running, because it notices the problem only with the first prompt,
/// sends one and leaves.
fn ends_or_leaves(terminal: &mut TestTerminal) -> u32 {
    if terminal.shown().contains("> what should be done?") {
        terminal.says("tell 5 words");
        terminal.sees("■");
        terminal.is_idle();
        terminal.keys("\u{4}");
    }
    terminal.ends()
}

#[cfg(unix)]
#[test]
fn y7_a_full_disk_is_said_and_nothing_that_was_acknowledged_is_lost() {
    let house = House::new();
    // Files may not grow beyond this size, which fails like a full disk: in the middle of a line.
    let script = format!(
        "trap '' XFSZ; ulimit -f 300; exec {} chat --set compaction.notes=false",
        env!("CARGO_BIN_EXE_longhaul")
    );
    let mut terminal = house.program("/bin/bash", &["-c", &script], &[]);
    terminal.sees("> what should be done?");
    let mut answered = Vec::new();
    for turn in 1.. {
        let prompt = format!("tell 3000 #{turn}");
        terminal.says(&prompt);
        terminal.until("an end", |terminal| {
            let shown = terminal.shown();
            shown.contains(&format!("Done with: {prompt}")) || shown.contains("cannot be written")
        });
        terminal.is_idle();
        if terminal.shown().contains("cannot be written") {
            break;
        }
        answered.push(prompt);
        assert!(turn < 100, "it is never full");
    }
    assert!(answered.len() > 2);
    terminal.keys("\u{4}");
    terminal.ends();

    let mut terminal = house.chat(&["--continue", "--set", "compaction.notes=false"]);
    terminal.asks("tell 5 after", "Done with: tell 5 after");
    terminal.leaves();
    house.nothing_refused();
    let last = String::from_utf8(house.wire.requests().pop().unwrap()).unwrap();
    for prompt in &answered {
        assert!(last.contains(prompt.as_str()), "{prompt} is lost");
        assert!(last.contains(&format!("Done with: {prompt}")));
    }
}

#[test]
fn y7_a_terminal_that_is_closed_ends_it_and_the_transcript_is_whole() {
    // While idle, while a reply comes, and while a tool runs.
    for what in ["", "hang on", "run sleep 600"] {
        let house = House::new();
        let mut terminal = house.chat(&["--permission-mode", "bypassPermissions"]);
        terminal.asks("tell 5 words", "Done with: tell 5 words");
        if !what.is_empty() {
            terminal.says(what);
            terminal.sees("working");
            terminal.until("the request", |_| house.calls() == 2);
        }
        terminal.close();
        terminal.ends();
        house.inspected();
        let mut terminal = house.chat(&["--continue"]);
        terminal.asks("tell 5 more", "Done with: tell 5 more");
        terminal.leaves();
        house.nothing_refused();
        house.inspected();
    }
}
