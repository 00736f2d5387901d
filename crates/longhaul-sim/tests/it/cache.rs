//! The prompt cache, rule by rule (API-FACTS §1.2 to 1.7).

use longhaul_sim::cache::CacheClass;
use longhaul_sim::call::ApiCall;
use serde_json::{Value, json};

use crate::client::*;

pub(super) const MINUTE: u64 = 60_000;

/// One position of a thousand tokens, then positions of 40 tokens each, of which those listed carry a breakpoint.
pub(super) fn long(positions: usize, marked: &[usize]) -> Value {
    let blocks = (0..positions).map(|nth| {
        let tokens = if nth == 0 { 1_000 } else { 40 };
        let text = format!("{nth} {}", words(tokens));
        block(&text, marked.contains(&nth).then(marker))
    });
    request(blocks.collect())
}

pub(super) fn read(reply: &longhaul_sim::reply::ApiReply) -> u64 {
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
