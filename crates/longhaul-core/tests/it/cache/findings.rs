//! Tests what is reported about a break (D2, D3): all changes, the price, the diff.

use std::sync::Arc;

use longhaul_core::cache::{
    CacheBreakDetector, CacheFinding, CacheVerdict, HostModes, cost_of_cache_miss,
};
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use serde_json::{Value, json};

use super::request::*;

/// Returns the finding of a break after a change of the request.
fn broken(change: impl FnOnce(&mut Value)) -> CacheFinding {
    let mut body = request(3);
    change(&mut body);
    match call(&mut warm(), 20, &body, &usage(0, 50_900)) {
        CacheVerdict::Broke(finding) => *finding,
        other => panic!("{other:?}"),
    }
}

#[test]
fn d2_a_break_is_told_with_size_price_and_cause() {
    let finding = broken(|body| {
        let tools = body["tools"].as_array_mut().unwrap();
        tools.push(tool("mcp__jira__search"));
    });
    // 50,000 tokens were written at $6.25 per million instead of read at $0.50.
    assert_eq!(
        finding.sentence(Some("cache-breaks/1.diff")),
        "cache broke: 48,210 tokens read last time, 0 now (−100%, cost $0.2875): \
         tools +1 (mcp__jira__search); diff: cache-breaks/1.diff"
    );
}

#[test]
fn d2_all_changes_are_named_in_the_order_of_the_prompt() {
    let finding = broken(|body| {
        body["messages"][0]["content"][0]["text"] = json!("Another question");
        body["system"][1]["text"] = json!("Today is 2026-11-15.\nThe shell is fish, as always.\n");
        body["tools"].as_array_mut().unwrap().remove(0);
        body["tool_choice"] = json!({ "type": "none" });
        body["speed"] = json!("fast");
    });
    let names: Vec<&str> = finding.changes.iter().map(|change| change.name()).collect();
    assert_eq!(
        names,
        ["tools", "speed", "system", "tool_choice", "messages"]
    );
    assert_eq!(
        finding.sentence(None),
        "cache broke: 48,210 tokens read last time, 0 now (−100%, cost $0.2875): tools −1 (Read); \
         also speed standard → fast; system +11 chars (block 1); tool_choice auto → none; message 0 (user) edited"
    );
}

#[test]
fn d2_what_cannot_break_the_cache_is_no_cause() {
    let finding = broken(|body| {
        body["output_config"] = json!({ "effort": "high" });
        body["tool_choice"] = json!({ "type": "auto" });
        body["metadata"] = json!({ "user_id": "x" });
        body["stream"] = json!(true);
        let mut far = tool("Far");
        far["defer_loading"] = json!(true);
        body["tools"].as_array_mut().unwrap().insert(0, far);
        body["system"].as_array_mut().unwrap().insert(
            0,
            json!({ "type": "text", "text": "x-anthropic-billing-header: cc_version=2" }),
        );
        body["messages"][1]["content"] = json!("Answer 0");
    });
    assert_eq!(finding.changes, []);
    assert_eq!(finding.cause.name(), "server_side");
}

#[test]
fn d2_what_lies_behind_the_last_marker_was_never_cached() {
    let mut watch = CacheBreakDetector::default();
    let mut body = request(2);
    // The breakpoint is one position back, as a fork that writes nothing sets it.
    body["messages"][4]["content"][0]
        .as_object_mut()
        .unwrap()
        .remove("cache_control");
    body["messages"][3]["content"][0]["cache_control"] = json!({ "type": "ephemeral" });
    call(&mut watch, 0, &body, &usage(40_000, 0));
    let mut next = request(3);
    next["messages"][4]["content"][0]["text"] = json!("Said otherwise");
    let verdict = call(&mut watch, 10, &next, &usage(0, 41_000));
    assert!(
        matches!(&verdict, CacheVerdict::Broke(finding) if finding.changes.is_empty()),
        "{verdict:?}"
    );
}

#[test]
fn d2_sections_are_named_where_the_host_names_them() {
    let print = |shell: &str| {
        let text = format!("Today.\n{shell}");
        let mut body = request(2);
        body["system"][1]["text"] = json!(text);
        let mut sent = print("main", at(0), &body);
        let head = Arc::make_mut(&mut sent.prefix);
        head.name_sections(1, [("date", "Today.\n"), ("environment", shell)]);
        sent
    };
    let mut watch = CacheBreakDetector::default();
    let first = watch.before(print("fish"));
    watch.after(first, &usage(40_000, 100), None);
    let second = watch.before(print("fish and zsh"));
    let verdict = watch.after(second, &usage(0, 40_000), None);
    let finding = verdict.finding().unwrap();
    assert_eq!(finding.cause.to_string(), "system +8 chars (environment)");
    assert_eq!(finding.cost, None, "no prices were given");
}

