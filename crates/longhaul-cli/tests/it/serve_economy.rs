//! `longhaul serve` decides by price as the setting, the flag and the rules say (V5), and explains it (V6).
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use super::serve::{end, longhaul, started};

const TURNS: usize = 30;
const DECISION: &str = "x-longhaul-economy: ";

/// A request of a client that reads one file in each round and keeps everything.
fn request(model: &str, rounds: usize) -> String {
    let mut messages = vec![json!({"role": "user", "content": "Read all files."})];
    for at in 0..rounds {
        let id = format!("toolu_{at:04}");
        let text = format!("fn part{at}(first: usize) -> usize {{ first + {at} }}\n").repeat(160);
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": format!("/src/{at}.rs")}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": text, "cache_control": {"type": "ephemeral"}}]}));
    }
    let all = messages.len();
    for message in &mut messages[..all - 1] {
        if let Some(blocks) = message["content"].as_array_mut() {
            let block = blocks[0].as_object_mut().unwrap();
            block.remove("cache_control");
        }
    }
    let body: Value = json!({
        "model": model, "max_tokens": 1_000, "messages": messages,
        "tools": [{"name": "Read", "description": "Reads a file.", "input_schema": {"type": "object"}}],
    });
    let body = body.to_string();
    format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The decisions by price that the answers of a gateway tell.
fn decisions(home: &Path, arguments: &[&str], model: &str) -> Vec<String> {
    let mut command = longhaul(home, arguments);
    command.env_remove("LONGHAUL_ECONOMY");
    let (child, addr) = started(command);
    let mut told = Vec::new();
    for round in 0..TURNS {
        let mut stream = TcpStream::connect(&addr).unwrap();
        stream.write_all(request(model, round).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let lines = answer
            .lines()
            .filter_map(|line| line.strip_prefix(DECISION));
        told.extend(lines.map(str::to_owned));
    }
    end(child);
    told
}

#[test]
fn v5_v6_serve_decides_by_price_as_flag_setting_and_rules_say() {
    const MODEL: &str = "claude-sonnet-4-6";
    let none = Vec::<String>::new();
    let home = || tempfile::tempdir().unwrap();
    let unset = decisions(home().path(), &[], MODEL);
    assert!(!unset.is_empty(), "clear is the default");
    assert!(
        unset[0].starts_with("policy=clear; action=clear; price-usd="),
        "{unset:?}"
    );
    assert_eq!(decisions(home().path(), &["--economy", "off"], MODEL), none);
    // Each has a store of its own, where no clearing is known yet.
    let file = || {
        let home = home();
        std::fs::write(home.path().join("config.toml"), "economy = \"off\"\n").unwrap();
        home
    };
    assert_eq!(decisions(file().path(), &[], MODEL), none);
    let flag = decisions(file().path(), &["--economy", "clear"], MODEL);
    assert!(!flag.is_empty(), "a flag wins over the file");
    let rule = ["--policy", "model=claude-sonnet-*:manage,economy=clear"];
    let ruled = decisions(file().path(), &rule, MODEL);
    assert!(
        ruled.iter().any(|one| one.starts_with("policy=clear; ")),
        "{ruled:?}"
    );
    assert_eq!(decisions(file().path(), &rule, "claude-haiku-4-5"), none);
    let switches = ["--set", "compaction.micro=false"];
    assert_eq!(decisions(home().path(), &switches, MODEL), none);
    let switches = ["--set", "compaction.automatic=false", "--economy", "full"];
    assert_eq!(decisions(home().path(), &switches, MODEL), none);
}

#[test]
fn v5_a_policy_of_prices_that_does_not_exist_is_an_error_that_says_what_there_is() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [
        &["--economy", "cheap"][..],
        &["--policy", "manage,economy=cheap"],
    ] {
        let output = longhaul(home.path(), arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("clear") && told.contains("full"), "{told}");
    }
}
