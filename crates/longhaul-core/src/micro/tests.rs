//! Tests the ways to clear old tool results (U1 to U7), their order and timing (O1, Y5), and their budgets (H7).

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::native::{KeepThinking, ProviderClearing, context_management};
use super::*;
use crate::message::Entry;
use crate::window::{AutoCompact, WindowInput, WindowSettings, WindowStatus};

const LIMITS: MicroLimits = MicroLimits {
    keep_recent: 5,
    trigger: 12,
    idle_minutes: 60,
};

fn entry(line: Value) -> Entry {
    Entry::read(Bytes::from(line.to_string())).unwrap()
}

/// Adds one tool call with a result of `tokens` tokens: a token is estimated at four characters.
fn call(results: &mut ToolResults, id: &str, tool: &str, tokens: usize) {
    let request = json!({"type":"assistant","uuid":format!("a{id}"),"message":{"id":format!("m{id}"),"role":"assistant",
        "content":[{"type":"tool_use","id":id,"name":tool,"input":{}}]}});
    let result = json!({"type":"user","uuid":format!("u{id}"),"message":{"role":"user",
        "content":[{"type":"tool_result","tool_use_id":id,"content":"x".repeat(tokens * 4)}]}});
    for line in [request, result] {
        results.push(entry(line).view());
    }
}

/// Returns the results of `count` calls of the Read tool, with the ids `t0`, `t1` and so on.
fn calls(count: usize, tokens: usize) -> ToolResults {
    let mut results = ToolResults::default();
    for at in 0..count {
        call(&mut results, &format!("t{at}"), "Read", tokens);
    }
    results
}

fn ids(results: &[ClearableResult]) -> Vec<&str> {
    results.iter().map(|result| result.call.as_str()).collect()
}

/// Returns the status of a window of 200,000 tokens, of which `used` are in use.
fn status(used: u64) -> WindowStatus {
    let settings = WindowSettings {
        auto_compact: AutoCompact::On,
        ..WindowSettings::default()
    };
    WindowStatus::new(&WindowInput {
        window: 200_000,
        max_output: 64_000,
        used,
        settings,
    })
    .unwrap()
}

/// The time of the model's last reply.
const REPLY: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// Returns the time that many minutes after the last reply.
fn later(minutes: i64) -> Timestamp {
    REPLY + SignedDuration::from_mins(minutes)
}

fn situation<'a>(
    results: &'a ToolResults,
    status: &'a WindowStatus,
    minutes: i64,
    cache: CacheState,
) -> MicroSituation<'a> {
    MicroSituation {
        results,
        status,
        last_reply: Some(REPLY),
        now: later(minutes),
        cache,
        cached: None,
        pressure: PressureOwner::Ours,
        limits: &LIMITS,
    }
}

#[test]
fn u1_only_results_of_clearable_tools_are_cleared() {
    let tools = ClearableTools::default();
    for tool in [
        "Read",
        "Bash",
        "Grep",
        "Glob",
        "WebFetch",
        "WebSearch",
        "Edit",
        "Write",
    ] {
        assert!(tools.contains(tool), "{tool}");
    }
    for tool in [
        "AskUserQuestion",
        "NotebookEdit",
        "Task",
        "TaskCreate",
        "TodoWrite",
        "mcp__db__query",
        "Frobnicate",
    ] {
        assert!(!tools.contains(tool), "{tool}");
    }
    let tools = tools.and(["mcp__docs__*".to_owned(), "TodoWrite".to_owned()]);
    assert!(tools.contains("mcp__docs__fetch"));
    assert!(!tools.contains("mcp__db__query"));
    assert!(
        !tools.contains("TodoWrite"),
        "the configuration cannot make it clearable"
    );
    let tools = tools.except(["mcp__docs__ask".to_owned()]);
    assert!(tools.contains("mcp__docs__fetch") && !tools.contains("mcp__docs__ask"));

    let mut results = calls(2, 10);
    call(&mut results, "q", "AskUserQuestion", 10);
    assert_eq!(results.len(), 2);
}

#[test]
fn u2_a_cleared_result_is_not_cleared_again() {
    let mut results = calls(8, 100);
    let cleared = json!({"type":"system","subtype":"microcompact_boundary","uuid":"b",
        "microcompactMetadata":{"compactedToolIds":["t0","t1","t5"]}});
    for _ in 0..2 {
        results.push(entry(cleared.clone()).view());
        assert_eq!(results.len(), 5);
        assert_eq!(results.tokens().unpadded(), 500);
    }
    assert_eq!(
        choose(&situation(&results, &status(0), 90, CacheState::Cold)),
        MicroStep::Nothing
    );
}

