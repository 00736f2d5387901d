//! The model asks the user, on the screen and line by line.

use super::house::{House, Typing};
use crate::support::Finish;

const ESC: &str = "\u{1b}";

fn last_request(house: &House) -> String {
    String::from_utf8(house.wire.requests().pop().unwrap()).unwrap()
}

#[test]
fn q3_questions_are_answered_by_choosing_and_in_words() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.says("ask it");
    terminal.sees("? Store Which database? (1 of 2)");
    terminal.sees("A file in the project");
    terminal.answers("2");
    terminal.sees("? Checks Which checks? (2 of 2)");
    terminal.keys("1");
    terminal.sees("1. [x] Lints");
    terminal.keys("3");
    terminal.sees("what else?");
    terminal.says("and spelling");
    terminal.sees("AskUserQuestion Which database? · Which checks? · SQLite · Lints, and spelling");
    terminal.sees("Done with: ask it");
    terminal.is_idle();
    let sent = last_request(&house);
    let told = r#"\"Which database?\"=\"SQLite\", \"Which checks?\"=\"Lints, and spelling\""#;
    assert!(sent.contains(told), "{sent}");

    terminal.says("ask again");
    terminal.sees("(1 of 2)");
    terminal.keys(ESC);
    terminal.sees("· refused");
    terminal.is_idle();
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q3_questions_are_answered_line_by_line_in_a_pipe() {
    let house = House::new();
    let lines = b"ask it\nMySQL, please\n1, 2\n";
    let run = house.piped(&[]).finish_with(lines).ends(0);
    let shown = run.out;
    assert!(
        shown.contains("  2. SQLite: A file in the project"),
        "{shown}"
    );
    assert!(shown.contains("· MySQL, please · Lints, Tests"), "{shown}");
    assert!(shown.contains("Done with: ask it"), "{shown}");
    house.nothing_refused();
}
