//! Recorded traffic of real clients: every request body is read, and successive calls of one run are one branch.

use std::fs;

use bytes::Bytes;
use longhaul_core::cache::canonical;
use longhaul_gateway::body;
use longhaul_gateway::branch::BranchRelation;
use longhaul_provider::Dialect;
use longhaul_testkit::corpora::corpora;
use serde_json::Value;

use super::lines::Bench;

#[test]
fn n7_recorded_requests_are_read_as_an_independent_reader_reads_them() {
    let Some(folder) = corpora() else { return };
    let text = fs::read_to_string(folder.join("api-pairs/anthropic_pairs.jsonl")).unwrap();
    let (mut read, mut others) = (0, 0);
    let bench = Bench::new();
    for line in text.lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let Some(request) = pair["request"].as_str() else {
            continue;
        };
        let value: Option<Value> = serde_json::from_str(request).ok();
        let messages = value
            .as_ref()
            .and_then(|value| value["messages"].as_array());
        let Ok(outline) = body::read(request.as_bytes()) else {
            let has_role = messages.is_some_and(|all| {
                !all.is_empty() && all.iter().all(|one| one["role"].is_string())
            });
            assert!(
                !has_role || !value.as_ref().unwrap()["model"].is_string(),
                "{request}"
            );
            others += 1;
            continue;
        };
        let messages = messages.unwrap();
        assert_eq!(outline.len(), messages.len());
        for (element, message) in outline.elements.iter().zip(messages) {
            let found: Value = serde_json::from_str(&request[element.span.clone()]).unwrap();
            assert_eq!(found, *message);
        }
        bench.place_raw(1, Dialect::Anthropic, request);
        // The same request with another layout and order is the same conversation.
        let again = serde_json::to_string_pretty(value.as_ref().unwrap()).unwrap();
        let list = Bytes::copy_from_slice(request[outline.list.clone()].as_bytes());
        let sorts_alike = canonical::conversation(&list).unwrap();
        let pretty = body::read(again.as_bytes()).unwrap();
        let sorted = canonical::conversation(again[pretty.list.clone()].as_bytes()).unwrap();
        if sorts_alike == sorted {
            let placed = bench.place_raw(1, Dialect::Anthropic, &again);
            assert!(
                matches!(
                    placed.relation,
                    BranchRelation::Again | BranchRelation::Branches(..)
                ),
                "{placed:?}"
            );
        }
        read += 1;
    }
    println!("{read} recorded conversations read, {others} bodies are none");
    assert!(read > 600);
}

#[test]
fn x8_successive_calls_of_a_recorded_run_are_one_line() {
    let Some(folder) = corpora() else { return };
    let folder = folder.join("agent-recordings/openhands-claude-sonnet-4");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let bench = Bench::new();
    let mut placed = Vec::new();
    for file in &files {
        let record: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let body = super::support::body(&record["messages"]);
        placed.push(bench.place_raw(1, Dialect::OpenAi, &body));
    }
    assert!(placed.len() >= 6);
    let lines: std::collections::BTreeSet<_> = placed.iter().map(|placed| placed.line).collect();
    println!("{placed:?}");
    assert_eq!(lines.len(), 1);
}
