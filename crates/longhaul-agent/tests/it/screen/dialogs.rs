//! Pages and lists over the prompt: the window, sessions, rewinding, a summary before it is applied.

use super::pty::Terminal;

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
    terminal.sees("Changed since the last edit, by a command or somebody else: src/parser.rs");
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
