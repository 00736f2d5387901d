//! The content of a message that the client sends back, taken apart from its beginning: first what belongs to hidden
//! rounds, then the rest.
//!
//! Clients send back what they were shown, and not always as they were shown it: thinking may be missing, texts may be
//! trimmed or joined. What cannot be told apart any more is left alone.

use std::borrow::Cow;
use std::collections::VecDeque;

use longhaul_core::json::{self, ObjectReader};

/// The blocks that are left.
pub(super) struct ClientBlocks<'a> {
    blocks: VecDeque<Cow<'a, [u8]>>,
}

/// Whether a block that the client was shown is among those it sent.
pub(super) enum ShownBlock {
    /// It is, and this is what the client made of it.
    Sent(Vec<u8>),
    /// It is not, and need not be.
    LeftOut,
    /// Something else is in its place.
    Changed,
}

impl<'a> ClientBlocks<'a> {
    /// The blocks of a content: a string, a list, or nothing.
    pub(super) fn of(content: &'a [u8]) -> Self {
        let blocks = match json::text(content) {
            Some(text) if text.is_empty() => VecDeque::new(),
            Some(text) => VecDeque::from([Cow::Owned(text_block(&text))]),
            None => {
                let items = json::items(content).unwrap_or_default().into_iter();
                items.map(Cow::Borrowed).collect()
            }
        };
        Self { blocks }
    }

    /// Takes the next block, which must be the shown one.
    pub(super) fn take(&mut self, shown: &[u8]) -> ShownBlock {
        // Text of white space alone is never stored: it would be refused.
        while self
            .blocks
            .front()
            .is_some_and(|block| is_blank(ObjectReader::new(block)))
        {
            self.blocks.pop_front();
        }
        let shown_block = ObjectReader::new(shown);
        let is_text = shown_block.string("type").as_deref() == Some("text");
        let Some(next) = self.blocks.front() else {
            return missing(shown_block);
        };
        let next_block = ObjectReader::new(next);
        if identity(shown_block) == identity(next_block) {
            let taken = self.blocks.pop_front().unwrap_or_default();
            return ShownBlock::Sent(taken.into_owned());
        }
        let (shown_text, next_text) = (shown_block.string("text"), next_block.string("text"));
        if let (true, Some(shown_text), Some(next_text)) = (is_text, shown_text, next_text)
            && !shown_text.trim().is_empty()
            && let Some(rest) = next_text.strip_prefix(&*shown_text)
        {
            // The client has joined the texts.
            let rest = text_block(rest);
            let taken = text_block(&shown_text);
            self.blocks.pop_front();
            self.blocks.push_front(Cow::Owned(rest));
            return ShownBlock::Sent(taken);
        }
        missing(shown_block)
    }

    /// The blocks that are left.
    pub(super) fn rest(self) -> Vec<Vec<u8>> {
        self.blocks.into_iter().map(Cow::into_owned).collect()
    }
}

fn missing(shown: ObjectReader<'_>) -> ShownBlock {
    match shown.string("type").as_deref() {
        Some("thinking" | "redacted_thinking") => ShownBlock::LeftOut,
        _ if is_blank(shown) => ShownBlock::LeftOut,
        _ => ShownBlock::Changed,
    }
}

/// Whether a block is a text of white space alone.
fn is_blank(block: ObjectReader<'_>) -> bool {
    block.string("type").as_deref() == Some("text")
        && (block.string("text")).is_none_or(|text| text.trim().is_empty())
}

/// What makes a block the one that was shown, whatever else the client adds to it or leaves out.
fn identity(block: ObjectReader<'_>) -> (String, String) {
    let kind = block.string("type").unwrap_or_default().into_owned();
    let named = match &*kind {
        "text" => ["text"; 2],
        "thinking" => ["signature", "thinking"],
        "redacted_thinking" => ["data"; 2],
        _ => ["id", "tool_use_id"],
    };
    let value = named.iter().find_map(|name| block.string(name));
    let value = value.unwrap_or_default();
    (kind, value.trim().to_owned())
}

/// A block with a text.
pub(super) fn text_block(text: &str) -> Vec<u8> {
    let mut block = br#"{"type":"text","text":"#.to_vec();
    block.extend(json::quote(text));
    block.push(b'}');
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(content: &str, shown: &[&str]) -> Option<Vec<String>> {
        let mut blocks = ClientBlocks::of(content.as_bytes());
        for block in shown {
            if matches!(blocks.take(block.as_bytes()), ShownBlock::Changed) {
                return None;
            }
        }
        let rest = blocks.rest().into_iter();
        Some(
            rest.map(|block| String::from_utf8(block).unwrap())
                .collect(),
        )
    }

    #[test]
    fn what_was_shown_is_found_again_though_the_client_changed_its_form() {
        let text = r#"{"type":"text","text":"Let me look. "}"#;
        let thought = r#"{"type":"thinking","thinking":"hm","signature":"s1"}"#;
        let rest = r#"{"type":"text","text":"Found."}"#;
        let expected = Some(vec![rest.to_owned()]);
        assert_eq!(
            taken(&format!("[{thought},{text},{rest}]"), &[thought, text]),
            expected
        );
        assert_eq!(
            taken(&format!("[{text},{rest}]"), &[thought, text]),
            expected
        );
        let trimmed = r#"{"type":"text","text":"Let me look.","citations":null}"#;
        assert_eq!(taken(&format!("[{trimmed},{rest}]"), &[text]), expected);
        assert_eq!(taken(r#""Let me look. Found.""#, &[text]), expected);
        let blank = r#"{"type":"text","text":"\n\n"}"#;
        assert_eq!(
            taken(
                &format!("[{blank},{text},{blank},{rest}]"),
                &[text, thought]
            ),
            expected
        );
        assert_eq!(taken(r#""Something else.""#, &[text]), None);
        assert_eq!(taken("[]", &[text]), None);
        assert_eq!(taken("null", &[thought]), Some(Vec::new()));
    }
}
