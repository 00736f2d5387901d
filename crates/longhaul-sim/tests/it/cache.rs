//! The prompt cache, rule by rule (API-FACTS §1.2 to 1.7).

use longhaul_sim::cache::CacheClass;
use longhaul_sim::call::ApiCall;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::*;

const MINUTE: u64 = 60_000;

/// One position of a thousand tokens, then positions of 40 tokens each, of which those listed carry a breakpoint.
fn long(positions: usize, marked: &[usize]) -> Value {
    let blocks = (0..positions).map(|nth| {
        let tokens = if nth == 0 { 1_000 } else { 40 };
        let text = format!("{nth} {}", words(tokens));
        block(&text, marked.contains(&nth).then(marker))
    });
    request(blocks.collect())
}

fn read(reply: &longhaul_sim::reply::ApiReply) -> u64 {
    classes(reply)[0]
}

#[test]
fn b1_what_was_written_is_read_and_the_rest_is_input() {
    let mut world = world();
    let body = long(3, &[1]);
    let first = send(&mut world, &body);
    let second = send(&mut world, &body);
    let [r1, w1, _, i1] = classes(&first);
    let [r2, w2, _, i2] = classes(&second);
    assert_eq!((r1, w2), (0, 0));
    assert_eq!((w1, i1), (r2, i2));
    assert!(w1 > 1_000 && i1 > 40, "{w1} {i1}");
    let [read, input] = &second.verdict.runs[..] else {
        panic!("two runs: {:?}", second.verdict);
    };
    assert_eq!(
        (read.class, input.class),
        (CacheClass::Read, CacheClass::Input)
    );
    assert_eq!(
        (read.to.as_str(), input.from.as_str()),
        ("messages.0.content.1", "messages.0.content.2")
    );
}

#[test]
fn b1_an_entry_nineteen_positions_back_is_read_and_one_twenty_back_is_not() {
    for (distance, hit) in [(0, true), (19, true), (20, false), (24, false)] {
        let mut world = world();
        send(&mut world, &long(6, &[5]));
        let reply = send(&mut world, &long(6 + distance, &[5 + distance]));
        assert_eq!(read(&reply) > 0, hit, "distance {distance}");
        if !hit {
            let missed = reply.verdict.missed.as_deref().unwrap();
            assert!(
                missed.contains(&format!("{distance} positions")),
                "{missed}"
            );
        }
    }
}

#[test]
fn b1_the_walk_goes_on_at_the_next_earlier_breakpoint() {
    let mut world = world();
    let first = send(&mut world, &long(16, &[15]));
    let reply = send(&mut world, &long(36, &[15, 35]));
    assert_eq!(read(&reply), classes(&first)[1]);
}

#[test]
fn b1_a_position_written_earlier_is_read_though_it_is_no_longer_marked() {
    let mut world = world();
    let first = send(&mut world, &long(5, &[4]));
    let reply = send(&mut world, &long(8, &[7]));
    assert_eq!(read(&reply), classes(&first)[1]);
}

#[test]
fn b1_nothing_is_written_between_breakpoints() {
    let mut world = world();
    send(&mut world, &long(8, &[7]));
    let reply = send(&mut world, &long(5, &[4]));
    assert_eq!(read(&reply), 0);
}

#[test]
fn b1_a_lifetime_counts_from_the_start_of_the_request_and_reads_renew_it() {
    let body = long(3, &[2]);
    for (wait, hit) in [(5 * MINUTE - 1, true), (5 * MINUTE, false)] {
        let mut world = world();
        let start = world.now().0;
        send(&mut world, &body);
        let gone = world.now().0 - start;
        world.advance(wait - gone);
        assert_eq!(read(&send(&mut world, &body)) > 0, hit, "{wait}");
    }
    let mut world = world();
    for turn in 0..5 {
        let reply = world.messages(&call(&body)).unwrap();
        assert_eq!(read(&reply) > 0, turn > 0);
        world.advance(4 * MINUTE);
    }
    world.advance(MINUTE);
    let reply = send(&mut world, &body);
    assert_eq!(read(&reply), 0);
    assert!(reply.verdict.missed.unwrap().contains("expired 0 ms ago"));
}

#[test]
fn b1_an_hour_long_entry_outlives_five_minutes() {
    let mut world = world();
    let body = request(vec![
        block(&words(900), Some(hour())),
        block("and now?", None),
    ]);
    let first = send(&mut world, &body);
    assert!(classes(&first)[2] > 900);
    world.advance(50 * MINUTE);
    assert!(read(&send(&mut world, &body)) > 0);
    world.advance(60 * MINUTE);
    assert_eq!(read(&send(&mut world, &body)), 0);
}

