//! One object of a request, split once: its fields in order, each with the bytes of its value.

use std::borrow::Cow;

use crate::json::{JsonCursor, JsonFault, text};

/// The fields of an object.
pub(super) struct JsonFields<'a>(pub(super) Vec<(Box<[u8]>, &'a [u8])>);

impl<'a> JsonFields<'a> {
    /// Splits an object into its fields.
    pub(super) fn of(raw: &'a [u8]) -> Result<Self, JsonFault> {
        let mut fields = Vec::with_capacity(8);
        JsonCursor::new(raw).object(|cursor, key| {
            let key: Box<[u8]> = key.into();
            fields.push((key, cursor.raw()?));
            Ok(())
        })?;
        Ok(Self(fields))
    }

    /// The value of a field; the last one if the key is repeated, none if it is null.
    pub(super) fn get(&self, key: &str) -> Option<&'a [u8]> {
        let mut matching = self.0.iter().rev();
        let (_, value) = matching.find(|(name, _)| **name == *key.as_bytes())?;
        (*value != b"null").then_some(*value)
    }

    /// The value of a field that is a string.
    pub(super) fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        text(self.get(key)?)
    }

    /// Whether a field is `true`.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some(b"true")
    }
}

/// The items of a value that is an array.
pub(super) fn items(raw: &[u8]) -> Result<Vec<&[u8]>, JsonFault> {
    let mut items = Vec::new();
    JsonCursor::new(raw).array(|cursor| {
        items.push(cursor.raw()?);
        Ok(())
    })?;
    Ok(items)
}
