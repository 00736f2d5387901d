//! `longhaul compact`, checked by reading its files again.

mod corpora;
mod endings;
mod kept;
mod odd;
mod others_words;
mod places;
mod preview;
mod provider;
mod undo;

use std::path::Path;
use std::sync::Arc;

use longhaul_core::facts::{Facts, Vocabulary, session_rows, visible_texts};
use longhaul_core::message::{Entry, EntryKind};
use longhaul_core::models::ModelTable;
use longhaul_core::normalize::{RenderOptions, Rendering};
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use longhaul_sim::call::ApiCall;
use longhaul_sim::request::{Endpoint, MessagesRequest};
use longhaul_sim::thinking::{AccountAge, SigningSecret, check};
use longhaul_sim::validate::validate;
use longhaul_store::load;
use serde_json::{Value, json};

use crate::support::{Run, World};

/// A transcript as a reader finds it.
pub(crate) struct Found {
    /// The live view, in order.
    pub(crate) view: Vec<Entry>,
    /// Its padded estimate.
    pub(crate) size: u64,
    pub(crate) problems: usize,
    pub(crate) facts: Facts,
}

impl Found {
    pub(crate) fn at(path: &Path) -> Self {
        let loaded = load(path).unwrap();
        let mut table = TranscriptTable::default();
        let mut entries = Vec::new();
        for line in loaded.lines() {
            if let Some(entry) = line.entry() {
                table.push(line.number, line.offset, entry.view());
                entries.push(entry.clone());
            }
        }
        let mut problems = Vec::new();
        let conversation = ResolvedConversation::resolve(&table, &mut problems);
        let rows = session_rows(&table, &conversation);
        let session = rows.iter().map(|row| entries[*row as usize].view());
        Self {
            facts: Facts::scan(Arc::new(Vocabulary::default()), session),
            size: conversation.ledger(&table).whole().padded(),
            problems: problems.len() + loaded.damaged().count(),
            view: (conversation.view().rows.iter())
                .map(|row| entries[*row as usize].clone())
                .collect(),
        }
    }

