//! Which models and accounts read which thinking, and what becomes of the rest.

use super::*;

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
