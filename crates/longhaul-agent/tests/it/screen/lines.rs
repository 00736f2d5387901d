//! Dumb terminals, pipes, poor locales.

use super::pty::Terminal;

#[test]
fn q2_a_dumb_terminal_gets_lines_and_no_escape_codes() {
    let mut terminal = Terminal::with(&[("TERM", "dumb")]);
    terminal.sees("> ");
    terminal.keys("hello\n");
    terminal.sees("● Hello");
    terminal.sees("• two");
    terminal.keys("ask\n");
    terminal.sees("4. no, and tell the model");
    terminal.keys("2\n");
    terminal.sees("The answer was Some(Session).");
    terminal.keys("/context\n");
    terminal.sees("w warns at 147,000");
    terminal.keys("/compact\n");
    terminal.sees("a: approve");
    terminal.keys("a\n");
    terminal.sees("compacted 167,204 → 12,480 tokens");
    terminal.keys("/resume\n");
    terminal.sees("number, or nothing to leave:");
    terminal.keys("3\n");
    terminal.sees("there is no such session");
    terminal.keys("\u{4}");
    assert!(terminal.ends());
    assert!(!terminal.bytes().contains(&0x1b), "{:?}", terminal.shown());
}

#[test]
fn q2_where_only_ascii_is_shown_nothing_else_is_sent() {
    let mut terminal = Terminal::with(&[("LANG", "C"), ("NO_COLOR", "1")]);
    terminal.sees("> what should be done?");
    terminal.keys("hello\r");
    terminal.sees("* Hello");
    terminal.sees("code, ????.");
    terminal.is_idle();
    terminal.keys("/context\r");
    terminal.sees("S S S S");
    terminal.keys("/exit\r");
    assert!(terminal.ends());
    let bytes = terminal.bytes();
    assert!(bytes.is_ascii());
    let text = String::from_utf8(bytes).unwrap();
    for color in ["[31m", ";31m", ";32m", ";33m", ";36m"] {
        assert!(!text.contains(color), "no colours");
    }
}

#[test]
fn q2_a_pipe_is_answered_line_by_line_and_ends_with_its_input() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "screen::pty::child", "--nocapture", "--quiet"])
        .env("LONGHAUL_TEST_SCREEN_DONE", folder.path().join("done"))
        .env("LONGHAUL_TEST_WORKSPACE", folder.path())
        .env("LONGHAUL_HOME", folder.path())
        .env("LANG", "C.UTF-8")
        .env_remove("LC_ALL")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(b"hello\n\xff\xfe bytes\ntool\nask\n")
        .unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(folder.path().join("done").exists());
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "● Hello",
        "bytes",
        "✓ Read src/parser.rs",
        "✗ Bash cargo test",
        "One test failed.",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(
        text.contains("The answer was None"),
        "nobody is there to be asked: {text}"
    );
    assert!(
        !text.contains('\u{1b}') && !text.contains("working"),
        "{text}"
    );
}
