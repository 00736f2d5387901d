//! Esc in the middle of a tool, of a stream, of a compaction.

use super::house::{House, Typing};

const ESC: &str = "\u{1b}";

/// Whether a process with these arguments runs.
#[cfg(target_os = "linux")]
pub(super) fn runs(args: &[&str]) -> bool {
    let wanted: Vec<u8> = args
        .iter()
        .flat_map(|arg| [arg.as_bytes(), b"\0"].concat())
        .collect();
    let processes = std::fs::read_dir("/proc").unwrap();
    let mut lines = processes.flatten().map(|it| it.path().join("cmdline"));
    lines.any(|line| std::fs::read(line).is_ok_and(|found| found == wanted))
}

#[cfg(target_os = "linux")]
#[test]
fn q1_a_tool_that_is_stopped_is_dead_and_the_conversation_goes_on() {
    let house = House::new();
    let mut terminal = house.chat(&["--permission-mode", "bypassPermissions"]);
    // No other test sleeps this long.
    let seconds = format!("600.{}", std::process::id());
    terminal.says(&format!("run sleep {seconds}"));
    terminal.until("sleep", |_| runs(&["sleep", &seconds]));
    terminal.keys(ESC);
    terminal.sees("stopped");
    terminal.is_idle();
    terminal.until("end of sleep", |_| !runs(&["sleep", &seconds]));
    terminal.asks("tell 5 on", "Done with: tell 5 on");
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
    let text = std::fs::read_to_string(house.transcript()).unwrap();
    assert!(text.contains("[Request interrupted by user"));
}

#[test]
fn q1_a_reply_that_is_stopped_in_the_middle_leaves_a_valid_conversation() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.asks("tell 5 first", "Done with: tell 5 first");
    terminal.says("hang on");
    terminal.sees("Done");
    terminal.sees("working");
    terminal.until("the request", |_| house.calls() == 2);
    terminal.keys(ESC);
    terminal.sees("■ stopped");
    terminal.is_idle();
    terminal.asks("tell 5 on", "Done with: tell 5 on");
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q1_a_compaction_that_is_stopped_in_the_middle_changes_nothing() {
    let house = House::new();
    let mut terminal = house.chat(&["--set", "compaction.notes=false"]);
    for turn in 1..=4 {
        let prompt = format!("tell 300 #{turn}");
        terminal.asks(&prompt, &format!("Done with: {prompt}"));
    }
    let before = std::fs::read(house.transcript()).unwrap();
    house.stick_summaries(true);
    terminal.says("/compact");
    terminal.sees("characters of summary");
    terminal.keys(ESC);
    terminal.sees("nothing changed");
    terminal.is_idle();
    // What the summary has cost by then is recorded, and nothing else.
    let after = std::fs::read(house.transcript()).unwrap();
    let added = after.strip_prefix(before.as_slice()).unwrap();
    let added = String::from_utf8_lossy(added);
    let kinds = added.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["type"].as_str().unwrap_or_default().to_owned()
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["reply-lost"]);
    terminal.asks("tell 5 on", "Done with: tell 5 on");

    house.stick_summaries(false);
    terminal.says("/compact");
    terminal.sees("enter approve");
    terminal.keys("\r");
    terminal.sees("● compacted");
    terminal.is_idle();
    terminal.asks("tell 5 again", "Done with: tell 5 again");
    terminal.leaves();
    house.nothing_refused();
    let found = house.inspected();
    assert_eq!(found["boundaries"].as_array().unwrap().len(), 1);
}
