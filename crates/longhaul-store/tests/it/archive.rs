//! Cleared and summarized content is found again.

mod crash;
mod following;
mod lookup;
mod tool;
mod writer;

use std::ops::ControlFlow;
use std::path::Path;

use bytes::Bytes;
use longhaul_core::message::Entry;
use longhaul_store::archive::{
    Archive, ArchiveItem, IndexingProgress, ItemReader, SearchHit, SearchScope, ViewPresence,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// An archive in a folder of its own.
fn archive() -> (TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(&folder.path().join("archive.db")).unwrap();
    (folder, archive)
}

fn entry(value: &Value) -> Entry {
    Entry::read(Bytes::from(value.to_string())).unwrap()
}

/// A tool call, written in the given minute of an hour.
fn call(id: &str, tool: &str, input: Value, minute: u32) -> Entry {
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
    entry(
        &json!({"type": "assistant", "uuid": format!("call-{id}"), "sessionId": "s",
        "timestamp": format!("2026-02-12T16:{minute:02}:00.000Z"),
        "message": {"role": "assistant", "content": [block]}}),
    )
}

/// The result of a call, written a minute later.
fn result(id: &str, content: impl Into<Value>, minute: u32) -> Entry {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": content.into()});
    entry(
        &json!({"type": "user", "uuid": format!("result-{id}"), "sessionId": "s",
        "timestamp": format!("2026-02-12T16:{:02}:00.000Z", minute + 1),
        "message": {"role": "user", "content": [block]}}),
    )
}

/// A message of the user.
fn message(uuid: &str, text: &str) -> Entry {
    entry(&json!({"type": "user", "uuid": uuid, "sessionId": "s",
        "timestamp": "2026-02-12T16:00:00.000Z", "message": {"role": "user", "content": text}}))
}

fn items(entries: &[Entry], presence: ViewPresence) -> Vec<ArchiveItem> {
    let mut reader = ItemReader::default();
    let items = entries
        .iter()
        .flat_map(|entry| reader.items(entry.view(), presence));
    items.collect()
}

/// Puts all parts of entries as summarized.
fn put(archive: &mut Archive, entries: &[Entry]) {
    archive
        .put(&items(entries, ViewPresence::Summarized))
        .unwrap();
}

fn search(archive: &Archive, words: &str) -> Vec<SearchHit> {
    let found = archive.search(words, SearchScope::Everything, 10).unwrap();
    found.hits
}

/// The uuids of the entries that a search finds, the best first.
fn finds(archive: &Archive, words: &str) -> Vec<String> {
    let hits = search(archive, words);
    hits.into_iter().map(|hit| hit.record.uuid).collect()
}

fn go_on(_: IndexingProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// An archive next to a transcript, brought up to date with it.
fn indexed(transcript: &Path) -> Archive {
    let mut archive = Archive::open(&transcript.with_extension("db")).unwrap();
    archive.index(transcript, go_on).unwrap();
    archive
}
