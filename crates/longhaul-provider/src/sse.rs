//! Server-sent events: bytes in any chunking become events, each exactly once.
//!
//! Follows the WHATWG rules: lines end with LF, CR or CRLF; a leading byte order mark, comments, `id`, `retry` and
//! unknown fields are ignored; several `data` lines are joined by LF; an event without data is dropped. An event whose
//! data is one line that is completely in a chunk is borrowed from it; only what a chunk boundary cuts is copied.
//!
//! This module does not interpret the data: see `anthropic/` and `openai/`. Bytes are passed on unchanged; code that
//! reads them as text checks that they are valid.

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The `event` field; `message` if there is none.
    pub name: &'a [u8],
    /// The `data` fields, joined by LF.
    pub data: &'a [u8],
}

/// A line, or the data of one event, exceeds what the decoder will hold in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a server-sent event exceeds {limit} bytes")]
pub struct EventTooLong {
    /// The limit in bytes.
    pub limit: usize,
}

/// The default for the longest line, and the longest data of one event: the size of the largest request that the APIs
/// accept.
pub(crate) const DEFAULT_LIMIT: usize = 32 << 20;

/// The decoder of one stream.
///
/// ```
/// use longhaul_provider::sse::SseDecoder;
///
/// let mut decoder = SseDecoder::default();
/// let mut seen = Vec::new();
/// for chunk in [&b"event: ping\nda"[..], &b"ta: {}\r\n\r\n"[..]] {
///     let mut rest = chunk;
///     while let Some(event) = decoder.next(&mut rest)? {
///         seen.push((event.name.to_vec(), event.data.to_vec()));
///     }
/// }
/// assert_eq!(seen, [(b"ping".to_vec(), b"{}".to_vec())]);
/// # Ok::<(), longhaul_provider::sse::EventTooLong>(())
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    /// The beginning of a line whose end has not arrived yet.
    line: Vec<u8>,
    /// Name and data of the open event, as far as an earlier chunk brought them.
    name: Vec<u8>,
    data: Option<Vec<u8>>,
    /// Name and data of the event that was returned last, which borrows them; afterwards spare capacity for the next
    /// one.
    given_name: Vec<u8>,
    given_data: Vec<u8>,
    at: SsePosition,
    failed: Option<EventTooLong>,
}

/// Where in the stream the decoder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SsePosition {
    /// Before the end of the first line: a byte order mark may precede it.
    Start,
    /// Anywhere else.
    Inside,
    /// After a CR: an LF that follows belongs to it.
    BehindCr,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }
}

/// The parts of the open event that lie in the current chunk.
#[derive(Default)]
struct OpenEvent<'i> {
    name: Option<&'i [u8]>,
    data: Option<&'i [u8]>,
}

