//! Reads what the upstream measured from an answer that passes by, without holding it up.
//!
//! Of a stream the events that bear usage are read as they pass. Of one JSON text, and of what is compressed, the bytes are
//! kept (shared, not copied) and read afterwards, off the path. What cannot be read is not known.

use bytes::Bytes;
use http::{HeaderMap, header};
use longhaul_core::json::Object;
use longhaul_core::message::Usage;
use longhaul_provider::{Dialect, anthropic_usage, openai_usage, sse};

use super::packed::{Packing, Wanted};

/// Longest answer that is kept to be read, as it comes.
const LONGEST: usize = 32 << 20;
/// Longest that is read on the path.
const SHORT: usize = 64 << 10;
/// Most that is unpacked of a compressed stream.
const LONGEST_STREAM: usize = 256 << 20;

/// Most that is unpacked while a client waits.
const LONGEST_ERROR: usize = 4 << 20;

/// What an answer turned out to measure.
#[derive(Debug)]
pub enum Measured {
    /// Usage, if any was told.
    Usage(Option<Usage>),
    /// Bytes that are to be read off the path.
    Kept(Kept),
}

impl Measured {
    /// Reads what takes next to no time.
    pub(super) fn read_if_short(&mut self) {
        if let Self::Kept(kept) = self
            && kept.packing.is_none()
            && kept.length <= SHORT
        {
            let parts = std::mem::take(&mut kept.parts);
            *self = Self::Usage(usage_of(kept.dialect, &parts));
        }
    }

    /// The usage.
    pub fn usage(self) -> Option<Usage> {
        match self {
            Self::Usage(usage) => usage,
            Self::Kept(kept) => kept.usage(),
        }
    }
}

/// An answer that was kept to be read.
#[derive(Debug)]
pub struct Kept {
    dialect: Dialect,
    shape: Shape,
    packing: Option<Packing>,
    parts: Vec<Bytes>,
    length: usize,
}

impl Kept {
    fn usage(self) -> Option<Usage> {
        let Some(packing) = self.packing else {
            return usage_of(self.dialect, &self.parts);
        };
        let whole = self.parts.concat();
        match self.shape {
            Shape::Text => usage_in(self.dialect, &packing.whole(&whole, LONGEST)),
            Shape::Events => {
                let mut events = Events::default();
                packing.unpack(&whole, LONGEST_STREAM, |part| {
                    events.hear(self.dialect, part)
                });
                events.end(self.dialect)
            }
        }
    }
}

/// A whole answer's body, unpacked. None if it is packed in a way not known here.
pub fn plain(headers: &HeaderMap, body: &Bytes) -> Option<Bytes> {
    let encoding = headers.get(header::CONTENT_ENCODING);
    match encoding.map_or(Some(""), |value| value.to_str().ok())? {
        "" | "identity" => Some(body.clone()),
        other => Some(Packing::of(other)?.whole(body, LONGEST_ERROR).into()),
    }
}

fn usage_of(dialect: Dialect, parts: &[Bytes]) -> Option<Usage> {
    match parts {
        [whole] => usage_in(dialect, whole),
        parts => usage_in(dialect, &parts.concat()),
    }
}

fn usage_in(dialect: Dialect, text: &[u8]) -> Option<Usage> {
    let usage = Object::new(text).get("usage")?;
    Some(read(dialect, usage))
}

