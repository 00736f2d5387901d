//! Thinking after a summary.

use super::*;

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
