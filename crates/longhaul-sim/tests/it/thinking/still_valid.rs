//! Changes of a conversation that keep its thinking valid.

use super::*;

#[test]
fn n2_appending_keeps_thinking_valid() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.valid();
    talk.reply(&[json!({"type": "text", "text": "Done."})]);
    talk.user(json!("And d?"));
    talk.valid();
}

#[test]
fn n2_a_deferred_tool_that_nothing_refers_to_may_be_added() {
    let mut talk = Talk::three_rounds(BOUND);
    let tools = talk.body["tools"].as_array_mut().unwrap();
    tools.push(
        json!({"name": "much_later", "defer_loading": true, "input_schema": {"type": "object"}}),
    );
    talk.valid();
}

#[test]
fn n2_a_deferred_tool_that_was_loaded_must_stay_as_it_is() {
    let mut talk = Talk::new(BOUND);
    talk.user(json!("Find a tool."));
    talk.reply(&[json!({"type": "tool_use", "id": "toolu_s", "name": "read", "input": {}})]);
    let reference = json!([{"type": "tool_reference", "tool_name": "later"}]);
    talk.user(json!([{"type": "tool_result", "tool_use_id": "toolu_s", "content": reference}]));
    talk.reply(&[
        json!({"type": "thinking", "thinking": "There it is."}),
        json!({"type": "text", "text": "Found."}),
    ]);
    talk.user(json!("Good."));
    talk.valid();
    talk.body["tools"][1]["description"] = "changed".into();
    talk.invalid("messages.3.content.0");
}

#[test]
fn n2_thinking_may_be_removed_from_the_start_the_end_or_altogether() {
    for removed in [&[1][..], &[1, 3], &[1, 3, 5], &[5], &[3, 5]] {
        let mut talk = Talk::three_rounds(BOUND);
        talk.strip(removed);
        talk.valid();
    }
}

#[test]
fn n2_parameters_outside_the_prefix_may_change() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.body["max_tokens"] = 2000.into();
    talk.body["output_config"] = json!({"effort": "low"});
    talk.body["tool_choice"] = json!({"type": "none"});
    talk.body["metadata"] = json!({"user_id": "u"});
    talk.body["thinking"] = json!({"type": "adaptive", "display": "omitted"});
    talk.valid();
}

#[test]
fn n7_markers_may_move_and_strings_become_blocks() {
    let mut talk = Talk::three_rounds(BOUND);
    let mark = json!({"type": "ephemeral"});
    talk.body["system"] = json!([{"type": "text", "text": "Be brief.", "cache_control": mark}]);
    talk.body["tools"][0]["cache_control"] = mark.clone();
    let question = json!([{"type": "text", "text": "Look at a, b and c.", "cache_control": mark}]);
    talk.messages()[0]["content"] = question;
    let result = json!([{"type": "text", "text": "contents of a", "cache_control": mark}]);
    talk.messages()[2]["content"][0]["content"] = result;
    talk.valid();
}

#[test]
fn n7_how_the_json_is_written_does_not_count() {
    let talk = Talk::three_rounds(BOUND);
    let pretty = serde_json::to_string_pretty(&talk.body)
        .unwrap()
        .replace("Look", r"\u004cook");
    let request = read(&pretty, &talk.call).unwrap();
    let admitted = check(
        &request,
        &spec(BOUND),
        &talk.call,
        &talk.secret,
        AccountAge::New,
    )
    .unwrap();
    assert_eq!(admitted.transformations, []);
}

#[test]
fn n2_messages_of_one_role_may_be_split_or_joined() {
    let mut talk = Talk::three_rounds(BOUND);
    let call = talk.messages()[1]["content"]
        .as_array_mut()
        .unwrap()
        .remove(1);
    talk.messages()
        .insert(2, json!({"role": "assistant", "content": [call]}));
    talk.valid();
}
