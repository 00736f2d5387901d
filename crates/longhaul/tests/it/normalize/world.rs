//! A rendering as a request, and the offline world's answer to it.

use std::sync::{Arc, LazyLock};

use longhaul_core::message::Entry;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::normalize::{RenderOptions, Rendering};
use longhaul_sim::call::{ApiCall, ApiError};
use longhaul_sim::request::{Endpoint, MessagesRequest};
use longhaul_sim::thinking::{AccountAge, SigningSecret, ThinkingPrefix, check};
use longhaul_sim::validate::validate;
use serde_json::{Value, json};

/// The betas that block types need.
pub(crate) const BETAS: [&str; 5] = [
    "compact-2026-01-12",
    "compact-2026-09-04",
    "mcp-client-2025-11-20",
    "advisor-tool-2026-03-01",
    "server-side-fallback-2026-07-01",
];

/// The beta of cache edits.
pub(crate) const EDITS: &str = "longhaul-cache-edits-2026-11-15";

pub(crate) static SECRET: LazyLock<SigningSecret> = LazyLock::new(|| SigningSecret::from_seed(11));

/// Who is asked, and how.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) spec: Arc<ModelSpec>,
    pub(crate) call: ApiCall,
}

impl World {
    pub(crate) fn new(model: &str, version: &str, betas: &[String]) -> Self {
        Self {
            spec: ModelTable::builtin().resolve(model).spec,
            call: ApiCall {
                key: "key".into(),
                version: version.into(),
                betas: betas.iter().cloned().collect(),
                ..ApiCall::default()
            },
        }
    }

    /// A request with these messages, which end with a user message.
    pub(crate) fn body(&self, messages: &str) -> String {
        let head = json!({
            "model": self.spec.id,
            "max_tokens": 1000,
            "system": "Be brief.",
            "tools": [{"name": "Read", "input_schema": {"type": "object"}}, {"name": "known", "input_schema": {"type": "object"}}],
        });
        let head = head.to_string();
        format!(
            r#"{},"messages":[{messages}]}}"#,
            head.strip_suffix('}').unwrap()
        )
    }

    /// Reads and checks a request, thinking included.
    pub(crate) fn admit(
        &self,
        messages: &str,
    ) -> Result<(MessagesRequest, ThinkingPrefix), ApiError> {
        let body = self.body(messages);
        let call = &self.call;
        let request = MessagesRequest::read(
            body.as_bytes(),
            Endpoint::Messages,
            &call.betas,
            &call.version,
        )?;
        validate(&request, &self.spec, call)?;
        let admitted = check(&request, &self.spec, call, &SECRET, AccountAge::New)?;
        assert_eq!(admitted.transformations, [], "nothing is dropped silently");
        Ok((request, admitted.prefix))
    }
}

/// The sealed messages, the last one closed.
pub(crate) fn messages(rendering: &Rendering) -> String {
    let buffer = rendering.buffer();
    let mut bytes = buffer.copy(0, buffer.len());
    bytes.extend_from_slice(rendering.closing());
    String::from_utf8(bytes).unwrap()
}

/// The sealed messages as a host would send them: it never ends with the model's words.
pub(crate) fn sendable(rendering: &Rendering) -> String {
    let messages = messages(rendering);
    match rendering.ends_with_user() {
        true => messages,
        false if messages.is_empty() => r#"{"role":"user","content":"Go on."}"#.into(),
        false => format!(r#"{messages},{{"role":"user","content":"Go on."}}"#),
    }
}

pub(crate) fn entry(line: impl ToString) -> Entry {
    Entry::read(line.to_string().into_bytes().into()).unwrap()
}

/// A history rendered whole and sealed, as JSON.
pub(crate) fn rendered(options: RenderOptions, lines: &[Value]) -> Value {
    let entries: Vec<Entry> = lines.iter().map(entry).collect();
    let mut rendering = Rendering::begin(options, entries.iter().map(Entry::view));
    rendering.seal();
    parsed(&rendering)
}

/// The sealed messages as JSON.
pub(crate) fn parsed(rendering: &Rendering) -> Value {
    serde_json::from_str(&format!("[{}]", messages(rendering))).unwrap()
}

/// A signature that fits this text anywhere, on a model that does not bind thinking to its prefix.
pub(crate) fn signed(text: &str) -> String {
    static START: LazyLock<ThinkingPrefix> = LazyLock::new(|| {
        let body = br#"{"model":"claude-3-haiku","max_tokens":1,"messages":[{"role":"user","content":"x"}]}"#;
        let none = std::collections::BTreeSet::new();
        let request = MessagesRequest::read(body, Endpoint::Messages, &none, "2023-06-01").unwrap();
        ThinkingPrefix::start(&request)
    });
    SECRET.sign(&START, "claude-3-haiku", "key", text)
}
