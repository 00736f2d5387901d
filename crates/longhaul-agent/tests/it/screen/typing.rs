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
fn q2_the_transcript_can_be_read_and_searched() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("hello\r");
    terminal.sees("• two");
    terminal.is_idle();
    let before = terminal.shown();
    terminal.keys("\u{f}");
    terminal.sees("It is fixed.");
    terminal.screen(|screen| assert!(screen.alternate_screen()));
    terminal.sees("14 of 14 word for word");
    terminal.keys("/line 17\r");
    terminal.sees("    line 17 of the file\n");
    terminal.resize(10, 40);
    terminal.sees("Transcript");
    terminal.resize(24, 80);
    terminal.keys("q");
    terminal.is_idle();
    assert_eq!(
        terminal.shown().trim(),
        before.trim(),
        "the screen is as it was"
    );
}

#[test]
fn q3_what_fills_the_window_is_a_picture() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("/cont\t\r");
    terminal.sees("97,000 of 200,000 tokens, 42% left until compaction");
    terminal.sees("tool results");
    terminal.sees("c compacts at 167,000");
    terminal.is_idle();
    terminal.keys("/cost\r");
    terminal.sees("total $1.23 · 91% of prompts from the cache");
    terminal.keys("/notes\r");
    terminal.sees("the parser is done");
    terminal.keys("/hooks\r");
    terminal.sees("PreCompact manual: ./save.sh");
    terminal.keys("/report\r");
    terminal.sees("User messages");
    terminal.keys("/nonsense\r");
    terminal.sees("there is no command /nonsense");
    terminal.keys("/review it\r");
    terminal.sees("Command review with \"it\".");
    terminal.keys("/clear\r");
    terminal.sees("a new conversation");
    terminal.keys("/help\r");
    terminal.sees("/rewind");
    terminal.keys("look at @pars");
    terminal.sees("› @src/parser.rs");
    terminal.keys("\t");
    terminal.sees("> look at @src/parser.rs");
    terminal.misses("› @src");
}

#[test]
fn q3_sessions_models_and_messages_are_picked_from_lists() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("/resume\r");
    terminal.sees("› fix the parser");
    terminal.keys("docs");
    terminal.sees("› write docs");
    terminal.keys("\r");
    terminal.sees("there is no such session; /resume lists them");
    terminal.keys("/resume 漢字\r");
    terminal.sees("› 漢字 in tables");
    terminal.keys("\r");
    terminal.sees("resumed after 2 messages");
    terminal.is_idle();
    terminal.keys("/model\r");
    terminal.sees("› ✓ claude-sonnet-4-6");
    terminal.keys("opus\r");
    terminal.sees("claude-opus-4-6 is used from the next request on");
    terminal.is_idle();
    terminal.keys("/rewind\r");
    terminal.sees("› > now the tests");
    terminal.keys("\r");
    terminal.sees("1. go back");
    terminal.keys("1");
    terminal.sees("> said in m3");
    terminal.keys("\u{3}/rewind\r");
    terminal.sees("› > now the tests");
    terminal.keys("\u{1b}[B\r");
    terminal.sees("the compaction is undone");
    terminal.is_idle();
    terminal.keys("/rewind\r");
    terminal.sees("› > now the tests");
    terminal.keys("\r");
    terminal.sees("3. summarize up to here");
    terminal.keys("3");
    terminal.sees("Compaction, nothing changed yet");
    terminal.keys("q");
    terminal.sees("compaction canceled; nothing changed");
    terminal.keys("\u{1b}[Z");
    terminal.sees("mode: accept edits");
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

#[test]
fn q3_rewinding_restores_files_and_asks_before_it_overwrites_the_changes_of_others() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("/rewind\r");
    terminal.sees("› > now the tests");
    terminal.keys("fix\r");
    terminal.sees("At this message · what 2 commands did since stays");
    terminal.sees("1. go back and restore 2 files");
    terminal.sees("src/lexer.rs, src/parser.rs");
    terminal.sees("2. go back; files stay as they are");
    terminal.sees("3. restore 2 files; the conversation goes on");
    // It is the first message: there is nothing before it to summarize.
    terminal.sees("4. summarize from here on");
    assert!(!terminal.shown().contains("summarize up to here"));
    terminal.keys("3");
    terminal.sees("Changed since, not by the agent: src/parser.rs");
    terminal.keys("1");
    terminal.sees("2 files restored (Leave)");
    terminal.keys("/rewind\r");
    terminal.sees("› > now the tests");
    terminal.keys("fix\r");
    terminal.sees("1. go back and restore 2 files");
    terminal.keys("1");
    terminal.sees("2. overwrite them, too");
    terminal.keys("2");
    terminal.sees("2 files restored (Overwrite)");
    terminal.sees("> said in m1");
}

