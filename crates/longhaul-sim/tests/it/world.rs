//! The world as a whole: limits, replies, streams, usage log, time.

use longhaul_sim::model::{DraftBlock, DraftStop, ReplyDraft};
use longhaul_sim::world::World;
use serde_json::{Value, json};

use crate::client::*;
use crate::reply_forms::{all_kinds, ask, with_tools};

#[test]
fn n5_a_prompt_over_the_window_is_refused_with_the_numbers_and_booked() {
    let mut world = world();
    let mut body = ask(&words(200_000));
    body["model"] = json!("claude-haiku-4-5");
    let error = refused(&mut world, &call(&body));
    assert_eq!((error.status, error.kind), (400, "invalid_request_error"));
    let numbers = error.message.strip_prefix("prompt is too long: ").unwrap();
    let (tokens, rest) = numbers.split_once(" tokens > ").unwrap();
    assert!(tokens.parse::<u64>().unwrap() > 200_000);
    assert_eq!(rest, "200000 maximum");
    let record = world.usage_log().last().unwrap();
    assert_eq!(
        (record.status, record.outcome.as_str()),
        (400, "invalid_request_error")
    );
    assert_eq!(world.usage_log().total.errors, 1);
}

#[test]
fn n5_newer_models_stop_at_the_window_where_older_ones_refuse() {
    let mut world = world_with(|_| text(&words(5_000)));
    let mut body = ask(&words(175_000));
    body["model"] = json!("claude-haiku-4-5");
    body["max_tokens"] = json!(64_000);
    let reply = send(&mut world, &body);
    assert_eq!(
        reply.message["stop_reason"],
        "model_context_window_exceeded"
    );
    let usage = &reply.usage;
    assert_eq!(usage.prompt() + usage.output, 200_000);
    body["model"] = json!("claude-sonnet-4-0");
    body["max_tokens"] = json!(64_000);
    let error = refused(&mut world, &call(&body));
    assert!(
        error
            .message
            .starts_with("input length and `max_tokens` exceed context limit: "),
        "{}",
        error.message
    );
    assert!(
        error
            .message
            .ends_with("+ 64000 > 200000, decrease input length or `max_tokens` and try again")
    );
}

#[test]
fn a_reply_ends_at_max_tokens_and_at_stop_sequences() {
    let mut world = world_with(|_| ReplyDraft {
        content: vec![
            DraftBlock::Text(words(100)),
            DraftBlock::Text("one END two".into()),
        ],
        stop: DraftStop::Natural,
    });
    let mut body = ask("count");
    body["max_tokens"] = json!(50);
    let reply = send(&mut world, &body);
    assert_eq!(reply.message["stop_reason"], "max_tokens");
    assert_eq!(reply.message["usage"]["output_tokens"], 50);
    let cut = reply.message["content"][0]["text"].as_str().unwrap();
    assert!(words(100).starts_with(cut) && cut.len() < 400);
    body["max_tokens"] = json!(500);
    body["stop_sequences"] = json!(["END"]);
    let reply = send(&mut world, &body);
    assert_eq!(reply.message["stop_reason"], "stop_sequence");
    assert_eq!(reply.message["stop_sequence"], "END");
    assert_eq!(reply.message["content"][1]["text"], "one ");
}

#[test]
fn a_refusal_is_a_reply_with_details() {
    let mut world = world_with(|_| ReplyDraft {
        stop: DraftStop::Refusal,
        ..text("No.")
    });
    let reply = send(&mut world, &ask("?"));
    assert_eq!(reply.message["stop_reason"], "refusal");
    assert_eq!(reply.message["stop_details"]["type"], "refusal");
}

#[test]
fn the_same_world_gives_the_same_replies() {
    let run = || {
        let mut world = world_with(|turn| {
            text(&format!(
                "{} {} {}",
                turn.seed, turn.index, turn.prompt_tokens
            ))
        });
        let replies = (0..3).map(|nth| send(&mut world, &ask(&format!("question {nth}"))).message);
        replies.collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
    assert_ne!(run()[0]["content"], run()[1]["content"]);
}

#[test]
fn an_unknown_model_is_not_found() {
    let mut body = ask("?");
    body["model"] = json!("no-such-model");
    let error = refused(&mut world(), &call(&body));
    assert_eq!(
        (error.status, error.message.as_str()),
        (404, "model: no-such-model")
    );
    let list = world().models();
    let ids: Vec<&str> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"claude-opus-5"));
    assert_eq!(list["has_more"], false);
    assert_eq!(
        world().model("claude-opus-5").unwrap()["display_name"],
        "Claude Opus 5"
    );
}

#[test]
fn replies_take_their_time() {
    let mut world = world_with(|_| text(&words(800)));
    let reply = world.messages(&call(&ask(&words(50_000)))).unwrap();
    assert_eq!(world.now().0, 0);
    assert!(
        (1_400..2_000).contains(&reply.first_byte.0),
        "{:?}",
        reply.first_byte
    );
    assert!(reply.ended.0 > reply.first_byte.0 + 8_000);
    world.exchange(&call(&ask("short"))).unwrap();
    assert!(world.now().0 > 8_000);
}

