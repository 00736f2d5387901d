//! `longhaul serve` as a program: what it prints, how it answers, how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) fn longhaul(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    command.arg("serve").args(arguments);
    command.env("LONGHAUL_HOME", home);
    command.env_remove("LONGHAUL_GATEWAY_TOKEN");
    command.env_remove("LONGHAUL_GATEWAY_CLIENT_TOKEN");
    command
}

fn start(home: &Path, arguments: &[&str]) -> (Child, String) {
    started(longhaul(home, arguments))
}

pub(crate) fn started(mut command: Command) -> (Child, String) {
    let mut child = command
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

fn hello_request() -> String {
    let body = r#"{"model":"claude-opus-5-5","max_tokens":64,"messages":[{"role":"user","content":"Hello"}]}"#;
    format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: sk-secret-key-1\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub(crate) fn hello(addr: &str) -> String {
    ask(addr, &hello_request())
}

#[cfg(unix)]
pub(crate) fn end(mut child: Child) -> (Option<i32>, String) {
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

/// A gateway in a process that may have only this many files open.
#[cfg(unix)]
fn with_few_files(home: &Path, limit: &str) -> (Child, String) {
    let mut command = Command::new("sh");
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_longhaul"), "serve"]);
    command.env("LONGHAUL_HOME", home);
    started(command)
}

#[cfg(unix)]
#[test]
fn silent_connections_lock_nobody_out() {
    // The soft limit is raised; where the hard one is as low, silent connections make room.
    for limit in ["-Sn 150", "-n 150"] {
        let home = tempfile::tempdir().unwrap();
        let (child, addr) = with_few_files(home.path(), limit);
        let silent: Vec<TcpStream> = (0..300)
            .map(|_| TcpStream::connect(&addr).unwrap())
            .collect();
        let answer = hello(&addr);
        assert!(answer.starts_with("HTTP/1.1 200"), "{limit}: {answer}");
        drop(silent);
        end(child);
    }
}

#[cfg(unix)]
#[test]
fn x8_summaries_of_an_earlier_version_are_told_when_they_are_dropped() {
    let home = tempfile::tempdir().unwrap();
    let (child, _) = start(home.path(), &[]);
    end(child);
    let books = rusqlite::Connection::open(home.path().join("gateway/books.sqlite")).unwrap();
    books
        .execute_batch(
            "INSERT INTO notes (tenant, at, messages, tokens, text, session, line, made)
             VALUES (1, x'00', 1, 1, 'old', 1, 1, 1)",
        )
        .unwrap();
    drop(books);
    let (child, _) = start(home.path(), &[]);
    let (_, told) = end(child);
    assert!(told.contains("Dropped 1 summary or note"), "{told}");
}

#[test]
fn x8_what_cannot_be_meant_is_said_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, hint) in [
        (&["--upstream", "ftp://x"][..], "neither http nor https"),
        (
            &["--upstream", "https://user:pass@x"],
            "https://api.anthropic.com",
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
        (&["--policy", "never"], "a policy is"),
        (&["--rules", "no-such-file"], "Check the path"),
        (&["--listen", "nowhere"], "ADDR:PORT"),
        (&["--max-memory", "lots"], "512MiB"),
        (&["--max-memory", "1KiB"], "16MiB is the least"),
        (
            &["--client-token-env", "NO_SUCH_VARIABLE"],
            "long random text",
        ),
        (&["--upstream-ca", "no-such-file"], "Check the path"),
        (
            &["--set", "compaction.native_clearing=true"],
            "does nothing in `longhaul serve`: requests are the client's",
        ),
        (&["--set", "model=claude-opus-5-5"], "Leave it out"),
        (
            &[
                "--upstream",
                "https://localhost:1",
                "--upstream-ca",
                env!("CARGO_MANIFEST_PATH"),
            ],
            "BEGIN CERTIFICATE",
        ),
    ] {
        let output = longhaul(home.path(), arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(hint), "{arguments:?}: {told}");
        assert!(!told.contains(":pass") && !told.contains("pass@"), "{told}");
    }
}

/// An upstream whose one answer is a stream that ends when the test says so.
#[cfg(unix)]
struct Slow {
    addr: String,
    accepted: std::sync::mpsc::Receiver<TcpStream>,
}

#[cfg(unix)]
impl Slow {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap().to_string();
        let (sender, accepted) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                read_until(&mut stream, "Hello");
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n";
                stream.write_all(head.as_bytes()).unwrap();
                if sender.send(stream).is_err() {
                    return;
                }
            }
        });
        Self { addr, accepted }
    }
}

#[cfg(unix)]
fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(end) {
        let mut buffer = [0; 4_096];
        let count = stream.read(&mut buffer).unwrap();
        assert_ne!(count, 0, "ended before {end:?}: {seen}");
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    seen
}

#[cfg(unix)]
fn terminate(child: &Child) {
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.unwrap().success());
}

/// A gateway with an open stream that was told to end, and takes no more connections.
#[cfg(unix)]
fn draining(home: &Path, upstream: &Slow) -> (Child, TcpStream) {
    let url = format!("http://{}", upstream.addr);
    let (child, addr) = start(home, &["--upstream", &url]);
    let mut client = TcpStream::connect(&addr).unwrap();
    client.write_all(hello_request().as_bytes()).unwrap();
    read_until(&mut client, "first");
    terminate(&child);
    // It takes a moment until the port is closed.
    while TcpStream::connect(&addr).is_ok() {
        std::thread::yield_now();
    }
    (child, client)
}

