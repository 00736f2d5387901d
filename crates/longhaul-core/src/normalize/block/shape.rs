//! Defines the shape that a value must have to be sent, and changes values to fit: fields that the API does not know
//! are left out, and so are optional fields with a wrong value. A value that cannot be changed to fit is a
//! [`ShapeMismatch`].

use std::borrow::Cow;

use super::shape_mismatch::ShapeMismatch;
use super::sound::mended;
use crate::json::{JsonCursor, JsonKind};

/// The shape that a value must have.
#[derive(Debug)]
pub(super) enum FieldShape {
    /// Any value.
    Any,
    /// A string.
    Text,
    /// A string that is more than white space.
    Filled,
    /// True or false.
    Bool,
    /// An object with any fields.
    Object,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A string that this function accepts.
    Made(fn(&str) -> bool),
    /// A list of values of this shape.
    List(&'static FieldShape),
    /// A string with more than white space, or else a value of this shape.
    FilledOr(&'static FieldShape),
    /// An object with these fields.
    Record(&'static [BlockFieldSpec]),
    /// An object whose `type` says which fields it has.
    Tagged(&'static [(&'static str, &'static [BlockFieldSpec])]),
}

/// Whether a field must be present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldNeed {
    Required,
    Optional,
    /// The field may be missing or null.
    Nullable,
}

/// A field of an object.
#[derive(Debug)]
pub(super) struct BlockFieldSpec {
    pub(super) name: &'static str,
    pub(super) shape: &'static FieldShape,
    pub(super) need: FieldNeed,
}

/// Returns a field that must be present.
pub(super) const fn required(name: &'static str, shape: &'static FieldShape) -> BlockFieldSpec {
    BlockFieldSpec {
        name,
        shape,
        need: FieldNeed::Required,
    }
}

/// Returns a field that may be missing.
pub(super) const fn optional(name: &'static str, shape: &'static FieldShape) -> BlockFieldSpec {
    BlockFieldSpec {
        name,
        shape,
        need: FieldNeed::Optional,
    }
}

/// Returns a field that may be missing or null.
pub(super) const fn nullable(name: &'static str, shape: &'static FieldShape) -> BlockFieldSpec {
    BlockFieldSpec {
        name,
        shape,
        need: FieldNeed::Nullable,
    }
}

/// Returns the value in a form that can be sent; borrowed if it needs no change.
pub(super) fn fit<'a>(raw: &'a [u8], shape: &FieldShape) -> Result<Cow<'a, [u8]>, ShapeMismatch> {
    let kind = JsonCursor::new(raw).peek().map_err(|_| ShapeMismatch)?;
    match (shape, kind) {
        (FieldShape::Any, _)
        | (FieldShape::Text, JsonKind::String)
        | (FieldShape::Object, JsonKind::Object) => mended(raw),
        (FieldShape::Filled | FieldShape::FilledOr(_), JsonKind::String) => {
            if is_blank(raw) {
                Err(ShapeMismatch)
            } else {
                mended(raw)
            }
        }
        (FieldShape::Bool, JsonKind::True | JsonKind::False) => Ok(Cow::Borrowed(raw)),
        (FieldShape::OneOf(choices), JsonKind::String) => {
            if choices.contains(&&*text(raw)) {
                Ok(Cow::Borrowed(raw))
            } else {
                Err(ShapeMismatch)
            }
        }
        (FieldShape::Made(is_made), JsonKind::String) => {
            if is_made(&text(raw)) {
                Ok(Cow::Borrowed(raw))
            } else {
                Err(ShapeMismatch)
            }
        }
        (FieldShape::FilledOr(other), _) => fit(raw, other),
        (FieldShape::List(item), JsonKind::Array) => list(raw, item),
        (FieldShape::Record(fields), JsonKind::Object) => {
            record(raw, fields, |field, value| fit(value, field.shape))
        }
        (FieldShape::Tagged(kinds), JsonKind::Object) => {
            let tag = crate::json::ObjectReader::new(raw)
                .string("type")
                .ok_or(ShapeMismatch)?;
            let (_, fields) = kinds
                .iter()
                .find(|(name, _)| *name == tag)
                .ok_or(ShapeMismatch)?;
            record(raw, fields, |field, value| fit(value, field.shape))
        }
        _ => Err(ShapeMismatch),
    }
}

fn list<'a>(raw: &'a [u8], shape: &FieldShape) -> Result<Cow<'a, [u8]>, ShapeMismatch> {
    let items = crate::json::items(raw).ok_or(ShapeMismatch)?;
    let items: Vec<Cow<'a, [u8]>> = items
        .into_iter()
        .map(|item| fit(item, shape))
        .collect::<Result<_, _>>()?;
    Ok(joined(raw, &items))
}

