//! One element of `messages`, as far as the compaction code needs it: its role and its blocks, and the calls and results in it,
//! in either dialect.

use std::borrow::Cow;
use std::ops::Range;

use longhaul_core::json::{self, ObjectReader};
use longhaul_core::reduce::reports_failure;
use longhaul_provider::Dialect;

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

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct ElementCall<'a> {
    pub(crate) id: Cow<'a, str>,
    /// The name of the tool.
    pub(crate) name: Cow<'a, str>,
    input: CallInput<'a>,
}

/// The input of a call, as the two dialects write it.
#[derive(Debug)]
enum CallInput<'a> {
    Object(&'a [u8]),
    /// An object in a string.
    Text(Cow<'a, str>),
}

impl ElementCall<'_> {
    /// The input; what is no object has no fields.
    pub(crate) fn input(&self) -> ObjectReader<'_> {
        ObjectReader::new(match &self.input {
            CallInput::Object(raw) => raw,
            CallInput::Text(text) => text.as_bytes(),
        })
    }
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct ElementResult<'a> {
    /// The id of the call that it answers.
    pub(crate) call: Cow<'a, str>,
    /// Where its content lies in the element.
    pub(crate) content: Option<Range<usize>>,
    /// Whether the call failed, as the API or, where that has no field for it, the text says.
    pub(crate) failed: bool,
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

    /// The calls that it makes, in either dialect.
    pub(crate) fn calls(&self) -> Vec<ElementCall<'a>> {
        let blocks = self.blocks();
        let blocks = blocks.iter().filter_map(|place| {
            let block = self.block(place);
            let is_call = block.string("type").as_deref() == Some("tool_use");
            let id = block.string("id").filter(|_| is_call)?;
            Some(ElementCall {
                id,
                name: block.string("name")?,
                input: CallInput::Object(block.get("input").unwrap_or_default()),
            })
        });
        let listed = self.field("tool_calls").and_then(json::items);
        let listed = listed.unwrap_or_default().into_iter().filter_map(|call| {
            let call = ObjectReader::new(call);
            let function = call.object("function")?;
            Some(ElementCall {
                id: call.string("id")?,
                name: function.string("name")?,
                input: CallInput::Text(function.string("arguments").unwrap_or_default()),
            })
        });
        blocks.chain(listed).collect()
    }

    /// The results that it holds.
    pub(crate) fn results(&self, dialect: Dialect) -> Vec<ElementResult<'a>> {
        match dialect {
            Dialect::Anthropic => {
                let blocks = self.blocks().into_iter().filter_map(|place| {
                    let block = self.block(&place);
                    let is_result = block.string("type").as_deref() == Some("tool_result");
                    let call = block.string("tool_use_id").filter(|_| is_result)?;
                    Some(ElementResult {
                        call,
                        content: value(self.text, place, "content"),
                        failed: block.get("is_error") == Some(&b"true"[..]),
                    })
                });
                blocks.collect()
            }
            Dialect::OpenAi => {
                let call = self.field("tool_call_id").and_then(json::text);
                let call = call.filter(|_| self.role_name == "tool");
                let result = call.map(|call| ElementResult {
                    call,
                    content: self.content.clone(),
                    failed: reports_failure(&texts(self.content())),
                });
                result.into_iter().collect()
            }
        }
    }

    /// How many calls it makes, in either dialect and in the form that preceded lists of calls.
    pub(crate) fn call_count(&self) -> u64 {
        let blocks = self.blocks();
        let calls = blocks.iter().filter(|place| {
            let kind = self.block(place).string("type");
            kind.as_deref() == Some("tool_use")
        });
        let listed = self.field("tool_calls").and_then(json::items);
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
    let blocks = json::items(content).unwrap_or_default();
    let texts = blocks.into_iter().filter_map(|block| {
        let block = ObjectReader::new(block);
        block.string("text").or_else(|| block.string("refusal"))
    });
    texts.collect::<Vec<_>>().join("\n")
}
