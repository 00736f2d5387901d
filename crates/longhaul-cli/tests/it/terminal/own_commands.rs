//! The user's own commands with commands for the shell, and the switch for the effort, on the screen and in print mode.

use super::house::{House, Typing};
use crate::support::Finish;

fn last_request(house: &House) -> String {
    String::from_utf8(house.wire.requests().pop().unwrap()).unwrap()
}

/// A command that the user has written for all projects.
fn write_command(house: &House, text: &str) {
    let folder = house.world.claude().join("commands");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("tidy.md"), text).unwrap();
}

#[test]
fn q3_a_command_of_the_users_own_runs_what_is_in_it() {
    let house = House::new();
    let front = "---\nargument-hint: <file>\ndescription: Tidies up\nallowed-tools: Bash(wc:*), Bash(touch:*)\n---\n";
    write_command(
        &house,
        &format!("{front}tell 3 about !`wc -l $1` and !`touch made.txt`"),
    );
    let mut terminal = house.chat(&[]);
    terminal.says("/tidy notes.txt");
    terminal.sees("/tidy ran `wc -l notes.txt`: done");
    terminal.sees("Done with: tell 3 about");
    terminal.is_idle();
    assert!(house.work().join("made.txt").exists());
    assert!(last_request(&house).contains("<command-output>3 notes.txt</command-output>"));
    // The rules of the command have ended with its turn.
    terminal.says("run touch more.txt");
    terminal.sees("? Bash touch more.txt");
    terminal.answers("1");
    terminal.sees("Done with: run touch more.txt");
    terminal.is_idle();
    terminal.keys("\u{c}");
    terminal.says("/help");
    terminal.sees("<file> · Tidies up");
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q4_a_command_whose_shell_command_is_not_allowed_is_not_sent_in_print_mode() {
    let house = House::new();
    write_command(&house, "tell 3 about !`touch made.txt`");
    let run = house.piped(&["-p", "/tidy"]).finish().ends(1);
    assert!(
        run.err
            .contains("/tidy was not sent, because `touch made.txt` did not run"),
        "{}",
        run.err
    );
    assert!(!house.work().join("made.txt").exists());
    assert!(house.wire.requests().is_empty());
    let allowed = ["-p", "/tidy", "--allowed-tools", "Bash(touch:*)"];
    let run = house.piped(&allowed).finish().ends(0);
    assert!(run.out.contains("Done with: tell 3 about"), "{}", run.out);
    assert!(house.work().join("made.txt").exists());
    house.nothing_refused();
}

#[test]
fn q3_the_effort_is_switched_shown_and_sent() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.says("/effort");
    terminal.sees("effort: the model's own");
    terminal.says("/effort low");
    terminal.sees("effort: low from the next request on");
    terminal.sees("· effort low ·");
    terminal.asks("tell 5 #1", "Done with: tell 5 #1");
    assert!(last_request(&house).contains(r#""effort":"low""#));
    terminal.says("/effort xhigh");
    terminal.sees("does not take the effort xhigh; it takes low, medium, high, max");
    terminal.says("/effort more");
    terminal.sees("/effort takes low, medium");
    terminal.says("/effort auto");
    terminal.sees("effort: the model's own from the next");
    terminal.misses("· effort low ·");
    terminal.asks("tell 5 #2", "Done with: tell 5 #2");
    assert!(!last_request(&house).contains("output_config"));
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}
