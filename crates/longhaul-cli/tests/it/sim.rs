//! `longhaul sim` as a program: what it prints, how it answers, how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

fn longhaul(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    command.arg("sim").args(arguments);
    // The settings of the user who runs the tests must not matter.
    command.env(
        "LONGHAUL_HOME",
        std::env::temp_dir().join("longhaul-no-home"),
    );
    command
}

/// A running simulator.
struct Sim {
    child: Child,
    addr: String,
}

impl Sim {
    fn start(arguments: &[&str]) -> Self {
        let mut child = longhaul(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let addr = line
            .strip_prefix("listening on http://")
            .unwrap()
            .trim_end()
            .to_owned();
        assert_eq!(line, format!("listening on http://{addr}\n"));
        Self { child, addr }
    }

    /// Sends a request and reads the answer.
    fn post(&self, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: sim\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
             content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn hello(&self) -> (u16, Value) {
        let body = r#"{"model":"claude-opus-5-5","max_tokens":256,"messages":[{"role":"user","content":"Hello"}]}"#;
        self.post("/v1/messages", body)
    }

    /// Ends it as a supervisor would, and returns its stderr.
    #[cfg(unix)]
    fn end(mut self) -> (Option<i32>, String) {
        let killed = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        assert!(killed.unwrap().success());
        let mut told = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut told)
            .unwrap();
        (self.child.wait().unwrap().code(), told)
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
#[test]
fn it_says_where_it_listens_answers_and_ends_in_good_order() {
    let sim = Sim::start(&[]);
    let (status, message) = sim.hello();
    assert_eq!(status, 200, "{message}");
    assert_eq!(message["type"], "message");
    let url = format!("http://{}", sim.addr);
    let (code, told) = sim.end();
    assert_eq!(code, Some(0));
    assert!(told.contains("simulator of the Messages API"), "{told}");
    assert!(
        told.contains(&format!("ANTHROPIC_BASE_URL={url} ")),
        "{told}"
    );
    assert!(
        told.contains(&format!("OPENAI_BASE_URL={url}/v1 ")),
        "{told}"
    );
    assert!(told.contains("1 request, 0 refused"), "{told}");
}

#[test]
fn an_address_in_use_is_told_with_the_next_step() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let (code, told) = refused(&["--listen", &addr]);
    assert_eq!(code, Some(2));
    assert!(
        told.contains(&format!("cannot listen on {addr}: the address is in use")),
        "{told}"
    );
    assert!(told.contains("--listen 127.0.0.1:0"), "{told}");
}

#[test]
fn what_cannot_be_meant_is_told_before_anything_listens() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let broken = file("broken.jsonl", "{\"text\":\"one\"}\n{\"txt\":\"two\"}\n");
    let faulty = file(
        "faulty.jsonl",
        "{\"text\":\"one\"}\n{\"text\":\"two\",\"fault\":\"418\"}\n",
    );
    let table: [(&[&str], &str); 9] = [
        (
            &["--listen", "nowhere"],
            "\"nowhere\" is not an address to listen on",
        ),
        (
            &["--listen", "127.0.0.1:99999"],
            "is not an address to listen on",
        ),
        (
            &["--faults", "after 5: teapot"],
            "there is no fault `teapot`",
        ),
        (
            &["--misbehave", "summary:purple"],
            "`purple` is not known here",
        ),
        (&["--pace", "quick"], "\"quick\" is not a pace"),
        (
            &["--model", "gpt-5"],
            "there is no model \"gpt-5\" to answer with",
        ),
        (
            &["--script", "/nonexistent/script.jsonl"],
            "cannot read /nonexistent/script.jsonl",
        ),
        (&["--script", &broken], "line 2: "),
        (&["--script", &faulty], "line 2: there is no fault `418`"),
    ];
    for (arguments, sentence) in table {
        let (code, told) = refused(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {told}");
        assert!(told.contains(sentence), "{arguments:?}: {told}");
        assert!(told.lines().count() >= 2, "a next step is missing: {told}");
    }
}

#[test]
fn scripts_faults_and_the_log_are_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("turns.jsonl");
    std::fs::write(&script, "{\"text\":\"First.\"}\n{\"text\":\"Second.\"}\n").unwrap();
    let log = folder.path().join("log.jsonl");
    let text = |path: &Path| path.display().to_string();
    let (script, shown) = (text(&script), text(&log));
    let sim = Sim::start(&[
        "--script",
        &script,
        "--json-log",
        &shown,
        "--faults",
        "after 1: 529",
        "--virtual-time",
    ]);
    assert_eq!(sim.hello().1["content"][0]["text"], "First.");
    assert_eq!(sim.hello().0, 529);
    assert_eq!(sim.hello().1["content"][0]["text"], "Second.");
    let (status, clock) = sim.post("/sim/clock", r#"{"advance_ms":1500}"#);
    assert_eq!((status, &clock["now_ms"]), (200, &Value::from(1500)));
    let lines: Vec<Value> = std::fs::read_to_string(&log)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let statuses: Vec<_> = lines
        .iter()
        .map(|line| line["status"].as_u64().unwrap())
        .collect();
    assert_eq!(statuses, [200, 529, 200]);
}

#[test]
fn help_shows_how_to_point_a_client_at_it() {
    let (code, help) = told(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(
        help.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:7411"),
        "{help}"
    );
    assert!(help.contains("Exit codes:"), "{help}");
}

fn told(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, .. } = longhaul(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap())
}

/// How a start that must fail ends, and what it says on stderr. Nothing may be on stdout.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = longhaul(arguments).output().unwrap();
    assert!(stdout.is_empty());
    (status.code(), String::from_utf8(stderr).unwrap())
}