#[test]
fn u3_after_an_hour_all_but_the_newest_five_are_cleared() {
    let results = calls(9, 100);
    let status = status(1_000);
    assert_eq!(
        choose(&situation(&results, &status, 60, CacheState::Cold)),
        MicroStep::Nothing
    );
    let MicroStep::Clear(clearing) = choose(&situation(&results, &status, 61, CacheState::Cold))
    else {
        panic!("nothing cleared");
    };
    assert_eq!(clearing.reason, MicroClearingReason::Idle);
    assert_eq!(ids(&clearing.results), ["t0", "t1", "t2", "t3"]);
    assert_eq!(clearing.saved.unpadded(), 400);
    let few = calls(5, 100);
    assert_eq!(
        choose(&situation(&few, &status, 90, CacheState::Cold)),
        MicroStep::Nothing
    );
    let mut never_replied = situation(&results, &status, 90, CacheState::Cold);
    never_replied.last_reply = None;
    assert_eq!(choose(&never_replied), MicroStep::Nothing);
}

#[test]
fn u4_from_twelve_results_on_the_oldest_are_deleted_by_reference_and_stay_deleted() {
    let mut results = calls(11, 100);
    let mut cached = CacheEditState::default();
    assert_eq!(cached.plan(&results, &LIMITS), None);
    call(&mut results, "t11", "Bash", 100);
    let deletions = cached.plan(&results, &LIMITS).unwrap();
    assert_eq!(
        ids(&deletions.results),
        ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]
    );
    assert_eq!(deletions.saved.unpadded(), 700);
    cached.pin(deletions.results.into_iter().map(|result| result.call));
    assert_eq!(cached.pinned().len(), 7);
    assert_eq!(
        cached.plan(&results, &LIMITS),
        None,
        "only five results are active"
    );
    for at in 12..19 {
        call(&mut results, &format!("t{at}"), "Read", 100);
    }
    let more = cached.plan(&results, &LIMITS).unwrap();
    assert_eq!(
        ids(&more.results),
        ["t7", "t8", "t9", "t10", "t11", "t12", "t13"]
    );
    let cached = CacheEditState::default();
    assert!(cached.pinned().is_empty());
    assert_eq!(
        cached.plan(&results, &LIMITS).unwrap().results.len(),
        14,
        "without pinned deletions, all results count"
    );
}

#[test]
fn u5_keeps_newest_three() {
    let results = calls(5, 30_000);
    let full = status(170_000);
    let MicroStep::Clear(clearing) = choose(&situation(&results, &full, 1, CacheState::Warm))
    else {
        panic!("nothing cleared");
    };
    assert_eq!(clearing.reason, MicroClearingReason::Pressure);
    assert_eq!(
        ids(&clearing.results),
        ["t0", "t1"],
        "the newest three stay, although they have more than 40,000 tokens"
    );
}

#[test]
fn u5_clears_oldest_results_first_until_forty_thousand_tokens_are_left() {
    let results = calls(20, 4_000);
    let MicroStep::Clear(clearing) =
        choose(&situation(&results, &status(150_000), 10, CacheState::Cold))
    else {
        panic!("nothing cleared");
    };
    assert_eq!(clearing.results.len(), 10, "80,000 down to 40,000");
    assert_eq!(clearing.saved.unpadded(), 40_000);
}

#[test]
fn u5_clears_nothing_if_that_saves_less_than_twenty_thousand_tokens() {
    let results = calls(14, 4_000);
    let step = choose(&situation(&results, &status(150_000), 10, CacheState::Cold));
    assert_eq!(
        step,
        MicroStep::Nothing,
        "clearing would save only 16,000 tokens"
    );
    assert!(matches!(
        choose(&situation(
            &calls(15, 4_000),
            &status(150_000),
            10,
            CacheState::Cold
        )),
        MicroStep::Clear(_)
    ));
}

#[test]
fn u5_begins_at_the_warning_threshold() {
    let results = calls(20, 4_000);
    let below = status(146_999);
    assert_eq!(
        choose(&situation(&results, &below, 10, CacheState::Cold)),
        MicroStep::Nothing
    );
    let at = status(147_000);
    assert!(matches!(
        choose(&situation(&results, &at, 10, CacheState::Cold)),
        MicroStep::Clear(_)
    ));
}

