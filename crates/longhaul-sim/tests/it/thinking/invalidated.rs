//! Changes of a conversation that make its thinking invalid.

use super::*;

#[test]
fn n2_editing_reordering_or_deleting_an_earlier_message_invalidates() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.messages()[0]["content"] = "Look at a, b, c and d.".into();
    talk.invalid("messages.1.content.0");

    let mut talk = Talk::three_rounds(BOUND);
    let (first, second) = (talk.messages()[1].clone(), talk.messages()[3].clone());
    let (one, two) = (talk.messages()[2].clone(), talk.messages()[4].clone());
    talk.messages().splice(1..5, [second, two, first, one]);
    talk.invalid("messages.1.content.0");

    let mut talk = Talk::three_rounds(BOUND);
    talk.messages().drain(1..3);
    talk.invalid("messages.1.content.0");
}

#[test]
fn n2_clearing_or_shortening_an_old_result_invalidates_what_follows() {
    for content in ["[cleared]", "contents", ""] {
        let mut talk = Talk::three_rounds(BOUND);
        talk.messages()[2]["content"][0]["content"] = content.into();
        talk.invalid("messages.3.content.0");
    }
}

#[test]
fn n2_a_re_encoded_image_invalidates() {
    let image = |data: &str| json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]);
    let mut talk = Talk::new(BOUND);
    talk.user(image("AAAA"));
    talk.reply(&[
        json!({"type": "thinking", "thinking": "A picture."}),
        json!({"type": "text", "text": "I see."}),
    ]);
    talk.user(json!("Do you?"));
    talk.valid();
    talk.messages()[0]["content"] = image("BBBB");
    talk.invalid("messages.1.content.0");
}

#[test]
fn n2_a_changed_input_of_a_call_invalidates() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.messages()[1]["content"][1]["input"]["lines"] = 6.into();
    talk.invalid("messages.3.content.0");
}

#[test]
fn n2_reminders_put_into_or_taken_from_earlier_turns_invalidate() {
    let mut talk = Talk::three_rounds(BOUND);
    let result = talk.messages()[2]["content"].as_array_mut().unwrap();
    result.push(json!({"type": "text", "text": "Remember the plan."}));
    talk.invalid("messages.3.content.0");

    let mut talk = Talk::new(BOUND);
    talk.user(json!([{"type": "text", "text": "Hello"}, {"type": "text", "text": "Remember."}]));
    talk.reply(&[
        json!({"type": "thinking", "thinking": "Yes."}),
        json!({"type": "text", "text": "Hello."}),
    ]);
    talk.user(json!("Go on."));
    talk.valid();
    talk.messages()[0]["content"].as_array_mut().unwrap().pop();
    talk.invalid("messages.1.content.0");
}

#[test]
fn n2_a_changed_system_prompt_or_tool_invalidates_from_the_first_block_on() {
    let edits: [fn(&mut Value); 5] = [
        |body| body["system"] = "Be long.".into(),
        |body| body["tools"][0]["description"] = "Reads files".into(),
        |body| body["tools"][0]["name"] = "cat".into(),
        |body| {
            let tools = body["tools"].as_array_mut().unwrap();
            tools.push(json!({"name": "new", "input_schema": {"type": "object"}}));
        },
        |body| body["tools"] = json!([{"name": "other", "input_schema": {"type": "object"}}]),
    ];
    for edit in edits {
        let mut talk = Talk::three_rounds(BOUND);
        edit(&mut talk.body);
        talk.invalid("messages.1.content.0");
    }
}

#[test]
fn n2_thinking_removed_from_the_middle_invalidates_what_follows() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.strip(&[3]);
    talk.invalid("messages.5.content.0");
}

#[test]
fn n2_thinking_that_was_removed_cannot_come_back() {
    for removed in [&[1][..], &[1, 3, 5]] {
        let mut talk = Talk::three_rounds(BOUND);
        let whole = talk.messages().clone();
        talk.strip(removed);
        talk.reply(&[
            json!({"type": "thinking", "thinking": "Without it."}),
            json!({"type": "text", "text": "So."}),
        ]);
        talk.user(json!("Go on."));
        talk.valid();
        talk.messages().splice(0..whole.len(), whole);
        talk.invalid("messages.7.content.0");
    }
}

#[test]
fn n2_thinking_made_after_an_edit_is_bound_to_the_edited_conversation() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.call = call(NEW, &[CONTROLS]);
    talk.body["thinking"] =
        json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}});
    talk.messages()[2]["content"][0]["content"] = "[cleared]".into();
    talk.reply(&[
        json!({"type": "thinking", "thinking": "It is gone."}),
        json!({"type": "text", "text": "Well."}),
    ]);
    talk.user(json!("Go on."));
    let dropped: Vec<Value> = talk
        .check()
        .unwrap()
        .transformations
        .iter()
        .map(|t| t.to_json())
        .collect();
    let entry = |path: &str| json!({"type": "thinking_dropped", "path": path, "reason": "prefix_binding_mismatch"});
    assert_eq!(
        dropped,
        [entry("messages.3.content.0"), entry("messages.5.content.0")]
    );
    // It makes no difference whether the dropped blocks are still sent.
    talk.strip(&[3, 5]);
    talk.valid();
}
