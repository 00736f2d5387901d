//! One element of `messages`, as far as the compaction code needs it: its role and its blocks.

use std::borrow::Cow;
use std::ops::Range;

use longhaul_core::json::{self, ObjectReader};

use super::splice::{items, value};
use crate::body::BodyRole;

/// An element and where its parts lie.
#[derive(Debug)]
pub(crate) struct ElementParts<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) role: BodyRole,
    /// The name of the role.
    pub(crate) role_name: Cow<'a, str>,
    /// The content; `None` if there is none.
    pub(crate) content: Option<Range<usize>>,
}

impl<'a> ElementParts<'a> {
    /// Reads an element; `None` if it is not an object with a role.
    pub(crate) fn read(text: &'a [u8]) -> Option<Self> {
        let role_name = ObjectReader::new(text).string("role")?;
        let content = value(text, 0..text.len(), "content");
        Some(Self {
            text,
            role: BodyRole::of(role_name.as_bytes()),
            role_name,
            content: content.filter(|place| text.get(place.clone()) != Some(b"null")),
        })
    }

    /// The content's bytes.
    pub(crate) fn content(&self) -> &'a [u8] {
        let place = self.content.clone();
        place
            .and_then(|place| self.text.get(place))
            .unwrap_or_default()
    }

    /// The blocks of the content; empty if it is a string.
    pub(crate) fn blocks(&self) -> Vec<Range<usize>> {
        let content = self.content.clone();
        let blocks = content.and_then(|content| items(self.text, content));
        blocks.unwrap_or_default()
    }

    /// A block's bytes as an object.
    pub(crate) fn block(&self, place: &Range<usize>) -> ObjectReader<'a> {
        ObjectReader::new(self.text.get(place.clone()).unwrap_or_default())
    }

    /// How many tool calls it makes, in either dialect.
    pub(crate) fn calls(&self) -> u64 {
        let blocks = self.blocks();
        let calls = blocks.iter().filter(|place| {
            let kind = self.block(place).string("type");
            kind.as_deref() == Some("tool_use")
        });
        let listed = self
            .field("tool_calls")
            .and_then(longhaul_core::json::items);
        let function = usize::from(self.field("function_call").is_some());
        (calls.count() + listed.unwrap_or_default().len() + function) as u64
    }

    /// A field of the element.
    pub(crate) fn field(&self, name: &str) -> Option<&'a [u8]> {
        let field = ObjectReader::new(self.text).get(name)?;
        (field != b"null").then_some(field)
    }
}

/// The text of a content in either form: a string, or blocks with a `text`, joined by line ends.
pub(crate) fn texts(content: &[u8]) -> String {
    if let Some(text) = json::text(content) {
        return text.into_owned();
    }
    let blocks = longhaul_core::json::items(content).unwrap_or_default();
    let texts = blocks.into_iter().filter_map(|block| {
        let block = ObjectReader::new(block);
        block.string("text").or_else(|| block.string("refusal"))
    });
    texts.collect::<Vec<_>>().join("\n")
}
