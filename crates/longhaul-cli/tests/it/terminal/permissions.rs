//! Which calls are asked for, which may not run, and who decides.

use longhaul_testkit::terminal::TestTerminal;

use super::house::{House, Typing};

const ESC: &str = "\u{1b}";

/// Presses the number in front of an answer.
fn choose(terminal: &mut TestTerminal, answer: &str) {
    terminal.sees(answer);
    let shown = terminal.shown();
    let line = shown.lines().find(|line| line.contains(answer)).unwrap();
    let number = line.chars().find(char::is_ascii_digit).unwrap();
    terminal.answers(&number.to_string());
}

#[test]
fn q1_a_call_is_asked_for_and_the_answer_counts() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.says("run touch yes.txt");
    terminal.sees("? Bash");
    terminal.answers("1");
    terminal.sees("Done with: run touch yes.txt");
    terminal.is_idle();
    assert!(house.work().join("yes.txt").exists());

    terminal.says("run touch no.txt");
    terminal.sees("? Bash touch no.txt");
    terminal.keys(ESC);
    terminal.sees("touch no.txt · refused");
    terminal.is_idle();
    assert!(!house.work().join("no.txt").exists());

    terminal.says("run touch other.txt");
    choose(&mut terminal, "no, and tell the model");
    terminal.sees("what should it do instead?");
    terminal.says("call it something nicer");
    terminal.sees("Done with: run touch other.txt");
    terminal.is_idle();
    let last = String::from_utf8(house.wire.requests().pop().unwrap()).unwrap();
    assert!(last.contains("call it something nicer"));
    assert!(!house.work().join("other.txt").exists());

    // The user is asked once for the session. The rule is offered for this exact command, because others may do
    // anything.
    terminal.says("run touch a.txt");
    choose(&mut terminal, "yes, and for this session");
    terminal.sees("Done with: run touch a.txt");
    terminal.is_idle();
    std::fs::remove_file(house.work().join("a.txt")).unwrap();
    terminal.says("run touch a.txt");
    // The screen still shows the answer to the first one.
    let again = house.work().join("a.txt");
    for _ in 0..1_200 {
        if again.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(again.exists());
    terminal.is_idle();
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q1_what_lies_outside_is_asked_for_even_where_edits_are_accepted() {
    let house = House::new();
    std::fs::create_dir(house.world.root().join("elsewhere")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("../elsewhere", house.work().join("link")).unwrap();
    let mut terminal = house.chat(&["--permission-mode", "acceptEdits"]);
    let work = house.work().canonicalize().unwrap();
    let inside = work.join("inside.txt");
    let prompt = format!("write {}", inside.display());
    terminal.asks(&prompt, "Done with: write");
    assert!(inside.exists());
    for path in ["../elsewhere/up.txt", "link/through.txt"] {
        terminal.says(&format!("write {}", work.join(path).display()));
        terminal.sees("? Write");
        terminal.keys(ESC);
        terminal.sees("· refused");
        terminal.is_idle();
        terminal.keys("\u{c}");
        assert!(!work.join(path).exists(), "{path}");
        terminal.says("tell 3 words");
        terminal.sees("Done with: tell 3 words");
        terminal.is_idle();
    }
    terminal.leaves();
    house.nothing_refused();
}

#[test]
fn q1_a_hook_of_a_trusted_project_stops_a_call_and_of_another_it_does_not_run() {
    let house = House::new();
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "echo not on a Sunday >&2; exit 2"}]}]}}"#;
    house.world.write("work/.claude/settings.json", settings);
    for (answer, stopped) in [("n\n", false), ("y\n", true)] {
        let mut terminal = house.start(&[], &[]);
        terminal.sees("Do you trust this project?");
        terminal.keys(answer);
        terminal.sees("> what should be done?");
        terminal.asks("run echo hello", "Done with: run echo hello");
        let last = String::from_utf8(house.wire.requests().pop().unwrap()).unwrap();
        assert_eq!(last.contains("not on a Sunday"), stopped);
        assert_eq!(terminal.all().contains("✗ Bash"), stopped);
        terminal.leaves();
    }
    // The answer is remembered.
    let terminal = house.start(&[], &[]);
    terminal.sees("> what should be done?");
    house.nothing_refused();
}