    /// What the model sees of what people said, in one text.
    pub(crate) fn said(&self) -> String {
        let users = self
            .view
            .iter()
            .filter(|entry| matches!(entry.facets().kind, EntryKind::User | EntryKind::Attachment));
        let texts = users.flat_map(|entry| visible_texts(entry.view()));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The uuids of what the model sees, in order.
    pub(crate) fn sent(&self) -> Vec<String> {
        let sent = self.view.iter().filter(|entry| match entry.facets().kind {
            EntryKind::User => true,
            EntryKind::Assistant => entry.facets().is_reply(),
            EntryKind::Attachment => entry.view().visible_attachment().is_some(),
            _ => false,
        });
        let uuid = |entry: &Entry| entry.view().text(entry.facets().uuid).into_owned();
        sent.map(uuid).collect()
    }

    /// Checks that the provider accepts it, with its thinking left out, since foreign signatures cannot be checked
    /// here.
    #[track_caller]
    pub(crate) fn is_accepted(&self, name: &str) {
        let last = self.view.iter().rev().find_map(|entry| entry.view().uuid());
        let options = RenderOptions {
            thinking_stripped_through: last,
            most_images: 100,
            ..RenderOptions::default()
        };
        let mut rendering = Rendering::begin(options, self.view.iter().map(Entry::view));
        rendering.seal();
        let buffer = rendering.buffer();
        let mut bytes = buffer.copy(0, buffer.len());
        bytes.extend_from_slice(rendering.closing());
        if !rendering.ends_with_user() {
            bytes.extend_from_slice(br#",{"role":"user","content":"Go on."}"#);
        }
        let messages = String::from_utf8(bytes).unwrap();
        let spec = ModelTable::builtin().resolve("claude-opus-4-8").spec;
        let body =
            format!(r#"{{"model":"claude-opus-4-8","max_tokens":1000,"messages":[{messages}]}}"#);
        let call = ApiCall {
            key: "key".into(),
            version: "2026-10-21".into(),
            ..ApiCall::default()
        };
        let request = MessagesRequest::read(
            body.as_bytes(),
            Endpoint::Messages,
            &call.betas,
            &call.version,
        );
        let request = request.unwrap_or_else(|error| panic!("{name}: {}", error.message));
        validate(&request, &spec, &call)
            .unwrap_or_else(|error| panic!("{name}: {}", error.message));
        check(
            &request,
            &spec,
            &call,
            &SigningSecret::from_seed(11),
            AccountAge::New,
        )
        .unwrap_or_else(|error| panic!("{name}: {}", error.message));
    }
}

/// What must hold for every compaction: all old bytes are there, the view is smaller by the reported size, it is
/// accepted, the file has no new problems, and no message of the user is missing without being reported.
#[track_caller]
pub(crate) fn holds(name: &str, before: &Path, after: &Path, told: &Value) {
    let (old, new) = (
        std::fs::read(before).unwrap(),
        std::fs::read(after).unwrap(),
    );
    assert!(new.starts_with(&old) && new.len() > old.len(), "{name}");
    assert!(new.ends_with(b"\n"), "{name}");
    let (old, new) = (Found::at(before), Found::at(after));
    assert_eq!(told["before"], json!(old.size), "{name}");
    assert_eq!(told["after"], json!(new.size), "{name}");
    assert!(new.size < old.size, "{name}: {} → {}", old.size, new.size);
    assert_eq!(new.problems, old.problems, "{name}");
    new.is_accepted(name);
    let messages = old.facts.messages();
    let report = &told["report"]["user_messages"];
    let number = |field: &str| report[field].as_u64().unwrap();
    assert_eq!(number("total"), messages.len() as u64, "{name}");
    // A model may format the user's lines differently, extracts may not.
    let set = |text: &str| {
        if told["summariser"] == "local" {
            text.trim().to_owned()
        } else {
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    };
    let said = set(&new.said());
    let whole = messages.iter().filter(|message| message.cut.is_none());
    let there = whole.filter(|message| said.contains(&set(&message.text)));
    let there = there.count() as u64;
    assert!(there >= number("verbatim"), "{name}: {there} of {report}");
    assert_eq!(
        number("verbatim") + number("shortened") + number("omitted"),
        number("total"),
        "{name}"
    );
    // The next compaction needs no earlier bytes.
    assert_eq!(new.facts.messages().len(), messages.len(), "{name}");
}

/// Compacts a file into `out.jsonl`, replacing what is there.
pub(crate) fn compact(world: &World, file: &Path, more: &[&str]) -> Run {
    use crate::support::Finish;
    let mut command = world.longhaul(["compact", "--json", "--force", "--output", "out.jsonl"]);
    command.arg(file).args(more).finish()
}

/// A file of lines.
pub(crate) fn lines(entries: &[Value]) -> Vec<u8> {
    let lines = entries.iter().map(|entry| format!("{entry}\n"));
    lines.collect::<String>().into_bytes()
}

/// An entry of a made-up conversation.
pub(crate) fn entry(index: usize, kind: &str, content: Value) -> Value {
    let id = |index: usize| format!("{index:08x}-0000-4000-8000-000000000000");
    let mut entry = json!({
        "type": kind,
        "uuid": id(index),
        "parentUuid": index.checked_sub(1).map(id),
        "sessionId": "11111111-0000-4000-8000-000000000000",
        "cwd": "/no/such/folder",
        "timestamp": format!("2026-02-12T{:02}:{:02}:{:02}.000Z", index / 3600 % 24, index / 60 % 60, index % 60),
        "message": {"role": kind, "content": content},
    });
    if kind == "assistant" {
        entry["message"]["id"] = json!(format!("msg_{index}"));
        entry["message"]["model"] = json!("claude-opus-4-8");
        entry["message"]["usage"] = json!({"input_tokens": 10, "output_tokens": 5});
    }
    entry
}

/// A plain conversation of this many turns.
pub(crate) fn talk(turns: usize, words: usize) -> Vec<Value> {
    talk_from(0, turns, words)
}

/// A plain conversation of this many turns that follows as many entries.
pub(crate) fn talk_from(start: usize, turns: usize, words: usize) -> Vec<Value> {
    let said = |index: usize| {
        let text = format!("Turn {index}: look at part {index} of the machine. ");
        json!(text + &"and say what it does ".repeat(words))
    };
    let kind = |index: usize| ["user", "assistant"][index % 2];
    (start..start + turns * 2)
        .map(|index| entry(index, kind(index), said(index)))
        .collect()
}