#[test]
fn b1_calls_that_overlap_both_miss() {
    let mut world = world();
    let body = long(3, &[2]);
    let first = world.messages(&call(&body)).unwrap();
    let second = world.messages(&call(&body)).unwrap();
    assert_eq!((read(&first), read(&second)), (0, 0));
    assert!(second.verdict.missed.unwrap().contains("begins in"));
    world.advance(first.first_byte.0 - world.now().0 - 1);
    assert_eq!(read(&world.messages(&call(&body)).unwrap()), 0);
    world.advance(1);
    assert!(read(&world.messages(&call(&body)).unwrap()) > 0);
}

#[test]
fn b1_a_prefix_below_the_models_minimum_is_silently_not_cached() {
    for (model, minimum) in [
        ("claude-opus-5", 512),
        ("claude-opus-4-8", 1_024),
        ("claude-opus-4-6", 4_096),
    ] {
        let mut world = world();
        let mut short = request(vec![block(&words(minimum / 3), Some(marker()))]);
        short["model"] = json!(model);
        for _ in 0..2 {
            let [read, five, hour, _] = classes(&send(&mut world, &short));
            assert_eq!((read, five, hour), (0, 0, 0), "{model}");
        }
        let why = &world.usage_log().last().unwrap().verdict.runs[0].why;
        assert!(why.contains(&minimum.to_string()), "{why}");
        let mut enough = request(vec![block(&words(minimum + 100), Some(marker()))]);
        enough["model"] = json!(model);
        send(&mut world, &enough);
        assert!(read(&send(&mut world, &enough)) > 0, "{model}");
    }
}

#[test]
fn b1_keys_and_models_do_not_share_a_cache() {
    let mut world = world();
    let body = long(3, &[2]);
    send(&mut world, &body);
    let other = ApiCall {
        key: "b".to_owned(),
        ..call(&body)
    };
    assert_eq!(read(&world.exchange(&other).unwrap()), 0);
    let mut model = body.clone();
    model["model"] = json!("claude-opus-4-8");
    assert_eq!(read(&send(&mut world, &model)), 0);
    assert!(read(&send(&mut world, &body)) > 0);
}

#[test]
fn b1_mixed_lifetimes_are_billed_at_the_three_points() {
    let mut world = world();
    let body = |tail: &str| {
        json!({
            "model": "claude-opus-5",
            "max_tokens": 100,
            "system": [block(&words(700), Some(hour()))],
            "messages": [{ "role": "user", "content": [block(&words(300), Some(marker())), block(tail, None)] }],
        })
    };
    let [read, five, hour, input] = classes(&send(&mut world, &body("one")));
    assert!(read == 0 && five > 300 && hour > 700 && input > 0);
    world.advance(10 * MINUTE);
    let later = classes(&send(&mut world, &body("two")));
    assert_eq!(later, [hour, five, 0, input]);
}

#[test]
fn b1_evicted_entries_are_gone_and_the_verdict_says_so() {
    let mut world = world();
    let body = long(3, &[2]);
    send(&mut world, &body);
    assert_eq!(world.evict(), 1);
    let reply = send(&mut world, &body);
    assert_eq!(read(&reply), 0);
    assert!(reply.verdict.missed.unwrap().contains("evicted"));
    assert!(read(&send(&mut world, &body)) > 0);
}

#[test]
fn b1_markers_and_string_content_are_no_part_of_the_identity() {
    let mut world = world();
    let user = |content: Value| {
        json!({
            "model": "claude-opus-5", "max_tokens": 100,
            "messages": [
                { "role": "user", "content": content },
                { "role": "assistant", "content": "Good." },
                { "role": "user", "content": [block("More?", Some(marker()))] },
            ],
        })
    };
    let text = words(600);
    let first = send(&mut world, &user(json!(text)));
    let second = send(&mut world, &user(json!([block(&text, Some(marker()))])));
    assert_eq!(read(&second), classes(&first)[1]);
}

#[test]
fn b1_automatic_caching_marks_the_last_block_that_can_bear_it() {
    let mut world = world();
    let mut body = long(3, &[]);
    body["cache_control"] = marker();
    let first = send(&mut world, &body);
    assert_eq!(
        classes(&first)[3],
        3,
        "only the opening of the reply is input"
    );
    assert!(read(&send(&mut world, &body)) > 1_000);
    let mut grown = long(9, &[]);
    grown["cache_control"] = marker();
    let reply = send(&mut world, &grown);
    assert_eq!(read(&reply), classes(&first)[1]);
    let mut full = long(6, &[0, 1, 2, 3]);
    full["cache_control"] = marker();
    let error = refused(&mut world, &call(&full));
    assert_eq!(
        error.message,
        "A maximum of 4 blocks with cache_control may be provided. Found 5."
    );
}

