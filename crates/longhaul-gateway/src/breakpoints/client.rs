//! How many cache breakpoints a client has set itself, and the longest lifetime that it asks for.
//!
//! They are counted while a body is recognized, part by part, so that what is known of an earlier request is not read
//! again. Which blocks have them does not matter here: `scan` finds that for requests whose breakpoints are changed.

use longhaul_core::json::{JsonCursor, JsonFault, JsonKind};
use longhaul_core::prompt::{MOST_MARKERS, Ttl};

use super::cache_control::{DEEPEST, marker};

/// A list and the blocks in it.
const BLOCKS: usize = 2;

/// How many cache breakpoints a client has set, and the longest lifetime that it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientBreakpoints {
    /// More than 255 count as 255.
    count: u8,
    longest: Option<Ttl>,
}

impl ClientBreakpoints {
    /// The breakpoints in a system prompt, or in the content of a message. The input of a call is not searched.
    pub fn in_content(raw: &[u8]) -> Self {
        Self::within(raw, BLOCKS + DEEPEST)
    }

    /// The breakpoints on the definitions of a list of tools. Their schemas are not searched.
    pub fn in_tools(raw: &[u8]) -> Self {
        Self::within(raw, BLOCKS)
    }

    /// The breakpoint that the provider sets, if the value of the request's own `cache_control` asks for that.
    pub fn automatic(value: &[u8]) -> Self {
        Self::default().and_one(value)
    }

    fn within(raw: &[u8], levels: usize) -> Self {
        let mut found = Self::default();
        // Most texts can be ruled out without parsing them.
        if memchr::memmem::find(raw, b"cache_control").is_some() {
            // The text was validated; of any other, what comes before the fault counts.
            _ = found.add_in(&mut JsonCursor::new(raw), levels);
        }
        found
    }

    /// Adds the breakpoints of a value, in so many levels of lists and objects.
    fn add_in(&mut self, cursor: &mut JsonCursor<'_>, levels: usize) -> Result<(), JsonFault> {
        let Some(below) = levels.checked_sub(1) else {
            return cursor.skip();
        };
        match cursor.peek()? {
            JsonKind::Array => cursor.array(|cursor| self.add_in(cursor, below)),
            JsonKind::Object => cursor.object(|cursor, key| match key {
                b"cache_control" => {
                    *self = self.and_one(cursor.raw()?);
                    Ok(())
                }
                b"content" | b"source" => self.add_in(cursor, below),
                _ => cursor.skip(),
            }),
            _ => cursor.skip(),
        }
    }

    fn and_one(self, value: &[u8]) -> Self {
        match marker(value).ttl {
            None => self,
            longest => self.and(Self { count: 1, longest }),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            longest: self.longest.max(other.longest),
        }
    }

    /// Whether there is any.
    pub fn are_set(self) -> bool {
        self.count > 0
    }

    /// Whether the API accepts one more.
    pub fn leave_one(self) -> bool {
        usize::from(self.count) < MOST_MARKERS
    }

    /// The longest lifetime among them.
    pub fn longest(self) -> Option<Ttl> {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(count: u8, longest: Option<Ttl>) -> ClientBreakpoints {
        ClientBreakpoints { count, longest }
    }

    #[test]
    fn b2_breakpoints_on_blocks_and_on_blocks_in_them_are_counted() {
        let content = br#"[
            {"type":"text","text":"\"cache_control\":1","cache_control":{"type":"ephemeral"}},
            {"type":"tool_result","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl": "1h"}}]},
            {"type":"text","text":"y","cache_control":null}]"#;
        let found_here = ClientBreakpoints::in_content(content);
        assert_eq!(found_here, found(2, Some(Ttl::OneHour)));
        let tools =
            br#"[{"name":"a","cache_control":{"type":"ephemeral","ttl":"5m"},"input_schema":{}}]"#;
        let found_here = ClientBreakpoints::in_tools(tools);
        assert_eq!(found_here, found(1, Some(Ttl::FiveMinutes)));
    }

    #[test]
    fn b2_inputs_and_schemas_have_no_breakpoints() {
        let marker = r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#;
        let call = format!(r#"[{{"type":"tool_use","id":"a","name":"b","input":{{{marker}}}}}]"#);
        let none = found(0, None);
        assert_eq!(ClientBreakpoints::in_content(call.as_bytes()), none);
        let tool = format!(
            r#"[{{"name":"a","input_schema":{{"properties":{{{marker}}},"content":[{{{marker}}}]}}}}]"#
        );
        assert_eq!(ClientBreakpoints::in_tools(tool.as_bytes()), none);
        assert_eq!(ClientBreakpoints::in_content(br#""cache_control""#), none);
        assert_eq!(ClientBreakpoints::automatic(b"null"), none);
    }

    #[test]
    fn b2_many_breakpoints_are_no_reason_to_count_wrongly() {
        let block = r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}"#;
        let list = format!("[{}]", vec![block; 300].join(","));
        let many = ClientBreakpoints::in_content(list.as_bytes());
        assert!(many.are_set() && !many.leave_one());
        assert_eq!(many.and(many).count, u8::MAX);
    }
}