#[test]
fn u6_old_memory_attachments_are_cleared_with_the_results() {
    let mut results = calls(2, 100);
    let memory = |uuid: &str| {
        entry(
            json!({"type":"attachment","uuid":uuid,"attachment":{"type":"nested_memory","path":"/p/CLAUDE.md","content":"x"}}),
        )
    };
    results.push(memory("old").view());
    for at in 2..9 {
        call(&mut results, &format!("t{at}"), "Read", 100);
    }
    results.push(memory("new").view());
    let MicroStep::Clear(clearing) = choose(&situation(&results, &status(0), 61, CacheState::Cold))
    else {
        panic!("nothing cleared");
    };
    assert_eq!(clearing.attachments, ["old"]);
    assert!(clearing.saved.unpadded() > 400);
}

#[test]
fn u7_context_management_is_written_in_the_format_of_the_api() {
    let tools = ["Read", "Write", "TodoWrite"];
    let edits = context_management(
        &status(0),
        &ClearableTools::default(),
        tools,
        KeepThinking::All,
    );
    assert_eq!(
        edits,
        json!({"edits": [
            {"type": "clear_thinking_20251015", "keep": "all"},
            {"type": "clear_tool_uses_20250919",
             "trigger": {"type": "input_tokens", "value": 147_000},
             "keep": {"type": "tool_uses", "value": 3},
             "clear_at_least": {"type": "input_tokens", "value": 107_000},
             "exclude_tools": ["TodoWrite"],
             "clear_tool_inputs": ["Write"]},
        ]})
    );
    let last_turn_only = context_management(
        &status(0),
        &ClearableTools::default(),
        [],
        KeepThinking::LastTurn,
    );
    assert_eq!(last_turn_only["edits"][0]["keep"]["value"], 1);
    assert!(last_turn_only["edits"][1].get("exclude_tools").is_none());
}

#[test]
fn u7_the_providers_report_of_its_clearing_is_read() {
    let applied = json!([
        {"type": "clear_thinking_20251015", "cleared_thinking_turns": 2, "cleared_input_tokens": 900},
        {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 7, "cleared_input_tokens": 51_000},
        {"type": "something_new"},
    ]);
    assert_eq!(
        ProviderClearing::read(&applied),
        ProviderClearing {
            tool_uses: 7,
            thinking_turns: 2,
            input_tokens: 51_900
        }
    );
    assert_eq!(
        ProviderClearing::read(&Value::Null),
        ProviderClearing::default()
    );
}

#[test]
fn y5_clearing_under_pressure_waits_for_a_cold_cache_while_there_is_room() {
    let results = calls(20, 4_000);
    let warm = |used| choose(&situation(&results, &status(used), 1, CacheState::Warm));
    assert!(matches!(warm(150_000), MicroStep::Wait(_)));
    assert!(
        matches!(warm(167_000), MicroStep::Clear(_)),
        "at the compaction threshold, clearing does not wait any longer"
    );
}

#[test]
fn o1_clearing_after_idle_time_comes_first_then_cache_edits_then_pressure() {
    let results = calls(20, 4_000);
    let cached = CacheEditState::default();
    let full = status(160_000);
    let step = |minutes, cache| {
        choose(&MicroSituation {
            cached: Some(&cached),
            ..situation(&results, &full, minutes, cache)
        })
    };
    assert!(matches!(
        step(61, CacheState::Cold),
        MicroStep::Clear(PlannedClearing {
            reason: MicroClearingReason::Idle,
            ..
        })
    ));
    assert!(matches!(step(1, CacheState::Warm), MicroStep::Delete(_)));
    assert!(matches!(
        step(10, CacheState::Cold),
        MicroStep::Clear(PlannedClearing {
            reason: MicroClearingReason::Pressure,
            ..
        })
    ));
}

#[test]
fn h7_token_budgets_for_clearing_shrink_with_the_window() {
    let settings = WindowSettings {
        auto_compact: AutoCompact::On,
        ..WindowSettings::default()
    };
    let small = WindowStatus::new(&WindowInput {
        window: 20_000,
        max_output: 64_000,
        used: 12_000,
        settings,
    })
    .unwrap();
    let results = calls(10, 1_500);
    let MicroStep::Clear(clearing) = choose(&situation(&results, &small, 10, CacheState::Cold))
    else {
        panic!("nothing cleared");
    };
    assert_eq!(
        clearing.results.len(),
        5,
        "15,000 tokens go down to 8,000, and a saving of 4,000 is enough"
    );
}
