//! Hooks that hang: the screen says what runs, and the user ends it.

use std::time::{Duration, Instant};

use super::house::{House, Typing};

const ESC: &str = "\u{1b}";

fn hooked(event: &str) -> House {
    let house = House::new();
    let hook = format!(
        r#"{{"hooks": {{"{event}": [{{"hooks": [{{"type": "command", "command": "sleep 300"}}]}}]}}}}"#
    );
    house.world.write("claude/settings.json", &hook);
    house
}

#[test]
fn k1_a_hook_at_the_start_that_hangs_is_shown_and_skipped() {
    let house = hooked("SessionStart");
    let mut terminal = house.chat(&[]);
    terminal.sees("SessionStart hook (sleep 300) runs, ");
    terminal.keys(ESC);
    terminal.sees("The SessionStart hook was skipped.");
    terminal.asks("tell 5 here", "Done with: tell 5 here");
    terminal.leaves();
}

#[test]
fn k1_a_hook_at_the_end_that_hangs_is_said_and_ended() {
    let house = hooked("SessionEnd");
    let mut terminal = house.chat(&[]);
    let begun = Instant::now();
    terminal.keys("\u{4}");
    terminal.sees("waiting for the SessionEnd hook (sleep 300); ctrl-c ends it");
    terminal.keys("\u{3}");
    assert_eq!(terminal.ends(), 0);
    assert!(begun.elapsed() < Duration::from_secs(4), "ctrl-c ends it");

    let mut terminal = house.chat(&[]);
    let begun = Instant::now();
    terminal.keys("\u{4}");
    assert_eq!(terminal.ends(), 0);
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "it is limited without a timeout of its own"
    );
}