fn read(dialect: Dialect, usage: &[u8]) -> Usage {
    match dialect {
        Dialect::Anthropic => anthropic_usage(usage),
        Dialect::OpenAi => openai_usage(usage),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Events,
    Text,
}

impl Shape {
    fn of(content_type: &str) -> Option<Self> {
        match content_type {
            kind if kind.starts_with("text/event-stream") => Some(Self::Events),
            kind if kind.starts_with("application/json") => Some(Self::Text),
            _ => None,
        }
    }
}

/// Events and the usage that they told so far.
#[derive(Debug, Default)]
struct Events {
    decoder: sse::Decoder,
    usage: Option<Usage>,
}

impl Events {
    fn hear(&mut self, dialect: Dialect, mut part: &[u8]) -> Wanted {
        loop {
            match self.decoder.next(&mut part) {
                Ok(Some(event)) => event_usage(dialect, event, &mut self.usage),
                Ok(None) => return Wanted::More,
                Err(_) => return Wanted::NoMore,
            }
        }
    }

    fn end(mut self, dialect: Dialect) -> Option<Usage> {
        if let Ok(Some(event)) = self.decoder.finish() {
            event_usage(dialect, event, &mut self.usage);
        }
        self.usage
    }
}

#[derive(Debug)]
enum Reading {
    Events(Dialect, Box<Events>),
    Keeping(Kept),
    Nothing,
}

/// Listens to one answer.
#[derive(Debug)]
pub struct Tap(Reading);

impl Tap {
    /// For an answer with these headers.
    pub fn new(dialect: Dialect, headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let encoding = text(header::CONTENT_ENCODING).unwrap_or_default();
        let packing = Packing::of(encoding);
        let plain = matches!(encoding, "" | "identity");
        let shape = Shape::of(text(header::CONTENT_TYPE).unwrap_or_default());
        Self(match shape {
            Some(shape) if plain || packing.is_some() => match (shape, packing) {
                (Shape::Events, None) => Reading::Events(dialect, Box::default()),
                _ => Reading::Keeping(Kept {
                    dialect,
                    shape,
                    packing,
                    parts: Vec::new(),
                    length: 0,
                }),
            },
            _ => Reading::Nothing,
        })
    }

    /// Some bytes pass by.
    pub fn take(&mut self, chunk: &Bytes) {
        match &mut self.0 {
            Reading::Nothing => {}
            Reading::Keeping(kept) => {
                kept.length += chunk.len();
                kept.parts.push(chunk.clone());
                if kept.length > LONGEST {
                    self.0 = Reading::Nothing;
                }
            }
            Reading::Events(dialect, events) => {
                if events.hear(*dialect, chunk) == Wanted::NoMore {
                    self.0 = Reading::Nothing;
                }
            }
        }
    }

    /// The answer has ended.
    pub fn end(self) -> Measured {
        match self.0 {
            Reading::Events(dialect, events) => Measured::Usage(events.end(dialect)),
            Reading::Keeping(kept) => Measured::Kept(kept),
            Reading::Nothing => Measured::Usage(None),
        }
    }
}

fn event_usage(dialect: Dialect, event: sse::Event<'_>, known: &mut Option<Usage>) {
    let object = Object::new(event.data);
    let told = match (dialect, event.name) {
        (Dialect::Anthropic, b"message_start") => object
            .object("message")
            .and_then(|message| message.get("usage")),
        (Dialect::Anthropic, b"message_delta") => object.get("usage"),
        (Dialect::Anthropic, _) => None,
        (Dialect::OpenAi, _) => object.get("usage"),
    };
    if let Some(told) = told.filter(|told| told.first() == Some(&b'{')) {
        let told = read(dialect, told);
        *known = Some(match known.take() {
            None => told,
            Some(before) => later(before, told),
        });
    }
}

/// Usage told again is cumulative; what it leaves out still holds.
fn later(before: Usage, told: Usage) -> Usage {
    Usage {
        input: before.input.max(told.input),
        cache_read: before.cache_read.max(told.cache_read),
        cache_write_5m: before.cache_write_5m.max(told.cache_write_5m),
        cache_write_1h: before.cache_write_1h.max(told.cache_write_1h),
        output: before.output.max(told.output),
        cache_deleted: told.cache_deleted.or(before.cache_deleted),
        batch: before.batch || told.batch,
        us_only: before.us_only || told.us_only,
        iterations: match told.iterations.is_empty() {
            true => before.iterations,
            false => told.iterations,
        },
    }
}