#[test]
fn the_books_hold_what_the_replies_said_to_the_last_token() {
    let mut world = world();
    let body = request(vec![block(&words(700), Some(marker())), block("?", None)]);
    let (mut cost, mut prompts, mut reads) = (0, 0, 0);
    for nth in 0..5 {
        let mut call = call(&body);
        call.session = Some(format!("s{}", nth % 2));
        let reply = world.exchange(&call).unwrap();
        cost += reply.cost.unwrap().pico();
        prompts += prompt(&reply);
        reads += classes(&reply)[0];
    }
    let total = &world.usage_log().total;
    assert_eq!((total.requests, total.cost_usd.pico()), (5, cost));
    assert_eq!(
        (total.prompt_tokens(), total.cache_read_input_tokens),
        (prompts, reads)
    );
    assert_eq!(total.hit_rate, reads as f64 / prompts as f64);
    assert_eq!(world.usage_log().sessions["s0"].requests, 3);
    let json = serde_json::to_value(world.usage_log()).unwrap();
    assert_eq!(json["recent"][1]["verdict"]["runs"][0]["class"], "read");
    assert_eq!(
        json["recent"][1]["verdict"]["runs"][0]["to"],
        "messages.0.content.0"
    );
}

/// A conversation of this many turns on a model that binds thinking to the content before it.
fn bound(world: &mut World, turns: usize, betas: &[&str]) -> Value {
    let mut body = with_tools(ask("read it"));
    body["model"] = json!("claude-fable-5-2");
    for _ in 0..turns {
        let reply = world.exchange(&call_with(&body, betas)).unwrap();
        let content = reply.message["content"].clone();
        let results: Vec<Value> = content
            .as_array()
            .unwrap()
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|call| json!({ "type": "tool_result", "tool_use_id": call["id"], "content": words(300) }))
            .collect();
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({ "role": "assistant", "content": content }));
        messages.push(json!({ "role": "user", "content": results }));
    }
    body
}

#[test]
fn n2_thinking_holds_while_a_conversation_grows_and_not_behind_an_edit() {
    let mut world = world_with(|_| all_kinds());
    let mut body = bound(&mut world, 12, &[]);
    assert!(world.exchange(&call(&body)).is_ok());
    body["messages"][2]["content"][0]["content"] = json!("[cleared]");
    let error = refused(&mut world, &call(&body));
    assert!(
        error.message.contains("bound to a different conversation"),
        "{}",
        error.message
    );
    let beta = "thinking-binding-controls-2026-08-01";
    body["thinking"] = json!({
        "type": "adaptive", "block_binding": { "prefix_mismatch_behavior": "drop_block" },
    });
    let whole = prompt(&world.exchange(&call(&bound_again(&body))).unwrap());
    let reply = world.exchange(&call_with(&body, &[beta])).unwrap();
    let dropped = reply.message["input_transformations"].as_array().unwrap();
    assert_eq!(dropped.len(), 11);
    assert_eq!(dropped[0]["path"], "messages.3.content.0");
    assert!(prompt(&reply) < whole, "what is dropped is not billed");
}

/// The same request without thinking parameters and without the edit.
fn bound_again(body: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove("thinking");
    body["messages"][2]["content"][0]["content"] = json!(words(300));
    body
}

#[test]
fn n8_a_thread_holds_the_conversation_and_reads_its_cache() {
    let beta = "message-threads-2026-08-12";
    let mut world = world();
    let mut body = request(vec![block(&words(900), Some(marker()))]);
    body["thread"] = json!({ "type": "create" });
    let first = world.exchange(&call_with(&body, &[beta])).unwrap();
    let next = json!({
        "model": "claude-opus-5", "max_tokens": 100,
        "thread": { "type": "continue", "previous_message_id": first.message["id"] },
        "messages": [{ "role": "user", "content": [block("And then?", Some(marker()))] }],
    });
    let second = world.exchange(&call_with(&next, &[beta])).unwrap();
    assert_eq!(classes(&second)[0], classes(&first)[1]);
    let error = refused(&mut world, &call_with(&next, &[beta]));
    assert_eq!(error.code, Some("thread_already_continued"));
}

#[test]
fn b1_a_day_of_three_hundred_turns_reads_what_it_wrote() {
    let mut world = world_with(|turn| match turn.index % 10 {
        9 => text("All tests pass now."),
        _ => all_kinds(),
    });
    let mut messages = vec![json!({ "role": "user", "content": "Make the tests pass." })];
    for turn in 0..300 {
        let mut body = with_tools(json!({
            "model": "claude-opus-4-6", "max_tokens": 4_000, "messages": messages,
            "system": [block(&words(5_000), Some(marker()))],
        }));
        body["cache_control"] = marker();
        let call = call(&body);
        let reply = world.exchange(&call).unwrap();
        world.advance(60_000);
        let content = reply.message["content"].as_array().unwrap();
        messages.push(json!({ "role": "assistant", "content": content }));
        let calls = content.iter().filter(|block| block["type"] == "tool_use");
        let results: Vec<Value> = calls
            .map(|call| json!({ "type": "tool_result", "tool_use_id": call["id"], "content": words(120 + turn % 50) }))
            .collect();
        messages.push(if results.is_empty() {
            json!({ "role": "user", "content": "Now the next one." })
        } else {
            json!({ "role": "user", "content": results })
        });
    }
    let books = world.usage_log();
    assert!(books.total.hit_rate > 0.95, "{}", books.total.hit_rate);
    assert!(books.last().unwrap().ended_ms > 300 * 60_000);
}
