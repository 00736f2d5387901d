//! What becomes of the terminal when the program ends, breaks or is put aside.

use super::pty::Terminal;

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
