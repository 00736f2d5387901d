//! An agent for tests: does what the variable `WRAP_STEPS` says, one step after the other.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// The variable with the steps.
pub(super) const STEPS: &str = "WRAP_STEPS";
/// The name of the test that is the agent.
pub(super) const TEST: &str = "wrap::agent::the_agent_of_these_tests_does_what_it_is_told";

/// The key that the agent sends.
pub(super) const KEY: &str = "sk-ant-a-key-of-the-user-0123456789";

#[test]
fn the_agent_of_these_tests_does_what_it_is_told() {
    let Ok(steps) = std::env::var(STEPS) else {
        // Run as a test: there is nothing to do.
        return;
    };
    for step in steps.split(',') {
        let (what, with) = step.split_once(':').unwrap_or((step, ""));
        match what {
            "call" => println!("call: {}", call()),
            "touch" => std::fs::write(with, "").unwrap(),
            "await" => {
                while !Path::new(with).exists() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            // Writes what a call gives to a file, for agents whose output nobody reads any more.
            "note" => std::fs::write(with, call()).unwrap(),
            "say" => println!("say: {}", std::env::var(with).unwrap_or_default()),
            "exit" => std::process::exit(with.parse().unwrap()),
            "abort" => std::process::abort(),
            other => panic!("no step {other}"),
        }
    }
}

/// Calls the API at the address in the variable; the status, or why there was none.
fn call() -> String {
    let url = std::env::var("ANTHROPIC_BASE_URL").unwrap();
    let rest = url.strip_prefix("http://").unwrap();
    let (addr, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let body = r#"{"model":"claude-opus-5-5","max_tokens":64,"messages":[{"role":"user","content":"Hello"}]}"#;
    let request = format!(
        "POST {path}/v1/messages HTTP/1.1\r\nhost: {addr}\r\nx-api-key: {KEY}\r\nanthropic-version: 2023-06-01\r\n\
         user-agent: test-agent/1.0\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(addr)?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    match answer() {
        Ok(answer) => answer.lines().next().unwrap_or("nothing").to_owned(),
        Err(error) => format!("failed: {error}"),
    }
}
