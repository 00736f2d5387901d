//! What a user does and sees.

use super::pty::Terminal;

#[test]
fn q2_a_reply_streams_and_stays_in_the_scrollback() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.sees("claude-sonnet-4-6 · 42% left · $1.23 · cache 91%");
    terminal.keys("hello\r");
    terminal.sees("● Hello");
    terminal.sees("This is bold and code, 漢字.");
    terminal.sees("• two");
    terminal.is_idle();
    terminal.screen(|screen| assert!(!screen.alternate_screen() && screen.bracketed_paste()));
    terminal.keys("\u{4}");
    assert!(terminal.ends());
    terminal.given_back();
    terminal.misses("what should be done?");
    terminal.sees("● Hello");
}

#[test]
fn q2_tools_todos_and_progress_are_shown() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("tool\r");
    terminal.sees("✓ Read src/parser.rs (1-200) · 200 lines");
    terminal.sees("2 +     new();");
    terminal.sees("▸ Fix the parser");
    terminal.sees("running 14 tests");
    terminal.sees("✗ Bash cargo test · exit code 101");
    terminal.sees("lines (ctrl-o shows all)");
    terminal.sees("One test failed.");
    terminal.is_idle();
    terminal.keys("engine\r");
    terminal.sees("7 old results cleared (the window fills up): 31,000 tokens freed");
    terminal.sees("3% left");
    terminal.keys("full\r");
    terminal.sees("not sent: use /compact, /rewind or /clear");
}

#[test]
fn q2_lines_are_written_and_recalled() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("measure one\\\rtwo\nthree\u{1b}\rfour");
    terminal.sees("  four");
    terminal.keys("\r");
    terminal.sees("You sent 4 lines, 26 bytes.");
    terminal.is_idle();
    terminal.keys("second 漢字\r");
    terminal.sees("You said \"second 漢字\".");
    terminal.is_idle();
    terminal.keys("\u{1b}[A\u{1b}[A");
    terminal.sees("> measure one\n  two\n  three\n  four");
    terminal.keys("\u{1b}[B");
    terminal.sees("> second 漢字\n");
    terminal.keys("\u{3}");
    terminal.is_idle();
    terminal.keys("\u{4}");
    assert!(terminal.ends());

    // Another program in the same project knows them, too.
    let folder = std::mem::replace(&mut terminal.folder, tempfile::tempdir().unwrap());
    let mut terminal = Terminal::within(folder, &[]);
    terminal.is_idle();
    terminal.keys("\u{1b}[A");
    terminal.sees("> second 漢字");
}

#[test]
fn q2_a_long_paste_is_folded_and_sent_whole() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    let paste = "line\r".repeat(120);
    terminal.keys(&format!("measure \u{1b}[200~{paste}\u{1b}[201~"));
    terminal.sees("> measure [pasted 120 lines]");
    terminal.keys("\r");
    terminal.sees("You sent 120 lines, 608 bytes.");
}

#[test]
fn q2_work_is_stopped_and_what_was_typed_meanwhile_waits() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("forever\r");
    terminal.sees("and on 3");
    terminal.keys("then this\r");
    terminal.sees("next: then this");
    terminal.keys("\u{1b}");
    terminal.sees("stopped; the unfinished reply is not kept");
    // Work that was stopped returns its queued input to the prompt.
    terminal.sees("> then this");
    terminal.keys("\r");
    terminal.sees("You said \"then this\".");
    terminal.is_idle();
    terminal.keys("stream\r");
    terminal.sees("esc to stop");
    terminal.keys("after it\r");
    terminal.sees("You said \"after it\".");
    assert!(terminal.all().contains("The stream is over."));
    terminal.is_idle();
    terminal.keys("\u{3}");
    terminal.sees("press ctrl-c again to leave");
    terminal.keys("\u{3}");
    assert!(terminal.ends());
}

#[test]
fn q2_a_permission_is_asked_for() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    for (keys, answer) in [
        ("1", "Some(Once)"),
        ("\u{1b}[B\u{1b}[B\r", "Some(Project)"),
        ("\u{1b}", "Some(No(None))"),
        ("4rather not\r", "Some(No(Some(\"rather not\")))"),
        ("\u{3}", "None"),
    ] {
        terminal.keys("ask\r");
        terminal.sees("? Edit src/main.rs");
        terminal.sees("1 + new line");
        terminal.sees("2. yes, and for this session: Edit(src/**)");
        terminal.answers(keys);
        terminal.sees(&format!("The answer was {answer}."));
        terminal.is_idle();
    }
}

#[test]
fn q2_a_hostile_text_moves_nothing_and_hides_nothing() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("hostile\r");
    terminal.sees("before␛[2J");
    terminal.sees("␛]0;OWNED␇");
    terminal.is_idle();
    let text = String::from_utf8(terminal.bytes()).unwrap();
    for code in [
        "\u{1b}]",
        "\u{1b}[2J",
        "\u{9b}",
        "\u{202e}",
        "\u{8}",
        "\u{7}",
    ] {
        assert!(!text.contains(code), "{code:?} was sent");
    }
    assert!(
        terminal.all().contains("> hostile"),
        "nothing was overwritten"
    );
}

#[test]
fn q2_another_size_in_the_middle_of_a_reply() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("stream\r");
    terminal.until("Paragraph 3", |terminal| {
        terminal.all().contains("Paragraph 3 ")
    });
    for (rows, cols) in [(30, 50), (5, 20), (40, 120), (8, 30), (24, 80)] {
        terminal.resize(rows, cols);
        terminal.until("a prompt at the new size", |terminal| {
            terminal
                .shown()
                .lines()
                .any(|line| line.trim_end() == ">" || line.starts_with("> what should"))
        });
    }
    terminal.sees("The stream is over.");
    terminal.is_idle();
    terminal.keys("hello\r");
    terminal.sees("● Hello");
    terminal.is_idle();
    let shown = terminal.shown();
    assert_eq!(
        shown.matches("% left").count(),
        1,
        "one status line: {shown}"
    );
    assert_eq!(
        shown.matches("what should be done?").count(),
        1,
        "one prompt: {shown}"
    );
}

#[test]
fn q2_habits_from_other_agents_work_here() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("!ls -l");
    terminal.sees("enter runs this in the shell");
    terminal.keys("\r");
    terminal.sees("ran ls -l");
    terminal.sees("the model sees this with your next prompt");
    terminal.is_idle();
    terminal.keys("/status\r");
    terminal.sees("The page Status");
    terminal.keys("/export talk.txt\r");
    terminal.sees("the conversation is in talk.txt");
    terminal.keys("\u{12}stat");
    terminal.sees("Earlier prompts: stat");
    terminal.sees("› /status");
    terminal.keys("\r");
    terminal.sees("> /status");
    terminal.keys("\u{1b}");
    terminal.sees("esc again empties the prompt");
    terminal.keys("\u{1b}");
    terminal.is_idle();
    terminal.keys("\u{1b}");
    terminal.sees("esc again goes back to an earlier message");
    terminal.keys("\u{1b}");
    terminal.sees("Go back to");
}