#[test]
fn d1_the_hosts_modes_are_named_when_nothing_else_changed() {
    let flags = |overage: &str| {
        let pairs = [("auto", "on"), ("overage", overage)];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Arc::new(HostModes::from(pairs))
    };
    let mut watch = CacheBreakDetector::default();
    let first = watch.before(print("main", at(0), &request(1)).with_flags(flags("no")));
    watch.after(first, &usage(40_000, 100), None);
    let second = watch.before(print("main", at(9), &request(2)).with_flags(flags("yes")));
    let verdict = watch.after(second, &usage(0, 40_000), None);
    assert_eq!(
        verdict.finding().unwrap().cause.to_string(),
        "overage no → yes"
    );
}

#[test]
fn d3_the_diff_shows_system_text_tools_by_field_and_an_excerpt_of_messages() {
    let finding = broken(|body| {
        body["tools"][0]["input_schema"]["properties"] = json!({ "path": { "type": "string" } });
        body["system"][1]["text"] = json!("Today is 2026-11-15.\nThe shell is fish.\n");
        body["messages"][1]["content"][0]["text"] = json!("Answer nothing");
        body["container"] = json!("c1");
    });
    assert_eq!(
        finding.diff,
        "\
cache broke: 48,210 tokens read last time, 0 now (−100%, cost $0.2875): tools edited (Read)
main, claude-opus-5, 2026-11-18T11:07:00Z; 10 s after the request before it
* tools edited (Read)
* system edited, same length (block 1)
* message 1 (assistant) edited
* container added

--- tool Read, before
+++ tool Read, now
@@ -1,7 +1,11 @@
 {
   \"description\": \"Does it.\",
   \"input_schema\": {
-    \"properties\": {},
+    \"properties\": {
+      \"path\": {
+        \"type\": \"string\"
+      }
+    },
     \"type\": \"object\"
   },
   \"name\": \"Read\"

--- system block 1, before
+++ system block 1, now
@@ -1,2 +1,2 @@
-Today is 2026-11-14.
+Today is 2026-11-15.
 The shell is fish.

--- message 1 (assistant), before
+++ message 1 (assistant), now
@@ character 16 @@
-{\"text\":\"Answer 0\",\"type\":\"text\"}
+{\"text\":\"Answer nothing\",\"type\":\"text\"}

--- container, before
+++ container, now
@@ -0,0 +1 @@
+\"c1\"
"
    );
}

#[test]
fn d3_a_diff_is_bounded_whatever_changed() {
    let long = |seed: usize| -> String {
        (0..40_000)
            .map(|nth| format!("line {} of it\n", nth * seed))
            .collect()
    };
    let mut watch = CacheBreakDetector::default();
    let mut body = request(2);
    for (seed, verdict) in [(1, None), (3, Some(()))] {
        body["system"][0]["text"] = json!(long(seed));
        body["system"][1]["text"] = json!("x".repeat(400_000 + seed));
        body["tools"] = (0..200)
            .map(|nth| tool(&format!("t{}", nth * seed)))
            .collect();
        let found = call(&mut watch, 0, &body, &usage(60_000 / seed as u64, 0));
        assert_eq!(found.finding().map(|_| ()), verdict);
        if let Some(finding) = found.finding() {
            assert!(finding.diff.len() <= 64 * 1024, "{}", finding.diff.len());
            assert!(finding.sentence(None).len() < 1_000);
        }
    }
}

#[test]
fn d2_the_price_is_that_of_writing_less_that_of_reading() {
    let spec = spec();
    let step = Usage {
        input: 1_000,
        cache_write_1h: 10_000,
        cache_write_5m: 20_000,
        ..Usage::default()
    };
    // The prices per million tokens are $10 for an hour, $6.25 for five minutes, $5 for input and $0.50 for reading.
    let price = |missed| cost_of_cache_miss(&spec, &step, missed).unwrap();
    let micro = |dollars: i128| Usd::from_pico(dollars * 1_000_000);
    assert_eq!(price(4_000), micro(4_000 * 10 - 2_000));
    assert_eq!(price(14_000), micro(100_000 + 25_000 - 7_000));
    assert_eq!(price(31_000), micro(100_000 + 125_000 + 5_000 - 15_500));
    assert_eq!(price(90_000), price(31_000), "no more than was paid for");
}
