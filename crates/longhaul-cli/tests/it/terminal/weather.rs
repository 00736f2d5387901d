//! A provider that is overloaded, fails and breaks off: the screen counts down and goes on, and Esc stops it.

use super::house::{House, Typing};

const ESC: &str = "\u{1b}";

/// The texts of the model's replies in the transcript.
fn replies(house: &House) -> Vec<String> {
    let entries = house.entries();
    let replies = entries.iter().filter(|entry| entry["type"] == "assistant");
    let texts = replies.flat_map(|entry| {
        let blocks = entry["message"]["content"].as_array().cloned();
        blocks.unwrap_or_default()
    });
    texts
        .filter_map(|block| block["text"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn n5_an_overload_is_counted_down_and_then_answered() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    house.fails_next(&["529", "500"]);
    terminal.says("tell 5 first");
    terminal.sees("overloaded, again in 1 s, try 2");
    terminal.sees("server error, again in 2 s, try 3");
    terminal.sees("Done with: tell 5 first");
    terminal.sees("overloaded, server error: answered at try 3");
    terminal.is_idle();
    terminal.leaves();
    assert_eq!(house.calls(), 3);
    assert_eq!(replies(&house).len(), 1);
    house.inspected();
}

#[test]
fn n5_a_reply_that_breaks_off_is_asked_for_again_and_is_kept_once() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.asks("tell 5 first", "Done with: tell 5 first");
    for fault in ["reset(after=6)", "truncate(after=6)"] {
        house.fails_next(&[fault]);
        terminal.says(&format!("tell 40 {fault}"));
        terminal.sees("what came of it does not count");
        terminal.sees("the reply broke off, again in");
        terminal.sees(&format!("Done with: tell 40 {fault}"));
        terminal.is_idle();
        terminal.says("/clear");
        terminal.sees("a new conversation");
        terminal.is_idle();
    }
    terminal.leaves();
    let lost = house.transcripts().into_iter().map(|transcript| {
        let report = house.inspected_at(&transcript);
        let lost = &report["lost_replies"];
        let replies = lost["replies"].as_u64().unwrap();
        assert_eq!(replies > 0, lost["cost_usd"].as_f64().unwrap() > 0.0);
        replies
    });
    assert_eq!(lost.sum::<u64>(), 2, "what broke off is billed");
}

#[test]
fn n5_esc_ends_the_waiting_and_the_prompt_can_be_repeated() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    house.fails_next(&["429(retry-after=60)"]);
    terminal.says("tell 5 first");
    terminal.sees("rate limit reached, again in");
    terminal.keys(ESC);
    terminal.sees("■ stopped");
    terminal.is_idle();
    terminal.asks("tell 5 again", "Done with: tell 5 again");
    terminal.leaves();
    assert_eq!(house.calls(), 2);
    house.inspected();
}

#[test]
fn n5_without_patience_and_for_a_wait_that_is_too_long_the_work_fails_at_once() {
    let house = House::new();
    let mut terminal = house.chat(&["--set", "retry.patience=30s"]);
    house.fails_next(&["429(retry-after=3600)"]);
    terminal.says("tell 5 first");
    terminal.sees("the server asks to wait 60 min");
    terminal.is_idle();
    terminal.leaves();
    assert_eq!(house.calls(), 1);
}

#[test]
fn n5_print_mode_waits_and_says_so() {
    let house = House::new();
    house.fails_next(&["529", "reset(after=6)"]);
    let mut command = house.piped(&["-p", "tell 5 first", "--output-format", "stream-json"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(talk.contains("overloaded, again in"), "{talk}");
    assert!(talk.contains("the reply broke off, again in"), "{talk}");
    let lines = String::from_utf8_lossy(&output.stdout);
    let objects: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let retries: Vec<_> = objects
        .iter()
        .filter(|object| object["subtype"] == "api_retry")
        .map(|object| (object["attempt"].as_u64(), object["error_status"].as_u64()))
        .collect();
    assert_eq!(retries, [(Some(1), Some(529)), (Some(2), None)]);
    let replies = objects
        .iter()
        .filter(|object| object["type"] == "assistant");
    assert_eq!(replies.count(), 1);
}
