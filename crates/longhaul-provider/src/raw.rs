//! A JSON object as a list of its fields: their order stays, and each value keeps its original bytes.
//!
//! Replies are assembled from pieces, stored, and sent back to the API, which compares parts of them byte by byte. So
//! values are copied, never parsed and written again.

use std::borrow::Cow;
use std::fmt;

use longhaul_core::json::{self, JsonCursor, JsonFault};

/// The fields of an object, in order.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct RawObject {
    fields: Vec<(String, Vec<u8>)>,
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

impl RawObject {
    /// Splits an object into its fields. The bytes must be UTF-8.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, JsonFault> {
        let mut fields = Vec::new();
        let mut cursor = JsonCursor::new(bytes);
        cursor.object(|cursor, key| {
            let key = String::from_utf8_lossy(key).into_owned();
            fields.push((key, cursor.raw()?.to_vec()));
            Ok(())
        })?;
        cursor.end()?;
        Ok(Self { fields })
    }

    /// The value of a field; the last one if the key is repeated.
    pub(crate) fn get(&self, key: &str) -> Option<&[u8]> {
        let mut fields = self.fields.iter().rev();
        fields
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_slice())
    }

    /// A field that is a string, decoded.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        json::text(self.get(key)?)
    }

    /// Replaces the value of a field in place, or adds the field at the end.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Vec<u8>>) {
        let value = value.into();
        let mut fields = self.fields.iter_mut().rev();
        match fields.find(|(name, _)| name == key) {
            Some(field) => field.1 = value,
            None => self.fields.push((key.to_owned(), value)),
        }
    }

    /// Like [`RawObject::set`], unless the value is null and there is one already: a null in a later part of a stream
    /// does not override an earlier part.
    pub(crate) fn update(&mut self, key: &str, value: &[u8]) {
        if value != b"null" || self.get(key).is_none() {
            self.set(key, value);
        }
    }

    /// All fields in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let fields = self.fields.iter();
        fields.map(|(key, value)| (key.as_str(), value.as_slice()))
    }

    /// Writes the object without white space between its fields.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (at, (key, value)) in self.fields.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&json::quote(key));
            out.push(b':');
            out.extend_from_slice(value);
        }
        out.push(b'}');
    }

    /// The object as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

/// The items of an array; empty if it is not an array.
pub(crate) fn items(raw: &[u8]) -> Vec<&[u8]> {
    let mut items = Vec::new();
    let mut cursor = JsonCursor::new(raw);
    // A fault cannot occur: the callers pass values that were walked before.
    let _ = cursor.array(|cursor| {
        items.push(cursor.raw()?);
        Ok(())
    });
    items
}

/// Whether the bytes are one complete JSON object.
pub(crate) fn is_object(bytes: &[u8]) -> bool {
    let mut cursor = JsonCursor::new(bytes);
    bytes.trim_ascii_start().starts_with(b"{") && cursor.skip().and_then(|()| cursor.end()).is_ok()
}
