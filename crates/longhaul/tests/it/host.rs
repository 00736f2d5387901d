//! A minimal host: it keeps a transcript and sends requests, persisting first.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use longhaul_core::message::Entry;
use longhaul_core::models::{ModelSpec, ModelTable, ThinkingBinding};
use longhaul_core::prompt::{
    AssembledRequest, LatchedSettings, NewEntryStamp, OnPrefixMismatch, PrefixReason,
    PrefixValidity, PriorRendering, PushOutcome, RenderingStart, RequestAssembly, RequestKind,
    RequestNotReady, RequestParameters, RequestPrefix, ThinkingChoice, Ttl,
};
use longhaul_store::{Durability, TranscriptWriter, resume};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Raw JSON.
pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

/// The known facts about a model.
pub(crate) fn spec(model: &str) -> std::sync::Arc<ModelSpec> {
    ModelTable::builtin().resolve(model).spec
}

/// A text block that may have a cache breakpoint.
pub(crate) fn text(text: &str, ttl: Option<Ttl>) -> Value {
    let mut block = json!({"type": "text", "text": text});
    if let Some(ttl) = ttl {
        block["cache_control"] = serde_json::from_str(ttl.marker()).unwrap();
    }
    block
}

/// A request prefix with a static and a dynamic part.
pub(crate) fn head(model: &str, ttl: Option<Ttl>, purpose: &str) -> RequestPrefix {
    let spec = spec(model);
    let body = RequestParameters {
        model,
        spec: &spec,
        max_tokens: 16_000,
        think: ThinkingChoice::On { budget: 4_000 },
        on_mismatch: OnPrefixMismatch::Refuse,
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
    RequestPrefix {
        system: raw(&json!([text(&manual, ttl), text(&dynamic, ttl)])),
        tools: raw(&json!([tool("Bash"), tool("Read"), tool("Task")])),
        user_context: Some("<system-reminder>\nThe date is \"today\".\n</system-reminder>".into()),
        latched: LatchedSettings::new(ttl, body.betas, &spec, body.json),
    }
}

/// A conversation in a file, and its requests.
pub(crate) struct Host {
    pub(crate) path: PathBuf,
    writer: TranscriptWriter,
    pub(crate) assembly: Option<RequestAssembly>,
    head: RequestPrefix,
    binding: ThinkingBinding,
    /// Offsets of the live view that the assembly represents.
    view: Vec<u64>,
    /// The uuid of the newest entry.
    pub(crate) newest: Option<String>,
    next: u64,
    name: String,
}

impl Host {
    pub(crate) fn new(
        path: &Path,
        name: &str,
        head: RequestPrefix,
        binding: ThinkingBinding,
    ) -> Self {
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

    /// Appends a line of the conversation and adds it to the assembly.
    pub(crate) fn append(&mut self, line: &str) {
        let _ = self.writer.append(line.as_bytes()).unwrap();
        self.take_in(line);
    }

    /// Another program appends a line; it is added as soon as it is seen.
    pub(crate) fn foreign(&mut self, line: &str) {
        use std::io::Write as _;
        let file = std::fs::File::options().append(true).open(&self.path);
        writeln!(file.unwrap(), "{line}").unwrap();
        self.take_in(line);
    }

    /// Adds a line that is in the file.
    fn take_in(&mut self, line: &str) {
        let entry = Entry::read(Bytes::copy_from_slice(line.as_bytes())).unwrap();
        if entry.view().uuid().is_some() && !entry.facets().flags.sidechain {
            self.newest = Some(entry.view().text(entry.facets().uuid).into_owned());
        }
        if self.assembly.is_none() {
            return;
        }
        // A real host knows whether the view only grew; this one finds out.
        let resumed = resume(&self.path).unwrap();
        if resumed.offsets == self.view {
            return;
        }
        let grew = resumed.offsets.split_last().is_some_and(|(last, before)| {
            *before == self.view[..] && *last > self.view.last().copied().unwrap_or_default()
        });
        self.view = resumed.offsets;
        let assembly = self.assembly.as_mut().unwrap();
        if !grew || assembly.push(resumed.entries.last().unwrap().view()) != PushOutcome::Pushed {
            self.anew(PrefixReason::Rewound);
        }
    }

    /// Adds an entry without asking the file how the view changed: it is known to have grown.
    pub(crate) fn add(&mut self, line: &str) {
        let _ = self.writer.append(line.as_bytes()).unwrap();
        let entry = Entry::read(Bytes::copy_from_slice(line.as_bytes())).unwrap();
        self.newest = Some(entry.view().text(entry.facets().uuid).into_owned());
        self.view.clear();
        let taken = self
            .assembly
            .as_mut()
            .map(|assembly| assembly.push(entry.view()));
        assert_eq!(taken, Some(PushOutcome::Pushed));
    }

    /// Continues with another request prefix.
    pub(crate) fn with_head(
        &mut self,
        head: RequestPrefix,
        binding: ThinkingBinding,
        reason: PrefixReason,
    ) {
        self.head = head;
        self.binding = binding;
        self.anew(reason);
    }

    /// Begins a rendering of the view as it is.
    pub(crate) fn anew(&mut self, reason: PrefixReason) {
        let resumed = resume(&self.path).unwrap();
        let before = match (&self.assembly, &resumed.request_prefix) {
            (Some(assembly), _) => assembly.as_predecessor(),
            (None, _) => PriorRendering::None,
        };
        let beginning = RenderingStart {
            before,
            head: self.head.clone(),
            reason,
            binding: self.binding,
        };
        let views = resumed.entries.iter().map(Entry::view);
        self.assembly = Some(RequestAssembly::begin(beginning, views));
        self.view = resumed.offsets;
        self.persist_head();
    }

    fn persist_head(&mut self) {
        let uuid = self.uuid();
        let assembly = self.assembly.as_mut().unwrap();
        let entries = assembly.entries_before_request(birth(&uuid, self.newest.as_deref()));
        let entries = entries.unwrap();
        let head = &entries[..1];
        let _ = self.writer.append_all(head).unwrap();
        assembly.persisted(head).unwrap();
    }

    /// The next request, after writing what must be on disk before it.
    pub(crate) fn request(
        &mut self,
        kind: RequestKind<'_>,
    ) -> Result<AssembledRequest, RequestNotReady> {
        if self.assembly.is_none() {
            self.anew(PrefixReason::First);
        }
        self.assembly.as_mut().unwrap().request(kind, None)
    }

    /// Answers open calls with the core's synthetic results.
    pub(crate) fn answer_open_calls(&mut self) {
        let uuid = self.uuid();
        let assembly = self.assembly.as_mut().unwrap();
        let entries = assembly.entries_before_request(birth(&uuid, self.newest.as_deref()));
        for line in entries.unwrap() {
            let line = std::str::from_utf8(&line).unwrap().to_owned();
            self.append(&line);
        }
    }

    /// The next request as another process makes it, from the file alone.
    pub(crate) fn elsewhere(
        &self,
        kind: RequestKind<'_>,
    ) -> Result<AssembledRequest, RequestNotReady> {
        let resumed = resume(&self.path).unwrap();
        let replay = resumed.replay().unwrap().unwrap();
        assert_eq!(replay.standing, PrefixValidity::Goes);
        resumed.assembly().unwrap().request(kind, None)
    }

    /// How many entries came one by one since the rendering began.
    pub(crate) fn came_one_by_one(&self) -> usize {
        let resumed = resume(&self.path).unwrap();
        resumed.replay().unwrap().unwrap().pushed.len()
    }
}

fn birth<'a>(uuid: &'a str, parent: Option<&'a str>) -> NewEntryStamp<'a> {
    NewEntryStamp {
        session_id: "s",
        uuid,
        parent,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    }
}
