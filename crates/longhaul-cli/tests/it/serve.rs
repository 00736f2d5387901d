//! `longhaul serve` as a program: what it prints, how it answers, how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn longhaul(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    command.arg("serve").args(arguments);
    command.env("LONGHAUL_HOME", home);
    command.env_remove("LONGHAUL_GATEWAY_TOKEN");
    command
}

fn start(home: &Path, arguments: &[&str]) -> (Child, String) {
    let mut child = longhaul(home, arguments)
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let addr = line.strip_prefix("listening on http://").unwrap();
    (child, addr.trim_end().to_owned())
}

fn ask(addr: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn hello(addr: &str) -> String {
    let body = r#"{"model":"claude-opus-5-5","max_tokens":64,"messages":[{"role":"user","content":"Hello"}]}"#;
    let request = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: g\r\nx-api-key: sk-secret-key-1\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    ask(addr, &request)
}

#[cfg(unix)]
fn end(mut child: Child) -> (Option<i32>, String) {
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.unwrap().success());
    let mut told = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut told)
        .unwrap();
    (child.wait().unwrap().code(), told)
}

#[cfg(unix)]
#[test]
fn x8_with_no_arguments_the_offline_world_answers_and_the_books_stay() {
    let home = tempfile::tempdir().unwrap();
    let (child, addr) = start(home.path(), &["--log", "trace"]);
    let answer = hello(&addr);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("x-longhaul-session: "), "{answer}");
    let (code, told) = end(child);
    assert_eq!(code, Some(0));
    assert!(told.contains("simulated model"), "{told}");
    assert!(!told.contains("sk-secret-key-1"), "{told}");
    // Started again, it knows the conversation.
    let (child, addr) = start(home.path(), &["--threads", "1"]);
    assert!(hello(&addr).contains("x-longhaul-note: the same request as before"));
    let sessions = ask(
        &addr,
        "GET /longhaul/api/sessions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    );
    assert!(sessions.contains("claude-opus-5-5"), "{sessions}");
    end(child);
    let books = home.path().join("gateway/books.sqlite");
    assert!(books.exists());
}

#[test]
fn x8_what_cannot_be_meant_is_said_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, hint) in [
        (&["--upstream", "ftp://x"][..], "--upstream https://"),
        (
            &["--upstream", "https://user:pass@x"],
            "--upstream https://",
        ),
        (&["--store", "redis:x"], "sqlite:PATH"),
        (
            &["--store", "postgress://me:pass@x/y"],
            "postgres://USER@HOST",
        ),
        (
            &["--store", "postgres://me:pass@127.0.0.1:1/y"],
            "can be reached",
        ),
        (&["--policy", "manage"], "`observe` or `off`"),
        (&["--rules", "no-such-file"], "Check the path"),
        (&["--listen", "nowhere"], "ADDR:PORT"),
    ] {
        let output = longhaul(home.path(), arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(hint), "{arguments:?}: {told}");
        assert!(!told.contains("pass"), "{told}");
    }
}

/// Says a conversation of so many turns, and gives the line that the gateway placed it on.
#[cfg(unix)]
fn conversation(turns: usize) -> String {
    let said = (0..turns).map(|turn| {
        let answer = r#",{"role":"assistant","content":"Yes."},"#;
        let comma = if turn + 1 < turns { answer } else { "" };
        format!(r#"{{"role":"user","content":"Turn {turn}"}}{comma}"#)
    });
    let said: String = said.collect();
    let body = format!(r#"{{"model":"claude-opus-5-5","max_tokens":64,"messages":[{said}]}}"#);
    format!(
        "POST /v1/messages HTTP/1.1\r\nhost: g\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(unix)]
fn line_of(answer: &str) -> &str {
    let line = answer.split("x-longhaul-line: ").nth(1);
    line.unwrap_or_else(|| panic!("{answer}"))
        .split("\r\n")
        .next()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn x8_a_gateway_that_is_killed_in_a_request_takes_nothing_with_it() {
    let Some(database) = longhaul_testkit::postgres::database() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let arguments = ["--store", database.url()];
    let (mut dies, one) = start(home.path(), &arguments);
    let (lives, two) = start(home.path(), &arguments);
    let first = ask(&one, &conversation(1));
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    let second = ask(&two, &conversation(2));
    assert_eq!(line_of(&second), line_of(&first));
    let third = ask(&one, &conversation(3));
    assert_eq!(line_of(&third), line_of(&first));
    // In the middle of a request: it came, and nobody waits for the answer.
    let mut broken = TcpStream::connect(&one).unwrap();
    broken.write_all(conversation(4).as_bytes()).unwrap();
    dies.kill().unwrap();
    dies.wait().unwrap();
    let again = ask(&two, &conversation(4));
    assert_eq!(line_of(&again), line_of(&first));
    let (code, told) = end(lives);
    assert_eq!(code, Some(0), "{told}");
    // All that was answered is known to one that starts anew.
    let (third_process, three) = start(home.path(), &arguments);
    let later = ask(&three, &conversation(5));
    assert_eq!(line_of(&later), line_of(&first));
    assert!(
        later.contains("x-longhaul-note: 2 messages more"),
        "{later}"
    );
    end(third_process);
}