/// Returns a list of these items; borrowed if no item was changed. No item may have been left out.
fn joined<'a>(raw: &'a [u8], items: &[Cow<'a, [u8]>]) -> Cow<'a, [u8]> {
    let is_same = |item: &Cow<'_, [u8]>| matches!(item, Cow::Borrowed(_));
    if items.iter().all(is_same) {
        Cow::Borrowed(raw)
    } else {
        Cow::Owned(list_of(items))
    }
}

/// Writes a list: `[…]`.
pub(super) fn list_of<T: AsRef<[u8]>>(items: &[T]) -> Vec<u8> {
    let size = items
        .iter()
        .map(|item| item.as_ref().len() + 1)
        .sum::<usize>();
    let mut list = Vec::with_capacity(size + 2);
    list.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            list.push(b',');
        }
        list.extend_from_slice(item.as_ref());
    }
    list.push(b']');
    list
}

/// Returns an object with its `type` and these fields, each changed to fit by `fit`. If a field is repeated, the last
/// one counts.
pub(super) fn record<'a>(
    raw: &'a [u8],
    fields: &'static [BlockFieldSpec],
    mut fit: impl FnMut(&'static BlockFieldSpec, &'a [u8]) -> Result<Cow<'a, [u8]>, ShapeMismatch>,
) -> Result<Cow<'a, [u8]>, ShapeMismatch> {
    let mut found: Vec<(&str, Cow<'a, [u8]>)> = Vec::with_capacity(fields.len() + 1);
    let mut is_same = true;
    let mut failed = false;
    let mut cursor = JsonCursor::new(raw);
    let walked = cursor.object(|cursor, key| {
        let value = cursor.raw()?;
        let known = fields.iter().find(|field| field.name.as_bytes() == key);
        let (name, fitting) = match known {
            _ if key == b"type" => ("type", Ok(Cow::Borrowed(value))),
            Some(field) if field.need == FieldNeed::Nullable && value == b"null" => {
                (field.name, Ok(Cow::Borrowed(value)))
            }
            Some(field) => (field.name, fit(field, value)),
            None => {
                is_same = false;
                return Ok(());
            }
        };
        let repeated = found.iter().position(|(other, _)| *other == name);
        if let Some(repeated) = repeated {
            found.remove(repeated);
            is_same = false;
        }
        match fitting {
            Ok(value) => {
                is_same &= matches!(value, Cow::Borrowed(_));
                found.push((name, value));
            }
            Err(ShapeMismatch) => {
                is_same = false;
                failed |= known.is_none_or(|field| field.need == FieldNeed::Required);
            }
        }
        Ok(())
    });
    let is_there = |field: &BlockFieldSpec| found.iter().any(|(name, _)| *name == field.name);
    let lacks = |field: &BlockFieldSpec| field.need == FieldNeed::Required && !is_there(field);
    if walked.is_err() || failed || fields.iter().any(lacks) {
        return Err(ShapeMismatch);
    }
    Ok(if is_same {
        Cow::Borrowed(raw)
    } else {
        Cow::Owned(object_of(&found))
    })
}

/// Writes an object: `{…}`. The names must not need escapes.
pub(super) fn object_of(fields: &[(&str, Cow<'_, [u8]>)]) -> Vec<u8> {
    let size = fields
        .iter()
        .map(|(name, value)| name.len() + value.len() + 4);
    let mut object = Vec::with_capacity(size.sum::<usize>() + 2);
    object.push(b'{');
    for (index, (name, value)) in fields.iter().enumerate() {
        object.extend_from_slice(if index > 0 { b",\"" } else { b"\"" });
        object.extend_from_slice(name.as_bytes());
        object.extend_from_slice(b"\":");
        object.extend_from_slice(value);
    }
    object.push(b'}');
    object
}

/// Whether a string value is only white space. Stops at the first other character.
fn is_blank(raw: &[u8]) -> bool {
    let mut rest = &raw[1..raw.len() - 1];
    loop {
        rest = match rest {
            [] => return true,
            [b' ', rest @ ..] | [b'\\', b'n' | b'r' | b't', rest @ ..] => rest,
            [b'\\', b'u', ..] | [0x80..=0xFF, ..] => {
                return crate::json::decode(rest).trim().is_empty();
            }
            _ => return false,
        };
    }
}

/// Returns the text of a string value.
pub(super) fn text(raw: &[u8]) -> Cow<'_, str> {
    crate::json::text(raw).unwrap_or_default()
}
