//! Reads a request's fingerprint from its body, whoever wrote it.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use super::breakpoint::CacheBreakpoint;
use super::canonical::{self, end_of_string};
use super::fields::{JsonFields, items};
use super::fingerprint::{
    FingerprintMessages, HostModes, PrefixFingerprint, RequestFingerprint, SystemPart, ToolPart,
    ToolPlacement,
};
use super::messages;
use crate::json::{JsonCursor, JsonFault, text};

/// Fields that do not change the prompt: they say how a reply is made, counted or delivered.
const WITHOUT_EFFECT: [&str; 12] = [
    "diagnostics",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "service_tier",
    "stop_sequences",
    "stream",
    "temperature",
    "thread",
    "top_k",
    "top_p",
];
/// Betas that no longer change a prompt, or never did.
const BETAS_WITHOUT_EFFECT: [&str; 4] = [
    "prompt-caching-2024-07-31",
    "extended-cache-ttl-2025-04-11",
    "cache-diagnosis-2026-04-07",
    "message-threads-2026-08-12",
];
/// The beginning of a system block that some clients send for the provider's billing; the model does not see it.
const BILLING: &str = "x-anthropic-billing-header";

/// Why a body has no fingerprint: the API would refuse it, too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The body is not UTF-8.
    #[error("the request is not UTF-8")]
    NotUtf8,
    /// The body is not JSON, or does not have the shape of a request.
    #[error("the request is not one of the Messages API: {0}")]
    Malformed(String),
}

impl From<JsonFault> for BodyError {
    fn from(fault: JsonFault) -> Self {
        Self::Malformed(fault.to_string())
    }
}

impl RequestFingerprint<'_> {
    /// Takes the fingerprint of a request body. It shares the body's memory.
    ///
    /// # Errors
    /// Fails if the body is not UTF-8, or not a request of the Messages API.
    pub fn of_body<'b>(
        source: impl Into<String>,
        started: Timestamp,
        body: &Bytes,
        betas: impl IntoIterator<Item = &'b str>,
    ) -> Result<RequestFingerprint<'static>, BodyError> {
        checked(body)?;
        let fields = JsonFields::of(body)?;
        let mut head = PrefixFingerprint::empty(betas);
        for (name, value) in &fields.0 {
            head.take(name, body.slice_ref(value))?;
        }
        let (positions, mut marks) = match fields.get("messages") {
            Some(list) => messages::read(body, list)?,
            None => Default::default(),
        };
        if let (Some(mark), Some(last)) = (&head.automatic, positions.len().checked_sub(1)) {
            marks.retain(|(at, _)| *at != last);
            marks.push((last, mark.clone()));
        }
        Ok(RequestFingerprint {
            source: source.into(),
            started,
            prefix: Arc::new(head),
            flags: Arc::new(HostModes::new()),
            messages: FingerprintMessages::Read(positions),
            breakpoints: marks,
            prefix_replacement: None,
        })
    }

    /// Adds the host's modes.
    pub fn with_flags(mut self, flags: Arc<HostModes>) -> Self {
        self.flags = flags;
        self
    }
}

