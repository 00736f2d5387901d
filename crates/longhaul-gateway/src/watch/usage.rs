//! Reads what the upstream measured from an answer that passes by, without holding it up.
//!
//! Of a stream the events that bear usage are read as they pass; of one JSON text the bytes are kept (shared, not
//! copied) and read afterwards. Compressed answers are decompressed for this alone. What cannot be read is not known.

use std::io::{Read as _, Write};

use bytes::Bytes;
use flate2::write::{GzDecoder, ZlibDecoder};
use http::{HeaderMap, header};
use longhaul_core::json::Object;
use longhaul_core::message::Usage;
use longhaul_provider::{Dialect, anthropic_usage, openai_usage, sse};

/// Longest JSON answer that is read.
const LONGEST: usize = 32 << 20;

/// What an answer turned out to measure.
#[derive(Debug)]
pub enum Measured {
    /// Usage, if any was told.
    Usage(Option<Usage>),
    /// One JSON text, to be read off the path.
    Text(Dialect, Vec<Bytes>),
}

impl Measured {
    /// The usage.
    pub fn usage(self) -> Option<Usage> {
        match self {
            Self::Usage(usage) => usage,
            Self::Text(dialect, parts) => {
                let text = parts.concat();
                let usage = Object::new(&text).get("usage")?;
                Some(read(dialect, usage))
            }
        }
    }
}

fn read(dialect: Dialect, usage: &[u8]) -> Usage {
    match dialect {
        Dialect::Anthropic => anthropic_usage(usage),
        Dialect::OpenAi => openai_usage(usage),
    }
}

enum Encoding {
    Plain,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

enum Reading {
    Events(Box<sse::Decoder>, Option<Usage>),
    Text(Vec<Bytes>, usize),
    Nothing,
}

/// A whole answer's body, decompressed. None if it cannot be.
pub fn plain(headers: &HeaderMap, body: &Bytes) -> Option<Bytes> {
    let coding = headers.get(header::CONTENT_ENCODING);
    let read = |reader: &mut dyn std::io::Read| {
        let mut out = Vec::new();
        let most = LONGEST as u64;
        std::io::Read::take(reader, most)
            .read_to_end(&mut out)
            .ok()?;
        Some(Bytes::from(out))
    };
    match coding.map_or(Some("identity"), |value| value.to_str().ok())? {
        "identity" | "" => Some(body.clone()),
        "gzip" => read(&mut flate2::read::GzDecoder::new(&body[..])),
        "deflate" => read(&mut flate2::read::ZlibDecoder::new(&body[..])),
        _ => None,
    }
}

/// Listens to one answer.
pub struct Tap {
    dialect: Dialect,
    encoding: Encoding,
    reading: Reading,
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tap").finish_non_exhaustive()
    }
}

impl Tap {
    /// For an answer with these headers.
    pub fn new(dialect: Dialect, headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let kind = text(header::CONTENT_TYPE).unwrap_or_default();
        let (encoding, readable) = match text(header::CONTENT_ENCODING).unwrap_or("identity") {
            "identity" | "" => (Encoding::Plain, true),
            "gzip" => (Encoding::Gzip(Box::new(GzDecoder::new(Vec::new()))), true),
            "deflate" => (
                Encoding::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
                true,
            ),
            _ => (Encoding::Plain, false),
        };
        let reading = match () {
            () if !readable => Reading::Nothing,
            () if kind.starts_with("text/event-stream") => Reading::Events(Box::default(), None),
            () if kind.starts_with("application/json") => Reading::Text(Vec::new(), 0),
            () => Reading::Nothing,
        };
        Self {
            dialect,
            encoding,
            reading,
        }
    }

    /// Some bytes pass by.
    pub fn take(&mut self, chunk: &Bytes) {
        if matches!(self.reading, Reading::Nothing) {
            return;
        }
        let plain = match &mut self.encoding {
            Encoding::Plain => Some(chunk.clone()),
            Encoding::Gzip(decoder) => {
                let written = decoder.write_all(chunk).and_then(|()| decoder.flush());
                written
                    .ok()
                    .map(|()| std::mem::take(decoder.get_mut()).into())
            }
            Encoding::Deflate(decoder) => {
                let written = decoder.write_all(chunk).and_then(|()| decoder.flush());
                written
                    .ok()
                    .map(|()| std::mem::take(decoder.get_mut()).into())
            }
        };
        match plain {
            Some(plain) => self.read(plain),
            None => self.reading = Reading::Nothing,
        }
    }

    fn read(&mut self, plain: Bytes) {
        match &mut self.reading {
            Reading::Nothing => {}
            Reading::Text(parts, length) => {
                *length += plain.len();
                parts.push(plain);
                if *length > LONGEST {
                    self.reading = Reading::Nothing;
                }
            }
            Reading::Events(decoder, usage) => {
                let mut rest = &plain[..];
                loop {
                    match decoder.next(&mut rest) {
                        Ok(Some(event)) => event_usage(self.dialect, event, usage),
                        Ok(None) => return,
                        Err(_) => break,
                    }
                }
                self.reading = Reading::Nothing;
            }
        }
    }

    /// The answer has ended.
    pub fn end(self) -> Measured {
        match self.reading {
            Reading::Events(mut decoder, mut usage) => {
                if let Ok(Some(event)) = decoder.finish() {
                    event_usage(self.dialect, event, &mut usage);
                }
                Measured::Usage(usage)
            }
            Reading::Text(parts, _) => Measured::Text(self.dialect, parts),
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
        batch: before.batch || told.batch,
        us_only: before.us_only || told.us_only,
        iterations: match told.iterations.is_empty() {
            true => before.iterations,
            false => told.iterations,
        },
    }
}