#[test]
fn y6_a_summary_is_seen_edited_and_approved_before_it_replaces_anything() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("/compact keep the API\r");
    terminal.sees("Compaction, nothing changed yet: 97,000 → 12,480 tokens (model), $0.12");
    terminal.sees("The parser was fixed.");
    terminal.sees("14 of 14 word for word");
    terminal.keys("k4\r");
    terminal.sees("Keeps 4 messages.");
    terminal.keys("e");
    terminal.sees("ctrl-s takes it");
    terminal.keys(" By hand.\u{13}");
    terminal.sees(", edited");
    terminal.sees("Keeps 4 messages. By hand.");
    terminal.keys("\r");
    terminal.sees("● compacted 167,204 → 12,480 tokens (approved, $0.12)");
    terminal.sees("14 of 14 messages of\n  yours kept word for word, 5 files back");
    assert!(
        terminal.all().contains("By hand."),
        "what was edited was taken"
    );
    terminal.sees("93% left");
}

#[test]
fn y6_a_summary_is_edited_in_the_users_editor() {
    let mut terminal = Terminal::with(&[("EDITOR", "printf edited > ")]);
    terminal.is_idle();
    terminal.keys("/compact\r");
    terminal.sees("nothing changed yet");
    terminal.keys("e");
    terminal.sees(", edited");
    terminal.misses("The parser was fixed.");
    terminal.keys("\r");
    terminal.sees("summary: edited");
    terminal.is_idle();
    terminal.keys("hello\r");
    terminal.sees("● Hello");
}

#[test]
fn q2_a_compaction_shows_its_progress_and_can_be_cancelled() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("/compact slowly\r");
    terminal.sees("1,234 characters of summary · esc to cancel");
    terminal.keys("\u{1b}");
    terminal.sees("compaction canceled; nothing changed");
    terminal.is_idle();
}

#[test]
fn q2_a_terminal_that_is_closed_ends_the_work() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("forever\r");
    terminal.sees("and on 3");
    terminal.close();
    assert!(terminal.ends());
}

#[test]
fn q2_a_session_that_is_told_to_end_gives_the_terminal_back() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("\u{f}");
    terminal.sees("Transcript");
    terminal.keys("q");
    terminal.is_idle();
    let pid = terminal.pid().to_string();
    let killed = std::process::Command::new("kill")
        .arg(&pid)
        .status()
        .unwrap();
    assert!(killed.success());
    assert!(terminal.ends());
    terminal.given_back();
}

#[test]
fn q2_a_panic_elsewhere_is_told_and_the_screen_goes_on() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("panic\r");
    terminal.sees("on purpose");
    terminal.sees("the session did not answer; try again");
    terminal.is_idle();
    terminal.keys("hello\r");
    terminal.sees("● Hello");
    terminal.keys("\u{4}");
    assert!(terminal.ends());
    terminal.given_back();
}

#[cfg(target_os = "linux")]
#[test]
fn q2_a_program_that_is_put_aside_comes_back_as_it_was() {
    let mut terminal = Terminal::start();
    terminal.is_idle();
    terminal.keys("half a prompt\u{1a}");
    let pid = terminal.pid();
    terminal.until("stop", |_| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('T')
    });
    // In the meantime the terminal belongs to the shell.
    terminal.given_back();
    let woken = std::process::Command::new("kill")
        .args(["-CONT", &pid.to_string()])
        .status();
    assert!(woken.unwrap().success());
    terminal.sees("> half a prompt");
    terminal.until("paste mode", |terminal| {
        terminal.screen(vt100::Screen::bracketed_paste)
    });
    terminal.keys("\r");
    terminal.sees("You said \"half a prompt\".");
}
