//! Signed thinking that comes back: every item of the documented lists of what keeps it valid and what does not.

use longhaul_sim::call::{ApiCall, ApiError};
use longhaul_sim::request::{ApiBlock, MessagesRequest};
use longhaul_sim::thinking::{
    AccountAge, CheckedThinking, SigningSecret, ThinkingPrefix, check, without,
};
use serde_json::{Value, json};

use crate::support::{NEW, call, read, spec, taken};

const BOUND: &str = "claude-fable-5-1";
const CONTROLS: &str = "thinking-binding-controls-2026-08-01";
const MISMATCH: &str = "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".";
const MODIFIED: &str = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.";

/// A conversation with a world that thinks before it calls.
struct Talk {
    secret: SigningSecret,
    call: ApiCall,
    body: Value,
}

impl Talk {
    fn new(model: &str) -> Talk {
        let body = json!({
            "model": model,
            "max_tokens": 1000,
            "system": "Be brief.",
            "tools": [
                {"name": "read", "description": "Reads", "input_schema": {"type": "object", "properties": {}}},
                {"name": "later", "defer_loading": true, "input_schema": {"type": "object"}},
            ],
            "messages": [],
        });
        Talk {
            secret: SigningSecret::from_seed(7),
            call: call(NEW, &[]),
            body,
        }
    }

    /// A conversation of three rounds: thinking, a call, its result; three thinking blocks in total, then a question.
    fn three_rounds(model: &str) -> Talk {
        let mut talk = Talk::new(model);
        talk.user(json!("Look at a, b and c."));
        for (index, name) in ["a", "b", "c"].into_iter().enumerate() {
            let id = format!("toolu_{index}");
            talk.reply(&[
                json!({"type": "thinking", "thinking": format!("Now {name}.")}),
                json!({"type": "tool_use", "id": id, "name": "read", "input": {"file": name, "lines": 5}}),
            ]);
            talk.user(json!([{"type": "tool_result", "tool_use_id": id, "content": format!("contents of {name}")}]));
        }
        talk
    }

    fn messages(&mut self) -> &mut Vec<Value> {
        self.body["messages"].as_array_mut().unwrap()
    }

    fn user(&mut self, content: Value) {
        self.messages()
            .push(json!({"role": "user", "content": content}));
    }

    fn request(&self) -> MessagesRequest {
        taken(&self.body, &self.call)
    }

    fn check(&self) -> Result<CheckedThinking, ApiError> {
        self.check_as(AccountAge::New)
    }

    fn check_as(&self, account: AccountAge) -> Result<CheckedThinking, ApiError> {
        let request = self.request();
        check(
            &request,
            &spec(&request.model),
            &self.call,
            &self.secret,
            account,
        )
    }

    /// Adds a reply of the world, with signatures.
    fn reply(&mut self, blocks: &[Value]) {
        let request = self.request();
        let mut prefix = self.check().unwrap().prefix;
        let mut content = Vec::new();
        for block in blocks {
            let mut block = block.clone();
            if block["type"] == "thinking" {
                let text = block["thinking"].as_str().unwrap().to_owned();
                block["signature"] = self
                    .secret
                    .sign(&prefix, &request.model, &self.call.key, &text)
                    .into();
            }
            prefix.push(&ApiBlock::made(block.clone()).unwrap());
            content.push(block);
        }
        self.messages()
            .push(json!({"role": "assistant", "content": content}));
    }

    /// Removes the thinking of these messages.
    fn strip(&mut self, messages: &[usize]) {
        for message in messages {
            let content = self.messages()[*message]["content"].as_array_mut().unwrap();
            content.retain(|block| block["type"] != "thinking");
        }
    }

    #[track_caller]
    fn valid(&self) {
        let admitted = self
            .check()
            .unwrap_or_else(|error| panic!("{}", error.message));
        assert_eq!(admitted.transformations, []);
    }

    #[track_caller]
    fn invalid(&self, place: &str) {
        let error = self.check().expect_err("admitted");
        let hint = format!(
            "{place}: {MISMATCH} That setting requires the `{CONTROLS}` value in the `anthropic-beta` header."
        );
        assert_eq!((error.status, error.message), (400, hint));
    }
}

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