/// The meaning of one line.
enum SseField<'a> {
    Data(&'a [u8]),
    Name(&'a [u8]),
    /// A blank line: the event is complete.
    Blank,
    /// A comment, or a field that is not used.
    Ignored,
}

impl<'a> SseField<'a> {
    #[inline]
    fn of(line: &'a [u8]) -> Self {
        if line.is_empty() {
            return Self::Blank;
        }
        let (field, value) = match memchr::memchr(b':', &line[..line.len().min(6)]) {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            // A known field has its colon within six bytes, or none at all.
            None => (line, &line[line.len()..]),
        };
        match field {
            b"data" => Self::Data(value),
            b"event" => Self::Name(value),
            _ => Self::Ignored,
        }
    }
}

impl SseDecoder {
    /// A decoder that rejects lines, and data of one event, longer than `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            name: Vec::new(),
            data: None,
            given_name: Vec::new(),
            given_data: Vec::new(),
            at: SsePosition::Start,
            failed: None,
        }
    }

    /// The next event of a chunk; `input` is the rest of the chunk. Returns `None` once the chunk is used up.
    ///
    /// # Errors
    /// Fails with [`EventTooLong`], from then on at every call: a stream cannot be resumed in the middle of a line.
    pub fn next<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<SseEvent<'s>>, EventTooLong> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let mut open = OpenEvent::default();
        loop {
            if self.at == SsePosition::BehindCr && !input.is_empty() {
                *input = input.strip_prefix(b"\n").unwrap_or(input);
                self.at = SsePosition::Inside;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', input) else {
                let rest = std::mem::take(input);
                self.hold(rest)?;
                self.copy_open_event(open);
                return Ok(None);
            };
            let (line, behind) = (&input[..end], &input[end + 1..]);
            let ended_by_cr = input[end] == b'\r';
            *input = behind;
            let blank = if self.line.is_empty() && self.at != SsePosition::Start {
                if line.len() > self.limit {
                    return Err(self.fail());
                }
                match SseField::of(line) {
                    SseField::Data(value) if open.data.is_none() && self.data.is_none() => {
                        open.data = Some(value);
                    }
                    SseField::Data(value) => {
                        self.copy_open_event(std::mem::take(&mut open));
                        self.join(value)?;
                    }
                    SseField::Name(value) => open.name = Some(value),
                    SseField::Blank | SseField::Ignored => {}
                }
                line.is_empty()
            } else {
                self.copy_open_event(std::mem::take(&mut open));
                self.hold(line)?;
                self.take_held_line()?
            };
            self.at = if ended_by_cr {
                SsePosition::BehindCr
            } else {
                SsePosition::Inside
            };
            if blank {
                if open.data.is_some() || self.data.is_some() {
                    return Ok(Some(self.dispatch(open)));
                }
                self.name.clear();
                open = OpenEvent::default();
            }
        }
    }

    /// What was left when the stream ended: the event whose closing blank line never arrived.
    ///
    /// The standard says to drop it. Some servers end without the blank line, and JSON shows by itself whether it is
    /// complete, so the decision is the caller's.
    ///
    /// # Errors
    /// Fails with [`EventTooLong`], as [`SseDecoder::next`] does.
    pub fn finish(&mut self) -> Result<Option<SseEvent<'_>>, EventTooLong> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        if !self.line.is_empty() {
            self.take_held_line()?;
        }
        if self.data.is_none() {
            return Ok(None);
        }
        Ok(Some(self.dispatch(OpenEvent::default())))
    }

    #[cold]
    fn fail(&mut self) -> EventTooLong {
        let failed = EventTooLong { limit: self.limit };
        self.failed = Some(failed);
        failed
    }

    /// Adds to the line that is held.
    fn hold(&mut self, part: &[u8]) -> Result<(), EventTooLong> {
        if self.line.len() + part.len() > self.limit {
            return Err(self.fail());
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    /// Copies the parts of the open event that are in the chunk, because the chunk will be gone.
    fn copy_open_event(&mut self, open: OpenEvent<'_>) {
        if let Some(name) = open.name {
            self.name.clear();
            self.name.extend_from_slice(name);
        }
        if let Some(data) = open.data {
            let mut buffer = std::mem::take(&mut self.given_data);
            buffer.clear();
            buffer.extend_from_slice(data);
            self.data = Some(buffer);
        }
    }

    /// Adds a `data` line to the event's data.
    fn join(&mut self, value: &[u8]) -> Result<(), EventTooLong> {
        let held = self.data.as_ref().map_or(0, |data| data.len() + 1);
        if held + value.len() > self.limit {
            return Err(self.fail());
        }
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.copy_open_event(OpenEvent {
                name: None,
                data: Some(value),
            }),
        }
        Ok(())
    }

    /// Interprets the held line, now that it is complete. Returns whether it was the blank one.
    fn take_held_line(&mut self) -> Result<bool, EventTooLong> {
        let line = std::mem::take(&mut self.line);
        let mut content = &line[..];
        if self.at == SsePosition::Start {
            content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
        }
        let field = SseField::of(content);
        let blank = matches!(field, SseField::Blank);
        let joined = match field {
            SseField::Data(value) => self.join(value),
            SseField::Name(value) => {
                self.name.clear();
                self.name.extend_from_slice(value);
                Ok(())
            }
            SseField::Blank | SseField::Ignored => Ok(()),
        };
        self.line = line;
        self.line.clear();
        joined.map(|()| blank)
    }

    /// Returns the open event and begins the next.
    fn dispatch<'s, 'i: 's>(&'s mut self, open: OpenEvent<'i>) -> SseEvent<'s> {
        let data = match (open.data, self.data.take()) {
            (Some(data), _) => data,
            (None, held) => {
                self.given_data = held.unwrap_or_default();
                &self.given_data[..]
            }
        };
        std::mem::swap(&mut self.name, &mut self.given_name);
        self.name.clear();
        let name = open.name.unwrap_or(&self.given_name);
        SseEvent {
            name: if name.is_empty() { b"message" } else { name },
            data,
        }
    }
}
