//! Reads the usage from a response that passes by, without delaying it.
//!
//! In a stream, the events that carry usage are read as they pass. For a single JSON text, and for compressed data, the
//! bytes are kept (shared, not copied) and read afterwards, off the path. Usage that cannot be read is unknown.

use bytes::Bytes;
use http::{HeaderMap, header};
use longhaul_core::json::{ObjectReader, items};
use longhaul_core::message::Usage;
use longhaul_provider::{Dialect, anthropic_usage, openai_usage, sse};

use super::call_error::CallError;
use super::packed::{ContentEncoding, UnpackDemand};
use crate::memory::{MemoryBudget, MemoryCharge};
use crate::store::CallEnding;

/// The longest response that is kept to be read, in bytes as received.
const LONGEST: usize = 32 << 20;
/// The longest response that is read on the path.
const SHORT: usize = 64 << 10;
/// The most that is unpacked of a compressed stream.
const LONGEST_STREAM: usize = 256 << 20;

/// The most that is unpacked while a client waits.
const LONGEST_ERROR: usize = 4 << 20;

/// How complete the usage of a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsageCompleteness {
    /// Everything that the upstream reports.
    #[default]
    Whole,
    /// The response was not read to its end: the usage reported until then, and an estimate of the output until then.
    Partial,
}

/// What an upstream reported in a response.
#[derive(Debug, Default)]
pub struct ResponseReading {
    /// The usage, if any was reported.
    pub usage: Option<Usage>,
    /// How complete the usage is.
    pub extent: UsageCompleteness,
    /// Approximately how many tokens the model wrote, in a stream.
    pub written: u64,
    /// Why the call failed, if it did.
    pub error: Option<CallError>,
}

/// What is known of a response's usage and error.
#[derive(Debug)]
pub enum ResponseUsage {
    /// What the upstream reported.
    Read(ResponseReading),
    /// Bytes that are to be read off the path.
    Kept(BufferedResponse),
}

impl ResponseUsage {
    /// Reads the usage if that takes next to no time.
    pub(crate) fn read_if_short(&mut self) {
        if let Self::Kept(kept) = self
            && kept.packing.is_none()
            && kept.length <= SHORT
        {
            let parts = std::mem::take(&mut kept.parts);
            *self = Self::Read(read_parts(kept.dialect, &parts));
        }
    }

    /// Reads what was kept.
    pub fn reading(self) -> ResponseReading {
        match self {
            Self::Read(reading) => reading,
            Self::Kept(kept) => kept.reading(),
        }
    }
}

/// A response that was kept to be read.
#[derive(Debug)]
pub struct BufferedResponse {
    dialect: Dialect,
    shape: ResponseFormat,
    packing: Option<ContentEncoding>,
    parts: Vec<Bytes>,
    length: usize,
    charge: Option<MemoryCharge>,
    ended: CallEnding,
}

impl BufferedResponse {
    fn reading(self) -> ResponseReading {
        let Some(packing) = self.packing else {
            return read_parts(self.dialect, &self.parts);
        };
        let whole = self.parts.concat();
        match self.shape {
            ResponseFormat::Text => {
                let text = packing.whole(&whole, LONGEST);
                read_text(self.dialect, &text)
            }
            ResponseFormat::Events => {
                let mut events = UsageEvents::default();
                packing.unpack(&whole, LONGEST_STREAM, |part| {
                    events.hear(self.dialect, part)
                });
                events.end(self.dialect, self.ended)
            }
        }
    }
}

/// A complete response body, unpacked. `None` if it is compressed in an unknown way.
pub(crate) fn plain(headers: &HeaderMap, body: &Bytes) -> Option<Bytes> {
    let encoding = headers.get(header::CONTENT_ENCODING);
    match encoding.map_or(Some(""), |value| value.to_str().ok())? {
        "" | "identity" => Some(body.clone()),
        other => Some(
            ContentEncoding::of(other)?
                .whole(body, LONGEST_ERROR)
                .into(),
        ),
    }
}

fn read_parts(dialect: Dialect, parts: &[Bytes]) -> ResponseReading {
    match parts {
        [whole] => read_text(dialect, whole),
        parts => read_text(dialect, &parts.concat()),
    }
}

