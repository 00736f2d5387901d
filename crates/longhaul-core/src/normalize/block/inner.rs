//! The content of a result: a text, or a list of blocks of a few types.

use std::borrow::Cow;

use super::content;
use super::shape::{FieldShape, fit, list_of, record};
use super::shape_mismatch::ShapeMismatch;
use super::{picture, text};
use crate::json::{JsonCursor, JsonKind, ObjectReader, items};
use crate::normalize::images::ImageCounter;
use crate::normalize::options::RenderRules;
use crate::normalize::piece::{push_string, text_block};

pub(super) fn is(item: &[u8], kind: &str) -> bool {
    item.first() == Some(&b'{')
        && ObjectReader::new(item)
            .string("type")
            .is_some_and(|name| name == kind)
}

/// Returns the text of an item that is text.
pub(super) fn text_item(item: &[u8]) -> Option<Cow<'_, str>> {
    if is(item, "text") {
        ObjectReader::new(item).string("text")
    } else {
        None
    }
}

/// Whether a result holds more than text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultContentKind {
    Text,
    More,
}

/// A result's content as it is sent.
pub(super) struct ResultContent<'a> {
    pub(super) json: Cow<'a, [u8]>,
    pub(super) shows: ResultContentKind,
}

impl<'a> ResultContent<'a> {
    /// Renders a result's content. If there is nothing to send, it is a mismatch and the field is left out.
    pub(super) fn of(
        raw: &'a [u8],
        rules: &RenderRules,
        images: &mut ImageCounter,
    ) -> Result<Self, ShapeMismatch> {
        let plain = |json| Self {
            json,
            shows: ResultContentKind::Text,
        };
        match JsonCursor::new(raw).peek().map_err(|_| ShapeMismatch)? {
            JsonKind::String => fit(raw, &FieldShape::Filled).map(plain),
            JsonKind::Array => Self::of_list(raw, rules, images),
            JsonKind::Null => Err(ShapeMismatch),
            _ => Ok(plain(Cow::Owned(string(&String::from_utf8_lossy(raw))))),
        }
    }

    fn of_list(
        raw: &'a [u8],
        rules: &RenderRules,
        images: &mut ImageCounter,
    ) -> Result<Self, ShapeMismatch> {
        let mut shows = ResultContentKind::Text;
        let items = items(raw).unwrap_or_default();
        let mut is_same = true;
        let mut sent: Vec<Cow<'a, [u8]>> = Vec::with_capacity(items.len());
        for item in items {
            let Some((json, part)) = inner(item, rules, images) else {
                is_same = false;
                continue;
            };
            is_same &= matches!(json, Cow::Borrowed(_));
            if part == ResultContentKind::More {
                shows = part;
            }
            sent.push(json);
        }
        let json = if is_same {
            Cow::Borrowed(raw)
        } else {
            Cow::Owned(list_of(&sent))
        };
        if sent.is_empty() {
            Err(ShapeMismatch)
        } else {
            Ok(Self { json, shows })
        }
    }
}

/// Renders an item of a result's list and says which kind of content it is. Returns `None` if the item is empty.
fn inner<'a>(
    item: &'a [u8],
    rules: &RenderRules,
    images: &mut ImageCounter,
) -> Option<(Cow<'a, [u8]>, ResultContentKind)> {
    if item.first() == Some(&b'"') {
        let text = fit(item, &FieldShape::Filled).ok()?;
        let json = [br#"{"type":"text","text":"#, &*text, b"}"].concat();
        return Some((Cow::Owned(json), ResultContentKind::Text));
    }
    if text_item(item).is_some_and(|text| text.trim().is_empty()) {
        return None;
    }
    let name = match item.first() {
        Some(b'{') => ObjectReader::new(item).string("type"),
        _ => None,
    };
    let fields = match name.as_deref() {
        Some("text") => Some(content::USER_TEXT),
        Some("search_result") => Some(content::SEARCH_RESULT),
        Some("document") => Some(content::DOCUMENT),
        Some("tool_reference") => {
            let tool = ObjectReader::new(item)
                .string("tool_name")
                .unwrap_or_default();
            rules
                .tools
                .contains(&*tool)
                .then_some(content::TOOL_REFERENCE)
        }
        _ => None,
    };
    let json = match (fields, name.as_deref()) {
        (Some(fields), _) => record(item, fields, |field, value| fit(value, field.shape)),
        (None, Some("image")) => picture::judged(item, images),
        _ => Err(ShapeMismatch),
    };
    let shows = match name.as_deref() {
        Some("text") => ResultContentKind::Text,
        _ => ResultContentKind::More,
    };
    Some(match json {
        Ok(json) => (json, shows),
        Err(ShapeMismatch) => (
            Cow::Owned(text_block(&text::wrapped(item))),
            ResultContentKind::Text,
        ),
    })
}

/// Returns a text as a JSON string.
pub(super) fn string(text: &str) -> Vec<u8> {
    let mut json = Vec::with_capacity(text.len() + 2);
    push_string(&mut json, text);
    json
}
