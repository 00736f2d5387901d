//! A walk over a JSON text that may begin in the middle of a list.
//!
//! The core's cursor walks whole values. To continue after an element that was recognized by its bytes, this walk
//! passes the commas and brackets between values, and gives each value to a cursor of its own.

use std::borrow::Cow;
use std::ops::Range;

use longhaul_core::json::{JsonCursor, JsonFault, JsonFaultKind, decode};

/// A position between values.
pub(super) struct JsonWalk<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> JsonWalk<'a> {
    pub(super) fn at(bytes: &'a [u8], pos: usize) -> Self {
        let mut walk = Self { bytes, pos };
        walk.skip_white();
        walk
    }

    fn skip_white(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.pos) {
            self.pos += 1;
        }
    }

    fn fault(&self) -> JsonFault {
        let kind = match self.bytes.get(self.pos) {
            Some(_) => JsonFaultKind::UnexpectedByte,
            None => JsonFaultKind::UnexpectedEnd,
        };
        JsonFault { at: self.pos, kind }
    }

    pub(super) fn position(&self) -> usize {
        self.pos
    }

    /// The next byte that is not white space.
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    /// Passes one structural byte, if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let comes = self.peek() == Some(byte);
        if comes {
            self.pos += 1;
            self.skip_white();
        }
        comes
    }

    /// Passes one structural byte that must come next.
    pub(super) fn pass(&mut self, byte: u8) -> Result<(), JsonFault> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.fault())
        }
    }

    /// Passes a value through `read`, which must consume all of it, and returns the span of the value.
    pub(super) fn value<T>(
        &mut self,
        read: impl FnOnce(&mut JsonCursor<'a>, usize) -> Result<T, JsonFault>,
    ) -> Result<(Range<usize>, T), JsonFault> {
        let start = self.pos;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let mut cursor = JsonCursor::new(rest);
        let told = read(&mut cursor, start).map_err(|fault| JsonFault {
            at: fault.at + start,
            ..fault
        })?;
        self.pos = start + cursor.position();
        let passed = self.bytes.get(start..self.pos).unwrap_or_default();
        Ok((start..start + passed.trim_ascii_end().len(), told))
    }

    /// Passes a key and its colon.
    pub(super) fn key(&mut self) -> Result<Cow<'a, [u8]>, JsonFault> {
        let (_, literal) = self.value(|cursor, start| {
            let literal = cursor.string()?;
            Ok((start + literal.start..start + literal.end, literal.escaped))
        })?;
        self.pass(b':')?;
        let raw = self.bytes.get(literal.0).unwrap_or_default();
        Ok(if literal.1 {
            Cow::Owned(decode(raw).into_owned().into_bytes())
        } else {
            Cow::Borrowed(raw)
        })
    }

    /// Succeeds if nothing is left of the text.
    pub(super) fn end(&self) -> Result<(), JsonFault> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(JsonFault {
                at: self.pos,
                kind: JsonFaultKind::TrailingBytes,
            }),
        }
    }
}