fn read_text(dialect: Dialect, text: &[u8]) -> ResponseReading {
    let usage = ObjectReader::new(text).get("usage");
    ResponseReading {
        usage: usage.map(|usage| read(dialect, usage)),
        extent: UsageCompleteness::Whole,
        written: 0,
        error: CallError::read(text),
    }
}

fn read(dialect: Dialect, usage: &[u8]) -> Usage {
    match dialect {
        Dialect::Anthropic => anthropic_usage(usage),
        Dialect::OpenAi => openai_usage(usage),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponseFormat {
    Events,
    Text,
}

impl ResponseFormat {
    fn of(content_type: &str) -> Option<Self> {
        match content_type {
            kind if kind.starts_with("text/event-stream") => Some(Self::Events),
            kind if kind.starts_with("application/json") => Some(Self::Text),
            _ => None,
        }
    }
}

/// Events, and the usage that they reported so far.
#[derive(Debug, Default)]
struct UsageEvents {
    decoder: sse::SseDecoder,
    told: UsageSoFar,
}

#[derive(Debug, Default)]
struct UsageSoFar {
    usage: Option<Usage>,
    /// Whether everything was reported.
    is_whole: bool,
    /// Bytes that the model wrote.
    written: usize,
    /// Why the response ended early.
    error: Option<CallError>,
}

/// The approximate bytes per token in what a model writes.
const BYTES_A_TOKEN: usize = 4;

impl UsageSoFar {
    /// The usage of a response that ended like this: an upstream whose response is not read to its end has still billed
    /// what it wrote.
    fn by(self, ended: CallEnding) -> ResponseReading {
        let written = self.written.div_ceil(BYTES_A_TOKEN) as u64;
        if self.is_whole || (ended == CallEnding::Whole && self.error.is_none()) {
            return ResponseReading {
                usage: self.usage,
                extent: UsageCompleteness::Whole,
                written,
                error: self.error,
            };
        }
        let usage = match self.usage {
            None if written == 0 => None,
            told => {
                let told = told.unwrap_or_default();
                let output = told.output.max(written);
                Some(Usage { output, ..told })
            }
        };
        ResponseReading {
            usage,
            extent: UsageCompleteness::Partial,
            written,
            error: self.error,
        }
    }
}

impl UsageEvents {
    fn hear(&mut self, dialect: Dialect, mut part: &[u8]) -> UnpackDemand {
        loop {
            match self.decoder.next(&mut part) {
                Ok(Some(event)) => self.told.hear(dialect, event),
                Ok(None) => return UnpackDemand::More,
                Err(_) => return UnpackDemand::NoMore,
            }
        }
    }

    fn end(mut self, dialect: Dialect, ended: CallEnding) -> ResponseReading {
        if let Ok(Some(event)) = self.decoder.finish() {
            self.told.hear(dialect, event);
        }
        self.told.by(ended)
    }
}

#[derive(Debug)]
enum TapState {
    Events(Dialect, Box<UsageEvents>),
    Keeping(BufferedResponse),
    Nothing,
}

/// Reads the usage of one response.
#[derive(Debug)]
pub struct UsageTap(TapState);

impl UsageTap {
    /// A tap for a response with these headers. What is kept of it is charged.
    pub fn new(dialect: Dialect, headers: &HeaderMap, budget: &MemoryBudget) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let encoding = text(header::CONTENT_ENCODING).unwrap_or_default();
        let packing = ContentEncoding::of(encoding);
        let plain = matches!(encoding, "" | "identity");
        let shape = ResponseFormat::of(text(header::CONTENT_TYPE).unwrap_or_default());
        Self(match shape {
            Some(shape) if plain || packing.is_some() => match (shape, packing) {
                (ResponseFormat::Events, None) => TapState::Events(dialect, Box::default()),
                _ => TapState::Keeping(BufferedResponse {
                    dialect,
                    shape,
                    packing,
                    parts: Vec::new(),
                    length: 0,
                    charge: budget.take(0).ok(),
                    ended: CallEnding::Whole,
                }),
            },
            _ => TapState::Nothing,
        })
    }

    /// Reads bytes that pass by.
    pub fn take(&mut self, chunk: &Bytes) {
        match &mut self.0 {
            TapState::Nothing => {}
            TapState::Keeping(kept) => {
                kept.length += chunk.len();
                kept.parts.push(chunk.clone());
                let charge = kept.charge.as_mut();
                let fits = charge.is_some_and(|charge| charge.grow(chunk.len()).is_ok());
                if kept.length > LONGEST || !fits {
                    self.0 = TapState::Nothing;
                }
            }
            TapState::Events(dialect, events) => {
                if events.hear(*dialect, chunk) == UnpackDemand::NoMore {
                    self.0 = TapState::Nothing;
                }
            }
        }
    }

    /// Ends the response, and returns what is known of its usage.
    pub fn end(self, ended: CallEnding) -> ResponseUsage {
        match self.0 {
            TapState::Events(dialect, events) => ResponseUsage::Read(events.end(dialect, ended)),
            TapState::Keeping(kept) => ResponseUsage::Kept(BufferedResponse { ended, ..kept }),
            TapState::Nothing => ResponseUsage::Read(ResponseReading::default()),
        }
    }
}

impl UsageSoFar {
    fn hear(&mut self, dialect: Dialect, event: sse::SseEvent<'_>) {
        let object = ObjectReader::new(event.data);
        let (told, is_whole) = match (dialect, event.name) {
            (Dialect::Anthropic, b"message_start") => {
                let message = object.object("message");
                (message.and_then(|message| message.get("usage")), false)
            }
            (Dialect::Anthropic, b"message_delta") => (object.get("usage"), true),
            (Dialect::Anthropic, b"content_block_delta") => {
                self.written += object.object("delta").map_or(0, written_in_delta);
                return;
            }
            (Dialect::Anthropic, b"error") => {
                self.error = CallError::read(event.data);
                return;
            }
            (Dialect::Anthropic, _) => return,
            (Dialect::OpenAi, _) => {
                self.written += written_in_chunk(&object);
                self.error = self.error.take().or_else(|| CallError::read(event.data));
                (object.get("usage"), true)
            }
        };
        if let Some(told) = told.filter(|told| told.first() == Some(&b'{')) {
            let told = read(dialect, told);
            self.is_whole |= is_whole;
            self.usage = Some(match self.usage.take() {
                None => told,
                Some(before) => later(before, told),
            });
        }
    }
}

/// Bytes of the model's output in a delta of a content block.
fn written_in_delta(delta: ObjectReader<'_>) -> usize {
    let texts = ["text", "thinking", "partial_json"].map(|name| delta.get(name));
    texts.into_iter().flatten().map(within_quotes).sum()
}

/// Bytes of the model's output in a chunk of a chat completion.
fn written_in_chunk(chunk: &ObjectReader<'_>) -> usize {
    let choices = chunk.get("choices").and_then(items).unwrap_or_default();
    let deltas = choices
        .into_iter()
        .filter_map(|choice| ObjectReader::new(choice).object("delta"));
    let written = deltas.map(|delta| {
        let texts = ["content", "reasoning_content"].map(|name| delta.get(name));
        let calls = delta.get("tool_calls").and_then(items).unwrap_or_default();
        let arguments = calls.into_iter().filter_map(|call| {
            let function = ObjectReader::new(call).object("function")?;
            function.get("arguments")
        });
        let all = texts.into_iter().flatten().chain(arguments);
        all.map(within_quotes).sum::<usize>()
    });
    written.sum()
}

/// The length of a string, as it is written; zero for anything else.
fn within_quotes(raw: &[u8]) -> usize {
    match raw.first() {
        Some(b'"') => raw.len().saturating_sub(2),
        _ => 0,
    }
}

/// Usage that is reported again is cumulative; fields that it leaves out still hold.
fn later(before: Usage, told: Usage) -> Usage {
    Usage {
        input: before.input.max(told.input),
        cache_read: before.cache_read.max(told.cache_read),
        cache_write_5m: before.cache_write_5m.max(told.cache_write_5m),
        cache_write_1h: before.cache_write_1h.max(told.cache_write_1h),
        output: before.output.max(told.output),
        web_searches: before.web_searches.max(told.web_searches),
        cache_deleted: told.cache_deleted.or(before.cache_deleted),
        batch: before.batch || told.batch,
        us_only: before.us_only || told.us_only,
        iterations: if told.iterations.is_empty() {
            before.iterations
        } else {
            told.iterations
        },
    }
}