#[test]
fn n2_dropped_blocks_are_listed_and_not_seen_by_the_model() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.body["system"] = "Be long.".into();
    talk.body["thinking"] =
        json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}});
    let error = read(&talk.body.to_string(), &talk.call).unwrap_err();
    assert_eq!(
        error.message,
        "thinking.adaptive.block_binding: Extra inputs are not permitted"
    );

    talk.call = call(NEW, &[CONTROLS]);
    let admitted = talk.check().unwrap();
    assert_eq!(admitted.transformations.len(), 3);
    let seen = without(&talk.request(), &admitted.transformations);
    assert!(
        seen.messages
            .iter()
            .flat_map(|m| &m.content)
            .all(|block| block.kind != "thinking")
    );
    assert_eq!(seen.messages[1].content.len(), 1);

    talk.body["thinking"]["block_binding"] = json!({"prefix_mismatch_behavior": "error"});
    let error = talk.check().unwrap_err();
    assert_eq!(error.message, format!("messages.1.content.0: {MISMATCH}"));
}

#[test]
fn n2_older_accounts_are_let_through_unless_they_ask_or_the_model_always_binds() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.body["system"] = "Be long.".into();
    let allowed = talk.check_as(AccountAge::Old).unwrap().transformations;
    assert_eq!(allowed.len(), 3);
    assert_eq!(
        allowed[0].to_json(),
        json!({"type": "thinking_mismatch_allowed", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"})
    );
    talk.call = call(NEW, &[CONTROLS]);
    talk.body["thinking"] =
        json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}});
    assert!(talk.check_as(AccountAge::Old).is_err());

    let mut talk = Talk::three_rounds("claude-fable-5-2");
    talk.body["system"] = "Be long.".into();
    assert!(talk.check_as(AccountAge::Old).is_err());
}

#[test]
fn n2_models_that_do_not_bind_take_thinking_behind_an_edit() {
    for model in ["claude-opus-5", "claude-sonnet-4-6", "claude-mythos-5-1"] {
        let mut talk = Talk::three_rounds(model);
        talk.messages()[2]["content"][0]["content"] = "[cleared]".into();
        talk.strip(&[3]);
        talk.valid();
    }
}

#[test]
fn n2_a_signature_that_is_not_ours_is_invalid_on_every_model() {
    for model in [BOUND, "claude-opus-5", "claude-haiku-4-5"] {
        let other = SigningSecret::from_seed(8).sign(
            &ThinkingPrefix::start(&Talk::new(model).talked()),
            model,
            "key",
            "Now a.",
        );
        for signature in ["", "RXJ0b24=", "not base64", &other] {
            let mut talk = Talk::three_rounds(model);
            talk.messages()[1]["content"][0]["signature"] = signature.into();
            let error = talk.check().unwrap_err();
            assert_eq!(
                error.message,
                "messages.1.content.0: Invalid `signature` in `thinking` block"
            );
        }
    }
}

impl Talk {
    /// The conversation with a greeting, as a request.
    fn talked(mut self) -> MessagesRequest {
        self.user(json!("Hello"));
        self.request()
    }
}

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

