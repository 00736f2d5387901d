//! `kill -9` at random instants, and resuming.

use std::time::Duration;

#[cfg(target_os = "linux")]
use super::cancelling::runs;
use super::house::{House, Typing};
use super::wire::find;

/// How many kills: `LONGHAUL_KILLS`, or 20.
fn kills() -> u64 {
    let given = std::env::var("LONGHAUL_KILLS").ok();
    given.and_then(|kills| kills.parse().ok()).unwrap_or(20)
}

/// Pseudo-random numbers, the same every time.
fn chance(seed: u64) -> u64 {
    let mut it = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    for shift in [30, 27, 31] {
        it = (it ^ (it >> shift)).wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    it
}

#[test]
fn y7_whoever_is_killed_comes_back_with_all_that_was_acknowledged() {
    let house = House::paced(Duration::from_millis(1));
    let common = [
        "--permission-mode",
        "bypassPermissions",
        "--window",
        "40000",
    ];
    let mut before = Vec::new();
    let mut answered: Vec<String> = Vec::new();
    for kill in 0..kills() {
        let mut args = common.to_vec();
        if !before.is_empty() {
            args.push("--continue");
        }
        let mut terminal = house.chat(&args);
        // One prompt that is answered, then one that may or may not be.
        let first = format!("tell 60 first{kill}");
        terminal.asks(&first, &format!("Done with: {first}"));
        answered.push(first);
        let second = match kill % 4 {
            0 => format!("tell 300 second{kill}"),
            1 => format!("read notes.txt more.txt #{kill}"),
            2 => format!("run echo second {kill}; sleep 0.05"),
            _ => "/compact".to_owned(),
        };
        terminal.says(&second);
        if kill % 8 == 7 {
            // In the middle of the lines that a summary writes.
            terminal.until("a summary", |terminal| {
                let shown = terminal.shown();
                shown.contains("enter approve") || shown.contains("not compacted")
            });
            terminal.keys("\r");
        }
        // The delay until the kill is what this test varies.
        std::thread::sleep(Duration::from_millis(chance(kill) % 250));
        let seen = terminal.shown();
        terminal.kill();
        if seen.contains(&format!("Done with: {second}")) {
            answered.push(second.clone());
        }
        let text = std::fs::read(house.transcript()).unwrap();
        assert!(text.starts_with(&before), "nothing is ever taken back");
        // Everything that was sent was on disk before.
        let sent = house.wire.requests().into_iter().rev();
        if sent
            .take(3)
            .any(|body| find(&body, second.as_bytes()).is_some())
        {
            assert!(find(&text, second.as_bytes()).is_some(), "{second} is lost");
        }
        before = text;
    }
    let mut terminal = house.chat(&[&common[..], &["--continue"]].concat());
    terminal.asks("tell 5 at-last", "Done with: tell 5 at-last");
    terminal.leaves();
    house.nothing_refused();

    // A line may be torn where it was being written, and is reported; there are no other problems.
    let text = std::fs::read_to_string(house.transcript()).unwrap();
    let whole = |line: &&str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    let torn = text.lines().filter(|line| !whole(line)).count();
    let path = house.transcript();
    let args = ["inspect".as_ref(), path.as_os_str(), "--json".as_ref()];
    let found = house.world.run(args).json();
    let problems = found["problems"].as_array().unwrap();
    assert_eq!(problems.len(), torn, "{problems:?}");
    for said in &answered {
        let lines = || text.lines().filter(whole);
        assert!(
            lines().any(|line| line.contains(said.as_str()) && line.contains("\"type\":\"user\"")),
            "{said} is lost"
        );
        assert!(
            lines().any(|line| line.contains(&format!("Done with: {said}"))),
            "the answer to {said} is lost"
        );
    }
    println!(
        "{} kills, {} acknowledged, {torn} torn lines",
        kills(),
        answered.len()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn y7_whoever_is_killed_while_a_tool_runs_is_told_so_and_goes_on() {
    let house = House::new();
    let mode = ["--permission-mode", "bypassPermissions"];
    let mut terminal = house.chat(&mode);
    // No other test sleeps this long. Nobody is left to end it, so it is no longer than it must be.
    let seconds = format!("60.{}", std::process::id());
    terminal.says(&format!("run sleep {seconds}"));
    terminal.until("sleep", |_| runs(&["sleep", &seconds]));
    terminal.kill();

    let mut terminal = house.chat(&[&mode[..], &["--continue"]].concat());
    terminal.sees("no result");
    terminal.is_idle();
    terminal.asks("tell 5 on", "Done with: tell 5 on");
    let sent = house.wire.requests().pop().unwrap();
    assert!(find(&sent, b"This call has no result:").is_some());
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}
