//! What makes two blocks or tools the same to the provider: their canonical form, hashed.
//!
//! White space, string escapes and `cache_control` do not count. Neither do the order of keys in objects that the API
//! itself defines, a field that is null, a field with its default value, or whether a tool result's text is sent as a
//! string or as a block. Content that goes to the model as it was sent counts to the letter: inside `tool_use.input`
//! and a tool's `input_schema` the order of keys is kept. `thinking` and the cache chain the hashes into prefixes.

use std::collections::BTreeMap;

use longhaul_core::xxh3::Xxh3_128;
use serde_json::value::RawValue;

use super::{ApiBlock, ApiTool};

/// The depth to which the API's own objects are taken apart; anything deeper counts as it was sent.
const DEEPEST: usize = 16;

/// The fields of a block or a tool whose value is the client's own, not the API's.
const AS_SENT: [&str; 2] = ["input", "input_schema"];

/// Fields that are not part of the content, whatever their value.
const LEFT_OUT: [&str; 2] = ["cache_control", "defer_loading"];

/// Fields that have no effect with this value.
const DEFAULTS: [(&str, &str); 3] = [
    ("is_error", "false"),
    ("caller", r#"{"type":"direct"}"#),
    ("strict", "false"),
];

/// The identity of a content block: of a message, of `system` or of a tool result.
pub fn of_block(block: &ApiBlock) -> u128 {
    let mut hash = Xxh3_128::new();
    object(&mut hash, &block.raw, IdentityObject::Block, 0);
    hash.digest()
}

/// The identity of a tool definition. Whether the tool is deferred is not part of it.
pub(crate) fn of_tool(tool: &ApiTool) -> u128 {
    let mut hash = Xxh3_128::new();
    object(&mut hash, &tool.raw, IdentityObject::Tool, 0);
    hash.digest()
}

/// The kind of an object, which determines its defaults.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdentityObject {
    Block,
    Tool,
    Part,
}

fn object(hash: &mut Xxh3_128, raw: &str, owner: IdentityObject, depth: usize) {
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw) else {
        return as_sent(hash, raw);
    };
    hash.update(b"{");
    for (name, value) in &fields {
        let value = value.get();
        if says_nothing(name, value, owner) {
            continue;
        }
        string(hash, name.as_bytes());
        match AS_SENT.contains(&name.as_str()) {
            true => as_sent(hash, value),
            false
                if owner == IdentityObject::Block
                    && name == "content"
                    && value.starts_with('"') =>
            {
                text_block(hash, value);
            }
            false => part(hash, value, depth + 1),
        }
    }
    hash.update(b"}");
}

fn part(hash: &mut Xxh3_128, raw: &str, depth: usize) {
    match raw.as_bytes().first() {
        Some(b'{') if depth < DEEPEST => object(hash, raw, IdentityObject::Part, depth),
        Some(b'[') if depth < DEEPEST => match serde_json::from_str::<Vec<&RawValue>>(raw) {
            Ok(items) => {
                hash.update(b"[");
                for item in items {
                    part(hash, item.get(), depth + 1);
                }
                hash.update(b"]");
            }
            Err(_) => as_sent(hash, raw),
        },
        _ => as_sent(hash, raw),
    }
}

/// A string in place of blocks counts as one text block.
fn text_block(hash: &mut Xxh3_128, text: &str) {
    hash.update(b"[{");
    string(hash, b"text");
    as_sent(hash, text);
    string(hash, b"type");
    string(hash, b"text");
    hash.update(b"}]");
}

fn says_nothing(name: &str, value: &str, owner: IdentityObject) -> bool {
    let default = || {
        (owner == IdentityObject::Tool && name == "type" && value == r#""custom""#)
            || DEFAULTS
                .iter()
                .any(|(field, default)| *field == name && without_space(value) == *default)
    };
    value == "null" || LEFT_OUT.contains(&name) || default()
}

fn without_space(value: &str) -> String {
    value.split_ascii_whitespace().collect()
}

fn string(hash: &mut Xxh3_128, decoded: &[u8]) {
    hash.update(b"\"");
    hash.update(&(decoded.len() as u64).to_le_bytes());
    hash.update(decoded);
}

/// Hashes valid JSON without its white space and with its strings decoded.
fn as_sent(hash: &mut Xxh3_128, raw: &str) {
    let bytes = raw.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(bytes, at);
                let quoted = raw.get(at..end).unwrap_or_default();
                let inside = quoted.get(1..quoted.len().saturating_sub(1));
                match inside {
                    Some(plain) if !plain.contains('\\') => string(hash, plain.as_bytes()),
                    // A lone surrogate cannot be decoded; it counts as written.
                    _ => match serde_json::from_str::<String>(quoted) {
                        Ok(text) => string(hash, text.as_bytes()),
                        Err(_) => string(hash, quoted.as_bytes()),
                    },
                }
                at = end;
            }
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            other => {
                hash.update(&[other]);
                at += 1;
            }
        }
    }
}

/// The position after the closing quote of the string that opens here.
fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;
    use std::sync::Arc;

    fn block(raw: &str) -> u128 {
        of_block(&ApiBlock {
            kind: String::new(),
            fields: Map::new(),
            raw: Arc::from(raw),
            marker: None,
        })
    }

    fn tool(raw: &str) -> u128 {
        of_tool(&ApiTool {
            name: String::new(),
            kind: None,
            raw: Arc::from(raw),
            fields: Map::new(),
            deferred: false,
            marker: None,
        })
    }

    #[test]
    fn n7_markers_space_escapes_and_field_order_are_no_part_of_a_block() {
        let plain = block(r#"{"type":"text","text":"é"}"#);
        for same in [
            r#"{ "text" : "\u00e9", "type": "text" }"#,
            r#"{"type":"text","text":"é","cache_control":{"type":"ephemeral"},"citations":null}"#,
        ] {
            assert_eq!(plain, block(same), "{same}");
        }
        assert_ne!(plain, block(r#"{"type":"text","text":"e"}"#));
    }

    #[test]
    fn n7_a_result_sent_as_a_string_is_the_same_as_one_text_block() {
        let string = block(r#"{"type":"tool_result","tool_use_id":"a","content":"x\n"}"#);
        let list = r#"{"type":"tool_result","tool_use_id":"a","is_error": false,
            "content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"x\u000a"}]}"#;
        assert_eq!(string, block(list));
    }

    #[test]
    fn n7_key_order_counts_inside_a_tools_input_and_schema() {
        let ab = r#"{"type":"tool_use","id":"t","name":"n","input":{"a":1,"b":"x y"}}"#;
        let ba = r#"{"type":"tool_use","id":"t","name":"n","input":{"b":"x y","a":1}}"#;
        let spaced = r#"{"type":"tool_use","id":"t","name":"n","input":{ "a": 1, "b": "x y" }}"#;
        assert_ne!(block(ab), block(ba));
        assert_eq!(block(ab), block(spaced));
        let schema = tool(r#"{"name":"n","input_schema":{"type":"object","properties":{}}}"#);
        let turned = tool(r#"{"name":"n","input_schema":{"properties":{},"type":"object"}}"#);
        assert_ne!(schema, turned);
    }

    #[test]
    fn n7_a_tools_defaults_say_nothing() {
        let short = tool(r#"{"name":"n","input_schema":{"type":"object"}}"#);
        let long = r#"{"type":"custom","name":"n","description":null,"defer_loading":true,
            "input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}"#;
        assert_eq!(short, tool(long));
    }

    #[test]
    fn what_is_no_json_still_has_an_identity() {
        assert_ne!(block("{\"a"), block("{\"b\\"));
    }
}