#[test]
fn n2_thinking_a_model_cannot_read_is_dropped_without_an_error_and_read_again_later() {
    let mut talk = Talk::three_rounds(BOUND);
    talk.body["model"] = "claude-opus-5-5".into();
    let dropped = talk.check().unwrap().transformations;
    assert_eq!(dropped.len(), 3);
    assert_eq!(
        dropped[0].to_json(),
        json!({"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "model_binding_mismatch"})
    );
    talk.reply(&[
        json!({"type": "thinking", "thinking": "From another."}),
        json!({"type": "text", "text": "Yes."}),
    ]);
    talk.user(json!("Back to you."));
    talk.body["model"] = BOUND.into();
    talk.valid();
}

#[test]
fn n2_thinking_of_another_account_is_dropped_where_it_is_bound_to_one() {
    let mut talk = Talk::three_rounds("claude-sonnet-5-5");
    talk.valid();
    talk.call.key = "another".into();
    let reasons: Vec<Value> = talk
        .check()
        .unwrap()
        .transformations
        .iter()
        .map(|t| t.to_json()["reason"].clone())
        .collect();
    assert_eq!(reasons, ["organization_binding_mismatch"; 3]);

    let mut talk = Talk::three_rounds(BOUND);
    talk.call.key = "another".into();
    talk.valid();
}

#[test]
fn n2_redacted_thinking_must_be_ours_too() {
    let mut talk = Talk::three_rounds("claude-opus-5");
    talk.messages()[1]["content"][0] = json!({"type": "redacted_thinking", "data": "abc"});
    let error = talk.check().unwrap_err();
    assert_eq!(
        error.message,
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block"
    );
}

#[test]
fn n2_behind_a_summary_we_signed_the_kept_turns_keep_their_thinking() {
    let beta = "compact-2026-09-04";
    let mut talk = Talk::three_rounds(BOUND);
    talk.call = call(NEW, &[beta]);
    talk.reply(&[
        json!({"type": "thinking", "thinking": "All read."}),
        json!({"type": "text", "text": "Done."}),
    ]);
    talk.user(json!("Next."));
    // Summarize the first two rounds, up to the second result.
    let all = talk.messages().clone();
    let mut older = Talk::new(BOUND);
    older.call = call(NEW, &[beta]);
    *older.messages() = all[..5].to_vec();
    let signature = talk
        .secret
        .sign_summary(&older.request(), BOUND, "key", "They read a and b.");
    let block =
        json!({"type": "compaction", "content": "They read a and b.", "signature": signature});
    talk.secret
        .check_summary(&ApiBlock::made(block.clone()).unwrap(), "key")
        .unwrap();
    let summary = json!({"role": "assistant", "content": [block]});
    *talk.messages() = [std::slice::from_ref(&summary), &all[5..]].concat();
    talk.valid();

    // The messages after the summary must follow directly …
    *talk.messages() = [std::slice::from_ref(&summary), &all[7..]].concat();
    talk.invalid("messages.1.content.0");
    // … and must not continue the turn that was summarized.
    *talk.messages() = [
        &[summary.clone(), json!({"role": "user", "content": "Also."})],
        &all[5..],
    ]
    .concat();
    talk.invalid("messages.2.content.0");
    // The content before the summary must not have changed either.
    *talk.messages() = [&[summary], &all[5..]].concat();
    talk.body["system"] = "Be long.".into();
    talk.invalid("messages.1.content.0");
}

#[test]
fn n2_a_summary_that_was_altered_is_refused_with_its_code() {
    let secret = SigningSecret::from_seed(7);
    let request = Talk::three_rounds(BOUND).request();
    let signature = secret.sign_summary(&request, BOUND, "key", "Short.");
    let block = |content: &str, signature: &str| {
        ApiBlock::made(json!({"type": "compaction", "content": content, "signature": signature}))
            .unwrap()
    };
    let code = |block: ApiBlock, key: &str| {
        secret
            .check_summary(&block, key)
            .map_err(|error| error.code.unwrap())
    };
    assert_eq!(code(block("Short.", &signature), "key"), Ok(()));
    assert_eq!(
        code(block("Longer.", &signature), "key"),
        Err("compaction_content_mismatch")
    );
    assert_eq!(
        code(block("Short.", "abc"), "key"),
        Err("compaction_signature_invalid")
    );
    assert_eq!(
        code(block("Short.", &signature), "other"),
        Err("compaction_signature_invalid")
    );
}

#[test]
fn n2_behind_a_threshold_summary_the_prefix_begins_anew() {
    let beta = "compact-2026-01-12";
    let mut talk = Talk::three_rounds(BOUND);
    talk.call = call(NEW, &[beta]);
    talk.reply(&[
        json!({"type": "compaction", "content": "They read a, b and c."}),
        json!({"type": "thinking", "thinking": "Where was I?"}),
        json!({"type": "text", "text": "Done."}),
    ]);
    talk.user(json!("Next."));
    talk.valid();
    // The old messages may be changed or left out.
    talk.messages()[2]["content"][0]["content"] = "[cleared]".into();
    talk.strip(&[3]);
    talk.valid();
    talk.messages().drain(..7);
    talk.valid();
    talk.messages()[0]["content"][0]["content"] = "They read a.".into();
    talk.invalid("messages.0.content.1");
}