#[test]
fn b1_a_prewarmed_prefix_is_read_by_the_first_real_request() {
    let mut world = world();
    let mut body = long(3, &[1]);
    body["max_tokens"] = json!(0);
    let warm = send(&mut world, &body);
    assert_eq!(warm.message["content"], json!([]));
    assert_eq!(warm.message["stop_reason"], "max_tokens");
    assert_eq!(warm.message["usage"]["output_tokens"], 0);
    assert_eq!(
        read(&send(&mut world, &long(5, &[1, 4]))),
        classes(&warm)[1]
    );
}

/// A body with tools, system and messages, each with a breakpoint.
fn three_levels() -> Value {
    json!({
        "model": "claude-opus-5", "max_tokens": 100,
        "tools": [{
            "name": "look", "description": words(600),
            "input_schema": { "type": "object", "properties": { "at": { "type": "string" } } },
            "cache_control": marker(),
        }],
        "system": [block(&words(600), Some(marker()))],
        "messages": [{ "role": "user", "content": [block(&words(600), Some(marker()))] }],
    })
}

#[test]
fn d2_each_setting_invalidates_the_levels_it_should() {
    type Edit = fn(&mut Value);
    let changes: [(&str, Edit, usize); 13] = [
        ("nothing", |_| {}, 3),
        (
            "explicit default effort",
            |b| b["output_config"] = json!({ "effort": "high" }),
            3,
        ),
        (
            "explicit tool choice",
            |b| b["tool_choice"] = json!({ "type": "auto" }),
            3,
        ),
        (
            "a deferred tool",
            |b| {
                let tool = json!({ "name": "far", "input_schema": { "type": "object" }, "defer_loading": true });
                b["tools"].as_array_mut().unwrap().push(tool);
            },
            3,
        ),
        (
            "effort",
            |b| b["output_config"] = json!({ "effort": "low" }),
            2,
        ),
        (
            "tool choice",
            |b| b["tool_choice"] = json!({ "type": "none" }),
            2,
        ),
        (
            "thinking",
            |b| b["thinking"] = json!({ "type": "adaptive" }),
            2,
        ),
        (
            "images",
            |b| {
                let image = json!({ "type": "image", "source": { "type": "url", "url": "https://example.com/a.png" } });
                b["messages"][0]["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(image);
            },
            2,
        ),
        (
            "web search",
            |b| {
                let tool = json!({ "type": "web_search_20250305", "name": "web_search" });
                b["tools"].as_array_mut().unwrap().push(tool);
            },
            1,
        ),
        (
            "citations",
            |b| {
                let document = json!({
                    "type": "document", "citations": { "enabled": true },
                    "source": { "type": "text", "media_type": "text/plain", "data": "x" },
                });
                b["messages"][0]["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(document);
            },
            1,
        ),
        (
            "system",
            |b| b["system"][0]["text"] = json!(format!("{} x", words(600))),
            1,
        ),
        ("tools", |b| b["tools"][0]["name"] = json!("watch"), 0),
        ("model", |b| b["model"] = json!("claude-opus-4-8"), 0),
    ];
    for (what, change, levels) in changes {
        let mut world = world();
        let body = three_levels();
        send(&mut world, &body);
        let mut changed = body.clone();
        change(&mut changed);
        let reply = send(&mut world, &changed);
        let read_to = match reply.verdict.runs[0].class {
            CacheClass::Read => reply.verdict.runs[0].to.as_str(),
            _ => "",
        };
        let level = ["", "tools.", "system.", "messages."]
            .iter()
            .rposition(|level| read_to.starts_with(level))
            .unwrap();
        assert_eq!(level, levels, "{what}: read {}", read(&reply));
    }
}

#[test]
fn d2_the_set_of_betas_is_part_of_the_key() {
    let mut world = world();
    let body = three_levels();
    send(&mut world, &body);
    let beta = call_with(&body, &["context-management-2025-06-27"]);
    assert_eq!(read(&world.exchange(&beta).unwrap()), 0);
    let old = call_with(&body, &["prompt-caching-2024-07-31"]);
    assert!(read(&world.exchange(&old).unwrap()) > 0);
}

#[test]
fn d2_diagnostics_name_the_earliest_divergence() {
    type Edit = fn(&mut Value);
    let changes: [(Option<&str>, Edit); 6] = [
        (None, |_| {}),
        (None, |b| {
            let more = b["messages"][0]["content"].as_array_mut().unwrap();
            more.push(block("more", None));
        }),
        (Some("model_changed"), |b| {
            b["model"] = json!("claude-opus-4-8")
        }),
        (Some("system_changed"), |b| {
            b["system"][0]["text"] = json!(words(500));
            b["tools"][0]["name"] = json!("watch");
        }),
        (Some("tools_changed"), |b| {
            b["tools"][0]["name"] = json!("watch")
        }),
        (Some("messages_changed"), |b| {
            b["messages"][0]["content"][0]["text"] = json!(words(500))
        }),
    ];
    for (reason, change) in changes {
        let mut world = world();
        let mut body = three_levels();
        body["diagnostics"] = json!({ "previous_message_id": null });
        let first = send(&mut world, &body);
        assert_eq!(first.message["diagnostics"], Value::Null);
        body["diagnostics"]["previous_message_id"] = first.message["id"].clone();
        change(&mut body);
        let second = send(&mut world, &body);
        let found = &second.message["diagnostics"]["cache_miss_reason"];
        assert_eq!(found["type"].as_str(), reason, "{found}");
        assert_eq!(
            found["cache_missed_input_tokens"].is_u64(),
            reason.is_some()
        );
        let changed = world.usage_log().last().unwrap().changed.clone();
        assert_eq!(changed.is_some(), reason.is_some(), "{changed:?}");
        body["diagnostics"]["previous_message_id"] = json!("msg_unknown");
        let third = send(&mut world, &body);
        assert_eq!(
            third.message["diagnostics"]["cache_miss_reason"]["type"],
            "previous_message_not_found"
        );
    }
}

/// The number of positions in a conversation, and which of them carry a breakpoint.
fn marks() -> impl Strategy<Value = (usize, Vec<usize>)> {
    (1_usize..60).prop_flat_map(|positions| {
        let marks = proptest::collection::btree_set(0..positions, 0..=4);
        (
            Just(positions),
            marks.prop_map(|marks| marks.into_iter().collect()),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn b1_read_written_and_input_always_make_the_prompt(steps in proptest::collection::vec((marks(), 0_u64..400_000), 1..6)) {
        let mut world = world();
        for ((positions, marked), wait) in steps {
            let body = long(positions, &marked);
            let counted = world.count_tokens(&count(&body)).unwrap();
            let reply = send(&mut world, &body);
            prop_assert_eq!(Some(prompt(&reply)), counted["input_tokens"].as_u64());
            let usage = &reply.message["usage"];
            let [_, five, hour, _] = classes(&reply);
            prop_assert_eq!(usage["cache_creation_input_tokens"].as_u64(), Some(five + hour));
            let runs: u64 = reply.verdict.runs.iter().map(|run| run.tokens).sum();
            prop_assert_eq!(runs + reply.verdict.opening, prompt(&reply));
            let covered: usize = reply.verdict.runs.iter().map(|run| run.positions).sum();
            prop_assert_eq!(covered, positions);
            let of = |class| reply.verdict.runs.iter().filter(|run| run.class == class).map(|run| run.tokens).sum::<u64>();
            prop_assert_eq!([of(CacheClass::Read), of(CacheClass::WrittenFiveMinutes)], [classes(&reply)[0], five]);
            world.advance(wait);
        }
    }

    #[test]
    fn b1_a_repeated_request_reads_all_its_breakpoints_cover((positions, marked) in marks()) {
        let mut world = world();
        let body = long(positions, &marked);
        let first = send(&mut world, &body);
        let second = send(&mut world, &body);
        let [read, five, hour, input] = classes(&second);
        prop_assert_eq!(read, classes(&first)[1]);
        prop_assert_eq!((five, hour, input), (0, 0, classes(&first)[3]));
    }

    #[test]
    fn b1_more_breakpoints_never_read_less((positions, marked) in marks(), extra in 0_usize..60) {
        let (mut few, mut many) = (world(), world());
        for world in [&mut few, &mut many] {
            send(world, &long(30, &[12, 29]));
        }
        let with: Vec<usize> = marked.iter().copied().chain([extra % positions]).collect();
        prop_assume!(with.len() <= 4);
        let less = send(&mut few, &long(positions, &marked));
        let more = send(&mut many, &long(positions, &with));
        prop_assert!(read(&more) >= read(&less));
    }
}

fn count(body: &Value) -> ApiCall {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove("max_tokens");
    call(&body)
}
