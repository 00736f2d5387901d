//! A host as small as can be: it keeps a transcript and sends requests, persisting first.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use longhaul_core::message::{Entry, Id};
use longhaul_core::models::{Binding, ModelSpec, ModelTable};
use longhaul_core::prompt::{
    Assembled, Assembly, Beginning, Birth, HeadReason, Latched, NotReady, OnMismatch, Parameters,
    Predecessor, RequestHead, RequestKind, Standing, Taken, Think, Ttl,
};
use longhaul_store::{Durability, TranscriptWriter, resume};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// JSON as it stands.
pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

/// What is known of a model.
pub(crate) fn spec(model: &str) -> std::sync::Arc<ModelSpec> {
    ModelTable::builtin().resolve(model).spec
}

/// A text block that may bear a marker.
pub(crate) fn text(text: &str, ttl: Option<Ttl>) -> Value {
    let mut block = json!({"type": "text", "text": text});
    if let Some(ttl) = ttl {
        block["cache_control"] = serde_json::from_str(ttl.marker()).unwrap();
    }
    block
}

/// A head with a static and a dynamic part.
pub(crate) fn head(model: &str, ttl: Option<Ttl>, purpose: &str) -> RequestHead {
    let spec = spec(model);
    let body = Parameters {
        model,
        spec: &spec,
        max_tokens: 16_000,
        think: Think::On { budget: 4_000 },
        on_mismatch: OnMismatch::Refuse,
        effort: None,
        more: Map::from_iter([("metadata".to_owned(), json!({"user_id": "u"}))]),
    };
    let body = body.to_body().unwrap();
    let manual =
        format!("You work on a code base: {purpose}. Look before you change. ").repeat(150);
    let dynamic = "Environment: a folder with a few hundred files, Linux, main branch. ".repeat(60);
    let tool = |name: &str| {
        let what = format!("{name}: works on a file of the project. ").repeat(12);
        json!({
            "name": name,
            "description": what,
            "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
        })
    };
    RequestHead {
        system: raw(&json!([text(&manual, ttl), text(&dynamic, ttl)])),
        tools: raw(&json!([tool("Bash"), tool("Read"), tool("Task")])),
        user_context: Some("<system-reminder>\nThe date is \"today\".\n</system-reminder>".into()),
        latched: Latched::new(ttl, body.betas, &spec, body.json),
    }
}

/// A conversation in a file, and its requests.
pub(crate) struct Host {
    pub(crate) path: PathBuf,
    writer: TranscriptWriter,
    pub(crate) assembly: Option<Assembly>,
    head: RequestHead,
    binding: Binding,
    /// Offsets of the live view that the assembly stands for.
    view: Vec<u64>,
    /// The uuid of the newest entry.
    pub(crate) newest: Option<String>,
    next: u64,
    name: String,
}

impl Host {
    pub(crate) fn new(path: &Path, name: &str, head: RequestHead, binding: Binding) -> Self {
        Self {
            path: path.to_owned(),
            writer: TranscriptWriter::open(path, Durability::OnClose).unwrap(),
            assembly: None,
            head,
            binding,
            view: Vec::new(),
            newest: None,
            next: 0,
            name: name.to_owned(),
        }
    }

    /// A uuid that no entry has.
    pub(crate) fn uuid(&mut self) -> String {
        self.next += 1;
        format!("{}-{}", self.name, self.next)
    }

    /// Appends a line of the conversation and takes it in.
    pub(crate) fn append(&mut self, line: &str) {
        let _ = self.writer.append(line.as_bytes()).unwrap();
        self.take_in(line);
    }

    /// Takes in a line that is in the file.
    fn take_in(&mut self, line: &str) {
        let entry = Entry::read(Bytes::copy_from_slice(line.as_bytes())).unwrap();
        if entry.view().uuid().is_some() && !entry.facets().flags.sidechain {
            self.newest = Some(entry.view().text(entry.facets().uuid).into_owned());
        }
        if self.assembly.is_none() {
            return;
        }
        // What a host knows about its own entries this one finds out: whether the view only grew.
        let resumed = resume(&self.path).unwrap();
        if resumed.offsets == self.view {
            return;
        }
        let grew = resumed.offsets.split_last().is_some_and(|(last, before)| {
            *before == self.view[..] && *last > self.view.last().copied().unwrap_or_default()
        });
        self.view = resumed.offsets;
        let assembly = self.assembly.as_mut().unwrap();
        if !grew || assembly.push(resumed.entries.last().unwrap().view()) != Taken::Pushed {
            self.anew(HeadReason::Rewound);
        }
    }

    /// Begins a rendering of the view as it is.
    pub(crate) fn anew(&mut self, reason: HeadReason) {
        let resumed = resume(&self.path).unwrap();
        let cleared = cleared(&resumed.entries);
        let before = match (&self.assembly, &resumed.head) {
            (Some(assembly), _) => assembly.as_predecessor(),
            (None, _) => Predecessor::None,
        };
        let beginning = Beginning {
            before,
            head: self.head.clone(),
            reason,
            binding: self.binding,
            cleared,
        };
        let views = resumed.entries.iter().map(Entry::view);
        self.assembly = Some(Assembly::begin(beginning, views));
        self.view = resumed.offsets;
        self.persist_head();
    }

    fn persist_head(&mut self) {
        let uuid = self.uuid();
        let assembly = self.assembly.as_mut().unwrap();
        let entries = assembly.before_sending(birth(&uuid, self.newest.as_deref()));
        let entries = entries.unwrap();
        let head = &entries[..1];
        let _ = self.writer.append_all(head).unwrap();
        assembly.persisted(head).unwrap();
    }

    /// The next request, with what must be on disk before it on disk.
    pub(crate) fn request(&mut self, kind: RequestKind<'_>) -> Result<Assembled, NotReady> {
        if self.assembly.is_none() {
            self.anew(HeadReason::First);
        }
        self.assembly.as_mut().unwrap().request(kind, None)
    }

    /// Answers open calls by what the core gives for that.
    pub(crate) fn answer_open_calls(&mut self) {
        let uuid = self.uuid();
        let assembly = self.assembly.as_mut().unwrap();
        let entries = assembly.before_sending(birth(&uuid, self.newest.as_deref()));
        for line in entries.unwrap() {
            let line = std::str::from_utf8(&line).unwrap().to_owned();
            self.append(&line);
        }
    }

    /// The same request made by another process, from the file alone.
    pub(crate) fn elsewhere(&self, kind: RequestKind<'_>) -> Result<Assembled, NotReady> {
        let resumed = resume(&self.path).unwrap();
        let replay = resumed.replay().unwrap().unwrap();
        assert_eq!(replay.standing, Standing::Goes);
        resumed.assembly().unwrap().request(kind, None)
    }
}

fn birth<'a>(uuid: &'a str, parent: Option<&'a str>) -> Birth<'a> {
    Birth {
        session_id: "s",
        uuid,
        parent,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    }
}

/// What the clearings in a view cleared.
fn cleared(entries: &[Entry]) -> Vec<Id> {
    let of = |entry: &Entry| {
        let metadata = entry.view().object(entry.facets().metadata);
        let ids = metadata.strings("compactedToolIds").unwrap_or_default();
        ids.iter().map(|id| Id::of(id)).collect::<Vec<_>>()
    };
    entries
        .iter()
        .filter(|entry| entry.facets().metadata.is_present())
        .flat_map(of)
        .collect()
}
