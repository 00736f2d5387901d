//! A plain reader over `serde_json` values, written independently of the generator and of Longhaul's own reader.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// One parsed line.
pub(crate) struct Entry {
    pub(crate) line: usize,
    pub(crate) json: Value,
}

impl Entry {
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.json.get(key)?.as_str()
    }

    pub(crate) fn is_sidechain(&self) -> bool {
        self.json["isSidechain"] == true
    }

    pub(crate) fn message_id(&self) -> Option<&str> {
        self.json
            .pointer("/message/id")?
            .as_str()
            .filter(|_| self.text("type") == Some("assistant"))
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Value> {
        self.json
            .pointer("/message/content")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    }

    pub(crate) fn reaches_the_model(&self) -> bool {
        matches!(self.text("type"), Some("user" | "assistant" | "attachment"))
            && self.json["isApiErrorMessage"] != true
    }
}

/// Parses every line; panics on the first that is not a JSON object.
pub(crate) fn read(bytes: &[u8]) -> Vec<Entry> {
    assert!(bytes.ends_with(b"\n"));
    bytes[..bytes.len() - 1]
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(at, line)| {
            let json: Value = serde_json::from_slice(line)
                .unwrap_or_else(|error| panic!("line {}: {error}", at + 1));
            assert!(json.is_object(), "line {}", at + 1);
            Entry { line: at + 1, json }
        })
        .collect()
}

/// Checks that uuids are unique, that every parent is on an earlier line, and that only boundaries and the first entry
/// of a thread have none.
pub(crate) fn check_chain(entries: &[Entry]) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut started: BTreeSet<Option<&str>> = BTreeSet::new();
    for entry in entries {
        let Some(uuid) = entry.text("uuid") else {
            continue;
        };
        match entry.text("parentUuid") {
            Some(parent) => assert!(
                seen.contains(parent),
                "line {} hangs on nothing",
                entry.line
            ),
            None if entry.text("subtype") == Some("compact_boundary") => {
                let before = entry.text("logicalParentUuid").unwrap_or_default();
                assert!(
                    seen.contains(before),
                    "line {} has no logical parent",
                    entry.line
                );
            }
            None => assert!(
                started.insert(entry.text("agentId")) || entries[0].line == entry.line,
                "line {} has no parent",
                entry.line
            ),
        }
        assert!(seen.insert(uuid), "line {} repeats a uuid", entry.line);
    }
}

/// Checks that every call is answered once and every result answers a call, per message; results may come in any order.
pub(crate) fn check_calls(entries: &[Entry]) {
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        for block in entry.blocks() {
            if block["type"] == "tool_use" {
                assert!(
                    open.insert(block["id"].as_str().unwrap().to_owned(), entry.line)
                        .is_none()
                );
            } else if block["type"] == "tool_result" {
                let id = block["tool_use_id"].as_str().unwrap();
                assert!(
                    open.remove(id).is_some(),
                    "line {} answers nothing",
                    entry.line
                );
            }
        }
    }
    assert!(open.is_empty(), "unanswered: {open:?}");
}

/// The lines that the model sees: the chain from the last line back to the last boundary, with kept segments in their
/// place, and with the other lines of the same messages and the results that answer them.
pub(crate) fn live(entries: &[Entry]) -> Vec<usize> {
    let by_uuid: BTreeMap<&str, usize> = entries
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| Some((entry.text("uuid")?, at)))
        .collect();
    let main_only_side = entries
        .iter()
        .all(|entry| entry.text("uuid").is_none() || entry.is_sidechain());
    let is_main = |entry: &Entry| main_only_side || !entry.is_sidechain();
    let leaf = entries.iter().rposition(|entry| {
        entry.text("uuid").is_some() && is_main(entry) && entry.text("type") != Some("progress")
    });
    // The main chain since the last boundary, newest first.
    let mut fresh = Vec::new();
    let mut at = leaf;
    let mut boundary = None;
    while let Some(here) = at {
        if entries[here].text("subtype") == Some("compact_boundary") {
            boundary = Some(here);
            break;
        }
        fresh.push(here);
        at = entries[here]
            .text("parentUuid")
            .map(|parent| by_uuid[parent]);
    }
    fresh.reverse();
    let fresh = complete(entries, &fresh, boundary.unwrap_or(0));
    let metadata = boundary.map(|at| &entries[at].json["compactMetadata"]);
    let kept = match metadata {
        Some(meta) if meta["preservedMessages"].is_object() => meta["preservedMessages"]["uuids"]
            .as_array()
            .unwrap()
            .iter()
            .map(|uuid| by_uuid[uuid.as_str().unwrap()])
            .collect(),
        Some(meta) if meta["preservedSegment"].is_object() => {
            let id = |key: &str| by_uuid[meta["preservedSegment"][key].as_str().unwrap()];
            let mut chain = vec![id("tailUuid")];
            while chain[chain.len() - 1] != id("headUuid") {
                let parent = entries[chain[chain.len() - 1]]
                    .text("parentUuid")
                    .expect("the segment is a chain");
                chain.push(by_uuid[parent]);
            }
            chain.reverse();
            complete(entries, &chain, id("headUuid"))
        }
        _ => Vec::new(),
    };
    let anchor = metadata.and_then(|meta| {
        let anchor = meta.pointer("/preservedSegment/anchorUuid")?.as_str()?;
        fresh
            .iter()
            .position(|at| entries[*at].text("uuid") == Some(anchor))
    });
    let place = anchor.map_or(0, |at| at + 1);
    let mut order = fresh;
    order.splice(place..place, kept);
    order
        .into_iter()
        .filter(|at| entries[*at].reaches_the_model())
        .map(|at| entries[at].line)
        .collect()
}

/// Adds lines that share a message id with the chain and the results of their calls, in file order.
fn complete(entries: &[Entry], chain: &[usize], from: usize) -> Vec<usize> {
    let ids: BTreeSet<&str> = chain
        .iter()
        .filter_map(|at| entries[*at].message_id())
        .collect();
    let mut all: BTreeSet<usize> = chain.iter().copied().collect();
    let mut calls: BTreeSet<&str> = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate().skip(from) {
        if entry.message_id().is_some_and(|id| ids.contains(id)) {
            all.insert(at);
            calls.extend(entry.blocks().filter_map(|block| block["id"].as_str()));
        }
        if entry.blocks().any(|block| {
            block["tool_use_id"]
                .as_str()
                .is_some_and(|id| calls.contains(id))
        }) {
            all.insert(at);
        }
    }
    all.into_iter().collect()
}
