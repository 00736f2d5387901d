//! Walks one JSON value, validates all of it, and measures what it passes.
//!
//! It keeps a running count of UTF-16 units of the canonical form (`JSON.stringify`: no white space, shortest escapes;
//! numbers stay as written), so the serialized size of any part is the difference of two readings.

use fearless_simd::Level;

use super::{JsonFault, JsonFaultKind, StringLiteral, decode, string};

/// A position in a JSON text.
#[derive(Debug)]
pub struct JsonCursor<'a> {
    bytes: &'a [u8],
    pos: usize,
    canonical: usize,
    level: Level,
}

/// The kinds of JSON value; the first byte tells which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// The open containers of a value that is being skipped: one bit each, so that depth costs no stack.
#[derive(Default)]
struct Nesting {
    top: u64,
    depth: usize,
    below: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.below.push(self.top);
        }
        self.top = self.top << 1 | u64::from(is_object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.top >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.top = self.below.pop().unwrap_or_default();
        }
    }

    fn in_object(&self) -> bool {
        self.top & 1 == 1
    }
}

impl<'a> JsonCursor<'a> {
    /// A cursor at the first value of `bytes`, which must be valid UTF-8 (checked once by the caller, per line).
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut cursor = Self {
            bytes,
            pos: 0,
            canonical: 0,
            level: Level::new(),
        };
        cursor.skip_white();
        cursor
    }

    /// The byte position.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// UTF-16 units of canonical JSON passed so far.
    pub fn canonical(&self) -> usize {
        self.canonical
    }

    #[inline(always)]
    fn skip_white(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.pos) {
            self.pos += 1;
        }
    }

    #[cold]
    fn unexpected(&self) -> JsonFault {
        if self.pos < self.bytes.len() {
            JsonFault::new(self.pos, JsonFaultKind::UnexpectedByte)
        } else {
            JsonFault::new(self.bytes.len(), JsonFaultKind::UnexpectedEnd)
        }
    }

    /// Passes one structural character and the white space after it.
    #[inline(always)]
    fn pass(&mut self) {
        self.pos += 1;
        self.canonical += 1;
        self.skip_white();
    }

    /// Returns the kind of the next value.
    ///
    /// # Errors
    /// Fails if no value begins here.
    #[inline]
    pub fn peek(&self) -> Result<JsonKind, JsonFault> {
        match self.bytes.get(self.pos) {
            Some(b'"') => Ok(JsonKind::String),
            Some(b'{') => Ok(JsonKind::Object),
            Some(b'[') => Ok(JsonKind::Array),
            Some(b't') => Ok(JsonKind::True),
            Some(b'f') => Ok(JsonKind::False),
            Some(b'n') => Ok(JsonKind::Null),
            Some(b'-' | b'0'..=b'9') => Ok(JsonKind::Number),
            _ => Err(self.unexpected()),
        }
    }

    /// Passes a string and measures it.
    ///
    /// # Errors
    /// Fails if no string begins here, or if it is not valid JSON; the fault says where.
    #[inline(always)]
    pub fn string(&mut self) -> Result<StringLiteral, JsonFault> {
        if self.bytes.get(self.pos) != Some(&b'"') {
            return Err(self.unexpected());
        }
        let literal = string::scan(self.level, self.bytes, self.pos + 1)?;
        self.pos = literal.end + 1;
        self.canonical += literal.canonical + 2;
        self.skip_white();
        Ok(literal)
    }

    /// Passes a number; returns its first and last position.
    fn number(&mut self) -> Result<(usize, usize), JsonFault> {
        let start = self.pos;
        let bad = JsonFault::new(start, JsonFaultKind::BadNumber);
        let digits = |pos: &mut usize, bytes: &[u8]| {
            let from = *pos;
            while let Some(b'0'..=b'9') = bytes.get(*pos) {
                *pos += 1;
            }
            *pos > from
        };
        if self.bytes.get(self.pos) == Some(&b'-') {
            self.pos += 1;
        }
        match self.bytes.get(self.pos) {
            Some(b'0') => self.pos += 1,
            Some(b'1'..=b'9') => {
                digits(&mut self.pos, self.bytes);
            }
            None => return Err(self.unexpected()),
            _ => return Err(bad),
        }
        if self.bytes.get(self.pos) == Some(&b'.') {
            self.pos += 1;
            if !digits(&mut self.pos, self.bytes) {
                return Err(bad);
            }
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.pos) {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.pos) {
                self.pos += 1;
            }
            if !digits(&mut self.pos, self.bytes) {
                return Err(bad);
            }
        }
        let end = self.pos;
        self.canonical += end - start;
        self.skip_white();
        Ok((start, end))
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), JsonFault> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(if word.starts_with(rest) {
                JsonFault::new(self.bytes.len(), JsonFaultKind::UnexpectedEnd)
            } else {
                self.unexpected()
            });
        }
        self.pos += word.len();
        self.canonical += word.len();
        self.skip_white();
        Ok(())
    }

    /// Passes a value that contains no other value; returns `false` if an object or array comes next.
    #[inline]
    fn scalar(&mut self) -> Result<bool, JsonFault> {
        match self.peek()? {
            JsonKind::String => {
                self.string()?;
            }
            JsonKind::Number => {
                self.number()?;
            }
            JsonKind::True => self.literal(b"true")?,
            JsonKind::False => self.literal(b"false")?,
            JsonKind::Null => self.literal(b"null")?,
            JsonKind::Object | JsonKind::Array => return Ok(false),
        }
        Ok(true)
    }

    /// Passes any value, however deep.
    ///
    /// # Errors
    /// Fails at the first byte that is not JSON; the fault says where and why.
    pub fn skip(&mut self) -> Result<(), JsonFault> {
        if self.scalar()? {
            return Ok(());
        }
        let mut open = Nesting::default();
        loop {
            // The cursor is at a value.
            if !self.scalar()? {
                let is_object = self.bytes[self.pos] == b'{';
                self.pass();
                open.push(is_object);
                match self.bytes.get(self.pos) {
                    Some(b'}') if is_object => {}
                    Some(b']') if !is_object => {}
                    _ => {
                        if is_object {
                            self.key()?;
                        }
                        continue;
                    }
                }
            }
            // The cursor is after a value, or at the end of an empty container.
            loop {
                if open.depth == 0 {
                    return Ok(());
                }
                match (self.bytes.get(self.pos), open.in_object()) {
                    (Some(b','), in_object) => {
                        self.pass();
                        if in_object {
                            self.key()?;
                        }
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.pass();
                        open.pop();
                    }
                    _ => return Err(self.unexpected()),
                }
            }
        }
    }

    #[inline(always)]
    fn key(&mut self) -> Result<StringLiteral, JsonFault> {
        let key = self.string()?;
        if self.bytes.get(self.pos) != Some(&b':') {
            return Err(self.unexpected());
        }
        self.pass();
        Ok(key)
    }

    /// Walks an object: `field` is called at each value with its decoded key and must pass the value.
    ///
    /// # Errors
    /// Fails if no object begins here or it is not valid JSON, and with the first fault that `field` returns.
    #[inline]
    pub fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, &[u8]) -> Result<(), JsonFault>,
    ) -> Result<(), JsonFault> {
        if self.bytes.get(self.pos) != Some(&b'{') {
            return Err(self.unexpected());
        }
        self.pass();
        if self.bytes.get(self.pos) == Some(&b'}') {
            self.pass();
            return Ok(());
        }
        loop {
            let key = self.key()?;
            let raw = &self.bytes[key.start..key.end];
            if key.escaped {
                field(self, decode(raw).as_bytes())?;
            } else {
                field(self, raw)?;
            }
            match self.bytes.get(self.pos) {
                Some(b',') => self.pass(),
                Some(b'}') => {
                    self.pass();
                    return Ok(());
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// Walks an array: `item` is called at each value and must pass it.
    ///
    /// # Errors
    /// Fails if no array begins here or it is not valid JSON, and with the first fault that `item` returns.
    #[inline]
    pub fn array(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), JsonFault>,
    ) -> Result<(), JsonFault> {
        if self.bytes.get(self.pos) != Some(&b'[') {
            return Err(self.unexpected());
        }
        self.pass();
        if self.bytes.get(self.pos) == Some(&b']') {
            self.pass();
            return Ok(());
        }
        loop {
            item(self)?;
            match self.bytes.get(self.pos) {
                Some(b',') => self.pass(),
                Some(b']') => {
                    self.pass();
                    return Ok(());
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// Passes any value; returns its measures if it was a string.
    ///
    /// # Errors
    /// Fails at the first byte that is not JSON; the fault says where and why.
    #[inline]
    pub fn string_or_skip(&mut self) -> Result<Option<StringLiteral>, JsonFault> {
        if self.bytes.get(self.pos) == Some(&b'"') {
            self.string().map(Some)
        } else {
            self.skip().map(|()| None)
        }
    }

    /// Passes any value; returns whether it was `true`.
    ///
    /// # Errors
    /// Fails at the first byte that is not JSON; the fault says where and why.
    #[inline]
    pub fn is_true(&mut self) -> Result<bool, JsonFault> {
        let is_true = self.peek()? == JsonKind::True;
        self.skip()?;
        Ok(is_true)
    }

    /// Passes any value; returns its whole part if it was a number that is not negative.
    ///
    /// # Errors
    /// Fails at the first byte that is not JSON; the fault says where and why.
    pub fn count_or_skip(&mut self) -> Result<Option<u64>, JsonFault> {
        if self.peek()? != JsonKind::Number {
            return self.skip().map(|()| None);
        }
        let (start, end) = self.number()?;
        let digits = &self.bytes[start..end];
        if digits.len() <= 18 && digits.iter().all(u8::is_ascii_digit) {
            let fold = |value, digit: &u8| value * 10 + u64::from(digit - b'0');
            return Ok(Some(digits.iter().fold(0, fold)));
        }
        let value = std::str::from_utf8(digits)
            .ok()
            .and_then(|text| text.parse::<f64>().ok())
            .filter(|value| *value >= 0.0);
        Ok(value.map(|value| value as u64))
    }

    /// Passes any value; returns the bytes it spans, without the white space after it.
    ///
    /// # Errors
    /// Fails at the first byte that is not JSON; the fault says where and why.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a [u8], JsonFault> {
        let start = self.pos;
        self.skip()?;
        Ok(self.bytes[start..self.pos].trim_ascii_end())
    }

    /// Succeeds if nothing but white space is left.
    ///
    /// # Errors
    /// Fails with the position of the first byte that is left.
    pub fn end(&self) -> Result<(), JsonFault> {
        if self.pos == self.bytes.len() {
            Ok(())
        } else {
            Err(JsonFault::new(self.pos, JsonFaultKind::TrailingBytes))
        }
    }
}