#[cfg(unix)]
#[test]
fn x8_a_stream_under_way_finishes_when_it_is_told_to_end() {
    let home = tempfile::tempdir().unwrap();
    let upstream = Slow::start();
    let (mut child, mut client) = draining(home.path(), &upstream);
    let mut stream = upstream.accepted.recv().unwrap();
    stream.write_all(b"4\r\nlast\r\n0\r\n\r\n").unwrap();
    let mut rest = String::new();
    client.read_to_string(&mut rest).unwrap();
    assert!(
        rest.contains("last") && rest.ends_with("0\r\n\r\n"),
        "{rest}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut told = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut told)
        .unwrap();
    assert!(told.contains("Waiting for 1 request to finish."), "{told}");
}

#[cfg(unix)]
#[test]
fn x8_whoever_asks_twice_does_not_wait() {
    let home = tempfile::tempdir().unwrap();
    let upstream = Slow::start();
    let (mut child, mut client) = draining(home.path(), &upstream);
    // Held open, and never ended.
    let _stream = upstream.accepted.recv().unwrap();
    terminate(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "no end that looks whole");
    // The call that was cut off is in the usage log.
    let (child, addr) = start(home.path(), &[]);
    let sessions = ask(
        &addr,
        "GET /longhaul/api/sessions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    );
    assert!(sessions.contains("\"calls\":1"), "{sessions}");
    end(child);
}

#[cfg(unix)]
#[test]
fn x8_a_token_for_clients_closes_it() {
    let home = tempfile::tempdir().unwrap();
    let token = "sesame-0123456789";
    for (variable, arguments) in [
        ("LONGHAUL_GATEWAY_CLIENT_TOKEN", &["--log", "trace"][..]),
        ("OF_MY_OWN", &["--client-token-env", "OF_MY_OWN"]),
    ] {
        let mut command = longhaul(home.path(), arguments);
        command.env(variable, token);
        let (child, addr) = started(command);
        let answer = hello(&addr);
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        let with =
            hello_request().replacen("\r\n", &format!("\r\nx-longhaul-token: {token}\r\n"), 1);
        let answer = ask(&addr, &with);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let (code, told) = end(child);
        assert_eq!(code, Some(0));
        assert!(!told.contains(token), "{told}");
    }
}

#[test]
fn b2_whose_markers_are_sent_is_keep_or_manage() {
    let home = tempfile::tempdir().unwrap();
    let refused = longhaul(home.path(), &["--marks", "both"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        told.contains("`keep`") && told.contains("`manage`"),
        "{told}"
    );
}

/// Holds a conversation of this many turns, and returns the branch that the gateway assigned it to.
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
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
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
    // In the middle of a request: it has arrived, and nobody waits for the answer.
    let mut broken = TcpStream::connect(&one).unwrap();
    broken.write_all(conversation(4).as_bytes()).unwrap();
    dies.kill().unwrap();
    dies.wait().unwrap();
    let again = ask(&two, &conversation(4));
    assert_eq!(line_of(&again), line_of(&first));
    let (code, told) = end(lives);
    assert_eq!(code, Some(0), "{told}");
    // A newly started gateway knows everything that was answered.
    let (third_process, three) = start(home.path(), &arguments);
    let later = ask(&three, &conversation(5));
    assert_eq!(line_of(&later), line_of(&first));
    assert!(
        later.contains("x-longhaul-note: 2 messages more"),
        "{later}"
    );
    end(third_process);
}

#[test]
fn x8_a_second_gateway_on_the_same_file_says_so() {
    let home = tempfile::tempdir().unwrap();
    let (mut first, _) = start(home.path(), &[]);
    let (mut second, _) = start(home.path(), &[]);
    for child in [&mut first, &mut second] {
        child.kill().unwrap();
    }
    let said = |child: Child| String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    let (first, second) = (said(first), said(second));
    assert!(!first.contains("is in use by"), "{first}");
    assert!(second.contains("books.sqlite is in use by"), "{second}");
}

/// The first request of an agent with one tool.
#[cfg(unix)]
fn request_with_a_tool() -> String {
    let body = r#"{"model":"claude-opus-4-6","tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Hello"}]}"#;
    format!(
        "POST /v1/messages/count_tokens HTTP/1.1\r\nhost: localhost\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(unix)]
#[test]
fn x2_x8_recall_is_offered_only_where_it_is_asked_for() {
    let counted = |flags: &[&str]| {
        let home = tempfile::tempdir().unwrap();
        let (child, addr) = start(home.path(), flags);
        let answer = ask(&addr, &request_with_a_tool());
        end(child);
        let count = answer.split(r#""input_tokens":"#).nth(1).unwrap();
        let digits = count.split(|c: char| !c.is_ascii_digit()).next().unwrap();
        digits.parse::<u64>().unwrap()
    };
    let (without, with) = (counted(&[]), counted(&["--recall"]));
    assert!(with > without + 100, "the tool counts: {without}, {with}");
    assert_eq!(counted(&["--recall", "--policy", "observe"]), without);
}