impl PrefixFingerprint {
    /// Takes the fingerprint of a request prefix from its parts as they are sent: `system` and `tools` are JSON values,
    /// `settings` is an object with all other fields of the body. It is taken once, when these are latched.
    ///
    /// # Errors
    /// Fails if a part is not UTF-8, or does not have the shape that a request has there.
    pub fn of_parts<'b>(
        system: &Bytes,
        tools: &Bytes,
        settings: &Bytes,
        betas: impl IntoIterator<Item = &'b str>,
    ) -> Result<Self, BodyError> {
        for part in [system, tools, settings] {
            if !part.is_empty() {
                checked(part)?;
            }
        }
        let mut head = Self::empty(betas);
        head.take(b"system", system.clone())?;
        head.take(b"tools", tools.clone())?;
        for (name, value) in &JsonFields::of(settings)?.0 {
            head.take(name, settings.slice_ref(value))?;
        }
        Ok(head)
    }

    fn empty<'b>(betas: impl IntoIterator<Item = &'b str>) -> Self {
        let counts = |beta: &&str| !BETAS_WITHOUT_EFFECT.contains(beta);
        Self {
            betas: (betas.into_iter().filter(counts))
                .map(str::to_owned)
                .collect::<BTreeSet<_>>(),
            tool_choice: "auto".to_owned(),
            ..Self::default()
        }
    }

    /// Reads one field of the body.
    fn take(&mut self, name: &[u8], value: Bytes) -> Result<(), BodyError> {
        if value.is_empty() || *value == *b"null" {
            return Ok(());
        }
        let name = String::from_utf8_lossy(name);
        match &*name {
            "model" => self.model = text(&value).unwrap_or_default().into_owned(),
            "system" => self.system = system(&value)?,
            "tools" => self.tools = tools(&value)?,
            "speed" => self.speed = text(&value).map(Into::into),
            "tool_choice" => self.tool_choice = tool_choice(&value)?,
            "thinking" => self.thinking = Some(thinking(&value)?),
            "output_format" => self.format = Some(compact(&value)),
            "cache_control" => self.automatic = CacheBreakpoint::read(&value),
            "output_config" => self.output_config(&value)?,
            name if WITHOUT_EFFECT.contains(&name) => {}
            name => {
                self.extra.insert(name.to_owned(), compact(&value));
            }
        }
        Ok(())
    }

    fn output_config(&mut self, value: &[u8]) -> Result<(), JsonFault> {
        for (name, value) in &JsonFields::of(value)?.0 {
            match &**name {
                _ if *value == b"null" => {}
                b"effort" => self.effort = text(value).map(Into::into),
                b"format" => self.format = Some(compact(value)),
                other => {
                    let name = format!("output_config.{}", String::from_utf8_lossy(other));
                    self.extra.insert(name, compact(value));
                }
            }
        }
        Ok(())
    }
}

fn checked(bytes: &[u8]) -> Result<(), BodyError> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| BodyError::NotUtf8)?;
    let mut cursor = JsonCursor::new(bytes);
    cursor.skip()?;
    Ok(cursor.end()?)
}

fn system(value: &Bytes) -> Result<Vec<SystemPart>, JsonFault> {
    let blocks = match value.first() {
        Some(b'[') => items(value)?,
        _ => vec![&value[..]],
    };
    let parts = blocks.into_iter().map(|block| {
        let fields = JsonFields::of(block).ok();
        let mark = fields.and_then(|fields| CacheBreakpoint::read(fields.get("cache_control")?));
        let mut part = SystemPart {
            hash: canonical::block(block),
            chars: 0,
            mark,
            bytes: value.slice_ref(block),
            sections: Vec::new(),
        };
        let text = part.text();
        part.chars = text.chars().count();
        (!text.starts_with(BILLING)).then_some(part)
    });
    Ok(parts.flatten().collect())
}

fn tools(value: &Bytes) -> Result<Vec<ToolPart>, JsonFault> {
    let tools = items(value)?.into_iter().map(|tool| {
        let fields = JsonFields::of(tool)?;
        let kind = fields.string("type").unwrap_or_default();
        Ok(ToolPart {
            name: fields.string("name").unwrap_or_default().into_owned(),
            hash: canonical::tool(tool),
            place: match () {
                () if fields.is_true("defer_loading") => ToolPlacement::Deferred,
                () if kind.starts_with("web_search_") => ToolPlacement::System,
                () => ToolPlacement::Definitions,
            },
            mark: fields.get("cache_control").and_then(CacheBreakpoint::read),
            bytes: value.slice_ref(tool),
        })
    });
    tools.collect()
}

/// The type and budget of thinking; how thinking is displayed does not change the prompt.
fn thinking(value: &[u8]) -> Result<String, JsonFault> {
    let fields = JsonFields::of(value)?;
    let kind = fields.string("type").unwrap_or_default().into_owned();
    Ok(match fields.get("budget_tokens") {
        Some(budget) => format!("{kind} ({} tokens)", String::from_utf8_lossy(budget)),
        None => kind,
    })
}

fn tool_choice(value: &[u8]) -> Result<String, JsonFault> {
    let fields = JsonFields::of(value)?;
    let mut choice = fields.string("type").unwrap_or("auto".into()).into_owned();
    if let Some(name) = fields.string("name") {
        choice = format!("{choice} {name}");
    }
    if fields.is_true("disable_parallel_tool_use") {
        choice += ", one at a time";
    }
    Ok(choice)
}

/// Removes the white space between the parts of JSON.
fn compact(raw: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        let end = match byte {
            b'"' => end_of_string(raw, at),
            _ => at + 1,
        };
        if !byte.is_ascii_whitespace() {
            bytes.extend_from_slice(raw.get(at..end).unwrap_or_default());
        }
        at = end;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
