//! Tests overlapping calls of one source, and parallel conversations on one source (D3).

use longhaul_core::cache::{CacheBreakDetector, CacheVerdict};
use serde_json::{Value, json};

use super::request::*;

fn agent(name: &str, rounds: usize) -> Value {
    let mut body = request(rounds);
    for message in body["messages"].as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            block["text"] = json!(format!("{name}: {}", block["text"].as_str().unwrap()));
        }
    }
    // The text that the host puts first is the same for all.
    let first = body["messages"][0]["content"].as_array_mut().unwrap();
    first.insert(
        0,
        json!({ "type": "text", "text": "Memory files of the project." }),
    );
    body
}

#[test]
fn d3_sub_agents_on_one_source_are_each_compared_with_themselves() {
    let mut watch = CacheBreakDetector::default();
    let open =
        ["a", "b", "c"].map(|name| (name, watch.before(print("agent:x", at(0), &agent(name, 0)))));
    for (_, id) in open.into_iter().rev() {
        assert_eq!(
            watch.after(id, &usage(10_000, 30_000), None),
            CacheVerdict::First
        );
    }
    for round in 1..4 {
        let open =
            ["a", "b", "c"].map(|name| watch.before(print("agent:x", at(0), &agent(name, round))));
        for id in open {
            assert_eq!(
                watch.after(id, &usage(40_000, 100), None),
                CacheVerdict::Steady
            );
        }
    }
    let id = watch.before(print("agent:x", at(1), &agent("d", 0)));
    assert_eq!(
        watch.after(id, &usage(10_000, 30_000), None),
        CacheVerdict::First
    );
    let id = watch.before(print("agent:x", at(2), &agent("b", 4)));
    assert!(matches!(
        watch.after(id, &usage(10_000, 30_000), None),
        CacheVerdict::Broke(_)
    ));
}

#[test]
fn d3_two_calls_at_once_from_one_point_are_both_compared_with_that_point() {
    let mut watch = warm();
    let mut fork = request(3);
    fork["messages"][6]["content"][0]["text"] = json!("Something else");
    let one = watch.before(print("main", at(20), &request(3)));
    let two = watch.before(print("main", at(20), &fork));
    assert_eq!(
        watch.after(one, &usage(50_000, 4_000), None),
        CacheVerdict::Steady
    );
    assert_eq!(
        watch.after(two, &usage(50_000, 4_000), None),
        CacheVerdict::Steady
    );
    // Each conversation continues by itself.
    let mut further = request(4);
    further["messages"][6] = fork["messages"][6].clone();
    assert_eq!(
        call(&mut watch, 30, &further, &usage(54_000, 100)),
        CacheVerdict::Steady
    );
    assert_eq!(
        call(&mut watch, 30, &request(4), &usage(54_000, 100)),
        CacheVerdict::Steady
    );
}

#[test]
fn d3_a_call_that_is_overtaken_does_not_become_the_baseline() {
    let mut watch = warm();
    let early = watch.before(print("main", at(20), &request(2)));
    let late = watch.before(print("main", at(21), &request(3)));
    assert_eq!(
        watch.after(late, &usage(50_000, 9_000), None),
        CacheVerdict::Steady
    );
    assert_eq!(
        watch.after(early, &usage(50_000, 0), None),
        CacheVerdict::Steady
    );
    let verdict = call(&mut watch, 30, &request(4), &usage(50_000, 9_000));
    assert!(matches!(verdict, CacheVerdict::Unread(_)), "{verdict:?}");
}

#[test]
fn d3_a_host_that_never_ends_its_calls_does_not_fill_the_memory() {
    let mut watch = warm();
    let first = watch.before(print("main", at(20), &request(3)));
    for _ in 0..300 {
        watch.before(print("main", at(20), &request(3)));
    }
    assert_eq!(
        watch.after(first, &usage(50_000, 9), None),
        CacheVerdict::Ignored
    );
    watch.forget("main");
    assert_eq!(
        call(&mut watch, 30, &request(4), &usage(0, 9_000)),
        CacheVerdict::First
    );
}
