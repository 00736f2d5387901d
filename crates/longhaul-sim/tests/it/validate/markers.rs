//! Cache breakpoints.

use serde_json::{Value, json};

use super::{SONNET, admitted, refused, say, text, tool, use_of};

fn marked(ttl: Option<&str>) -> Value {
    match ttl {
        Some(ttl) => {
            json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}})
        }
        None => json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}),
    }
}

#[test]
fn at_most_four_markers_with_the_automatic_one() {
    let marks = |count: usize| {
        let mut blocks = vec![marked(None); count];
        blocks.push(text("last"));
        json!({"messages": [say("user", blocks.into())]})
    };
    admitted(SONNET, marks(4));
    refused(
        SONNET,
        marks(5),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    let mut automatic = marks(3);
    automatic["cache_control"] = json!({"type": "ephemeral"});
    admitted(SONNET, automatic);
    let mut automatic = marks(4);
    automatic["cache_control"] = json!({"type": "ephemeral"});
    refused(
        SONNET,
        automatic.clone(),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    // On a block with the same breakpoint, the automatic one is not counted separately.
    automatic["messages"][0]["content"]
        .as_array_mut()
        .unwrap()
        .pop();
    admitted(SONNET, automatic);
    // Breakpoints count everywhere: in tools, in system, and inside results.
    let mut tools = tool("read");
    tools["cache_control"] = json!({"type": "ephemeral"});
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": [marked(None), marked(None)]}, marked(None)]);
    refused(
        SONNET,
        json!({
            "tools": [tools],
            "system": [marked(None)],
            "messages": [say("user", json!("a")), say("assistant", json!([use_of("t1")])), say("user", result)],
        }),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
}

#[test]
fn long_lived_markers_stand_before_short_lived_ones() {
    let order = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
    let say_marks = |marks: &[Value]| json!({"messages": [say("user", marks.into())]});
    admitted(SONNET, say_marks(&[marked(Some("1h")), marked(Some("5m"))]));
    refused(
        SONNET,
        say_marks(&[marked(None), marked(Some("1h"))]),
        &format!("messages.0.content.1.cache_control.ttl: {order}"),
    );
    let mut tools = tool("read");
    tools["cache_control"] = json!({"type": "ephemeral"});
    refused(
        SONNET,
        json!({"tools": [tools], "system": [marked(Some("1h"))]}),
        &format!("system.0.cache_control.ttl: {order}"),
    );
    refused(
        SONNET,
        json!({"system": [marked(None)], "cache_control": {"type": "ephemeral", "ttl": "1h"}}),
        &format!("cache_control.ttl: {order}"),
    );
    refused(
        SONNET,
        say_marks(&[marked(Some("2h"))]),
        "messages.0.content.0.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    );
    refused(
        SONNET,
        say_marks(&[json!({"type": "text", "text": "x", "cache_control": {"type": "forever"}})]),
        "messages.0.content.0.text.cache_control: Input tag 'forever' found using 'type' does not match any of the expected tags: 'ephemeral'",
    );
}

#[test]
fn automatic_caching_must_agree_with_the_block_it_falls_on() {
    let mut more = json!({
        "messages": [say("user", json!([marked(Some("1h"))]))],
        "cache_control": {"type": "ephemeral"},
    });
    refused(
        SONNET,
        more.clone(),
        "Top-level cache_control has ttl='5m' but the target block already has cache_control with ttl='1h'. When both are specified on the same block, they must have matching TTLs.",
    );
    more["cache_control"]["ttl"] = "1h".into();
    admitted(SONNET, more);
}
