//! The thinking of the newest turn must come back as it was sent.

use super::*;

#[test]
fn n2_the_latest_turns_thinking_cannot_be_modified() {
    let mut talk = Talk::three_rounds("claude-opus-5");
    talk.messages()[5]["content"][0]["thinking"] = "Now something else.".into();
    assert_eq!(
        talk.check().unwrap_err().message,
        format!("messages.5.content.0: {MODIFIED}")
    );

    let mut talk = Talk::three_rounds("claude-opus-5");
    talk.messages()[1]["content"][0]["thinking"] = "Now something else.".into();
    let error = talk.check().unwrap_err();
    assert_eq!(
        error.message,
        "messages.1.content.0: Invalid `signature` in `thinking` block"
    );
}

#[test]
fn n2_the_latest_turns_thinking_must_be_whole_and_in_order() {
    let mut talk = Talk::new("claude-opus-5");
    talk.user(json!("Look."));
    talk.reply(&[
        json!({"type": "thinking", "thinking": "One."}),
        json!({"type": "thinking", "thinking": "Two."}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}),
    ]);
    talk.user(json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]));
    talk.valid();
    let content = |talk: &mut Talk| {
        talk.messages()[1]["content"]
            .as_array_mut()
            .unwrap()
            .clone()
    };
    let blocks = content(&mut talk);
    talk.messages()[1]["content"] = json!([blocks[1], blocks[0], blocks[2]]);
    assert_eq!(
        talk.check().unwrap_err().message,
        format!("messages.1.content.0: {MODIFIED}")
    );
    talk.messages()[1]["content"] = json!([blocks[1], blocks[2]]);
    assert_eq!(
        talk.check().unwrap_err().message,
        format!("messages.1.content.0: {MODIFIED}")
    );
    // A reply without any thinking is a different case.
    talk.messages()[1]["content"] = json!([blocks[2]]);
    talk.valid();
}
