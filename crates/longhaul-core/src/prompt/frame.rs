//! The bytes of a request before and after its messages, built once for each request prefix.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::breakpoints::MOST_MARKERS;
use super::{RequestPrefix, Ttl};
use crate::hash::Set;
use crate::json::{JsonCursor, ObjectReader};

/// The fields that the token-counting endpoint accepts; it refuses others.
const COUNTED: [&str; 10] = [
    "model",
    "cache_control",
    "compaction",
    "context_management",
    "mcp_servers",
    "output_config",
    "output_format",
    "speed",
    "thinking",
    "tool_choice",
];

/// The bytes around the messages.
#[derive(Debug, Clone)]
pub(super) struct RequestFrame {
    /// The bytes from the opening brace to the opening bracket of the messages.
    pub(super) opening: Bytes,
    /// The bytes up to the opening bracket of the messages, for a token count.
    pub(super) counting: Bytes,
    /// How many cache breakpoints the prefix leaves for the messages.
    pub(super) room: usize,
    /// The `cache_control` field for blocks of the messages, with the comma that joins it to the block.
    pub(super) marker: Bytes,
    fields: Set<Vec<u8>>,
}

impl RequestFrame {
    pub(super) fn of(head: &RequestPrefix) -> Self {
        let body = fields(head.latched.body.get().as_bytes());
        let mut names: Set<Vec<u8>> = ["stream", "system", "tools", "messages"]
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        names.extend(body.iter().map(|(name, _)| name.clone()));
        let markers = PrefixBreakpoints::of(head);
        let ttl = markers.message_ttl(head);
        let marker = ttl.map(|ttl| format!(",\"cache_control\":{}", ttl.marker()));
        let counted: Vec<_> = body
            .iter()
            .filter(|(name, _)| COUNTED.iter().any(|known| known.as_bytes() == name))
            .cloned()
            .collect();
        Self {
            opening: opening(&[(b"stream".to_vec(), b"true")], &body, head),
            counting: opening(&[], &counted, head),
            room: match ttl {
                Some(_) => MOST_MARKERS.saturating_sub(markers.count),
                None => 0,
            },
            marker: marker.unwrap_or_default().into(),
            fields: names,
        }
    }

    /// Returns the opening for a request that the provider is asked to summarize (N3), which does not accept
    /// `context_management`. Returns `None` if the prefix holds something that cannot be combined with it at all.
    pub(super) fn summarizing_opening(head: &RequestPrefix) -> Option<Bytes> {
        let body = fields(head.latched.body.get().as_bytes());
        let value = |wanted: &str| {
            let found = body.iter().find(|(name, _)| name == wanted.as_bytes());
            found.map(|(_, value)| *value)
        };
        let output = value("output_config").filter(|value| value.first() == Some(&b'{'));
        let output = output.map(ObjectReader::new);
        let shaped = output.is_some_and(|output| {
            let budget = output.object("task_budget");
            output.get("format").is_some()
                || budget.is_some_and(|budget| budget.get("remaining").is_some())
        });
        if shaped || value("stop_sequences").is_some() {
            return None;
        }
        let left: Vec<_> = body
            .iter()
            .filter(|(name, _)| name != b"context_management")
            .cloned()
            .collect();
        Some(opening(&[(b"stream".to_vec(), b"true")], &left, head))
    }

    /// Returns a field in `more` that the prefix already has.
    pub(super) fn repeated(&self, more: &RawValue) -> Option<String> {
        let more = fields(more.get().as_bytes());
        let known = more
            .into_iter()
            .find(|(name, _)| self.fields.contains(name));
        known.map(|(name, _)| String::from_utf8_lossy(&name).into_owned())
    }
}

type BodyField<'a> = (Vec<u8>, &'a [u8]);

fn opening(first: &[BodyField<'_>], body: &[BodyField<'_>], head: &RequestPrefix) -> Bytes {
    let parts = [("system", &head.system), ("tools", &head.tools)];
    let mut bytes = vec![b'{'];
    for (name, value) in first.iter().chain(body) {
        push(&mut bytes, name, value);
    }
    for (name, part) in parts {
        // An empty part is left out because not every provider accepts it.
        if !matches!(part.get(), "null" | "[]" | "\"\"") {
            push(&mut bytes, name.as_bytes(), part.get().as_bytes());
        }
    }
    bytes.extend_from_slice(b"\"messages\":[");
    bytes.into()
}

fn push(bytes: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    bytes.push(b'"');
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(b"\":");
    bytes.extend_from_slice(value);
    bytes.push(b',');
}

/// Returns the fields of an object, with their names unchanged.
fn fields(object: &[u8]) -> Vec<BodyField<'_>> {
    let mut fields = Vec::new();
    // Raw JSON is valid, so the walk ends with the object.
    let _ = JsonCursor::new(object).object(|cursor, name| {
        let name = name.to_vec();
        fields.push((name, cursor.raw()?));
        Ok(())
    });
    fields
}

impl RequestPrefix {
    /// The lifetime of the cache breakpoints on messages after this prefix; `None` if they have none.
    pub(crate) fn ttl_of_messages(&self) -> Option<Ttl> {
        PrefixBreakpoints::of(self).message_ttl(self)
    }
}

/// The cache breakpoints in a request prefix.
#[derive(Default)]
struct PrefixBreakpoints {
    count: usize,
    shortest: Option<Ttl>,
}

impl PrefixBreakpoints {
    fn of(head: &RequestPrefix) -> Self {
        let mut markers = Self::default();
        for part in [&head.system, &head.tools] {
            // A system prompt that is a string has no breakpoints: the walk ends at once.
            let _ = JsonCursor::new(part.get().as_bytes()).array(|cursor| {
                markers.take(cursor.raw()?);
                Ok(())
            });
        }
        markers.take(head.latched.body.get().as_bytes());
        markers
    }

    /// Returns the lifetime for the messages. Breakpoints with a longer lifetime must come first, so those of the
    /// messages live no longer than the prefix's.
    fn message_ttl(&self, head: &RequestPrefix) -> Option<Ttl> {
        let ttl = head.latched.ttl?;
        Some(self.shortest.unwrap_or(ttl).min(ttl))
    }

    fn take(&mut self, block: &[u8]) {
        let Some(ttl) = Ttl::of_block(ObjectReader::new(block)) else {
            return;
        };
        self.count += 1;
        self.shortest = Some(self.shortest.unwrap_or(ttl).min(ttl));
    }
}
