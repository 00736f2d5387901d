//! Reads single fields of small objects inside a line that has been scanned: a boundary's metadata, a request prefix's
//! parts.

use std::borrow::Cow;
use std::ops::Range;

use super::{JsonCursor, text};

/// Looks up single fields of a small object that is known to be valid, such as a boundary's metadata.
///
/// Each lookup walks the object again: right for the few fields of rare entries, wrong for a hot path.
#[derive(Debug, Clone, Copy)]
pub struct ObjectReader<'a>(&'a [u8]);

impl<'a> ObjectReader<'a> {
    /// Wraps the bytes of an object.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The raw bytes of a field's value; the last value if the key is repeated.
    pub fn get(self, key: &str) -> Option<&'a [u8]> {
        let mut found = None;
        let mut cursor = JsonCursor::new(self.0);
        let walked = cursor.object(|cursor, name| {
            let value = cursor.raw()?;
            if name == key.as_bytes() {
                found = Some(value);
            }
            Ok(())
        });
        walked.ok().and(found)
    }

    /// The value of a field that is an object.
    pub fn object(self, key: &str) -> Option<ObjectReader<'a>> {
        self.get(key)
            .filter(|value| value.first() == Some(&b'{'))
            .map(ObjectReader)
    }

    /// The decoded value of a field that is a string.
    pub fn string(self, key: &str) -> Option<Cow<'a, str>> {
        text(self.get(key)?)
    }

    /// The whole part of a field that is a number.
    pub fn count(self, key: &str) -> Option<u64> {
        JsonCursor::new(self.get(key)?)
            .count_or_skip()
            .ok()
            .flatten()
    }

    /// The strings of a field that is an array; other items are skipped.
    pub fn strings(self, key: &str) -> Option<Vec<Cow<'a, str>>> {
        let items = items(self.get(key)?)?;
        Some(items.into_iter().filter_map(text).collect())
    }
}

/// The range at which a value that was found in some bytes lies in them.
pub(crate) fn place(whole: &[u8], value: &[u8]) -> Option<Range<usize>> {
    let start = (value.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(value.len())?;
    (end <= whole.len() && !value.is_empty()).then_some(start..end)
}

/// The raw items of a value that is an array.
pub fn items(raw: &[u8]) -> Option<Vec<&[u8]>> {
    let mut items = Vec::new();
    let mut cursor = JsonCursor::new(raw);
    let walked = cursor.array(|cursor| {
        items.push(cursor.raw()?);
        Ok(())
    });
    walked.ok().map(|()| items)
}
