//! `inspect --json`: its fields are those documented, their values those of the file.

use longhaul_testkit::session::{CacheTtl, CompactionSchedule, KeptRounds, TranscriptRole};
use longhaul_testkit::{GeneratedSession, SessionSpec};
use serde_json::{Value, json};

use crate::support::{World, long_session, plain_session, rich_session};

fn usage(of: &longhaul_testkit::session::ExpectedUsage) -> Value {
    json!({
        "input": of.input,
        "cache_read": of.cache_read,
        "cache_write_5m": of.cache_write_5m,
        "cache_write_1h": of.cache_write_1h,
        "output": of.output,
        "web_searches": 0,
    })
}

/// Compares the report with what the generator recorded.
fn check(session: &GeneratedSession) {
    let world = World::new();
    let run = world.inspect(&session.bytes).ends(0);
    assert_eq!(run.err, "");
    let report = run.json();
    let truth = &session.truth;
    assert_eq!(report["session_id"], truth.session_id);
    assert_eq!(report["entries"], truth.lines);
    assert_eq!(report["rounds"], truth.rounds);
    assert_eq!(report["turns"].as_array().unwrap().len(), truth.rounds);
    assert_eq!(report["usage"], usage(&truth.usage));
    assert_eq!(report["sidechains"]["usage"], usage(&truth.sidechain_usage));
    assert_eq!(report["duplicate_reads"]["count"], truth.duplicate_reads);
    assert_eq!(report["problems"], json!([]));
    let calls: Vec<(&str, u64)> = (report["tools"].as_object().unwrap().iter())
        .map(|(name, tool)| (name.as_str(), tool["calls"].as_u64().unwrap()))
        .filter(|(_, calls)| *calls > 0)
        .collect();
    let true_calls: Vec<(&str, u64)> = (truth.calls.iter())
        .map(|(name, calls)| (*name, *calls as u64))
        .filter(|(_, calls)| *calls > 0)
        .collect();
    assert_eq!(calls, true_calls);
    let boundaries = report["boundaries"].as_array().unwrap();
    assert_eq!(boundaries.len(), truth.boundaries.len());
    for (boundary, truth) in boundaries.iter().zip(&truth.boundaries) {
        assert_eq!(boundary["line"], truth.line);
        assert_eq!(boundary["uuid"], truth.uuid);
        assert_eq!(boundary["pre_tokens"], truth.pre_tokens);
        assert_eq!(boundary["preserved"], truth.kept.len());
        assert!(boundary["summary_tokens"].as_u64().unwrap() > 0);
        assert!(boundary["replaced"]["entries"].as_u64().unwrap() > 0);
    }
    let clearings = report["clearings"].as_array().unwrap();
    assert_eq!(clearings.len(), truth.clearings.len());
    for (clearing, truth) in clearings.iter().zip(&truth.clearings) {
        assert_eq!(clearing["line"], truth.line);
        assert_eq!(clearing["results"], truth.tool_ids.len());
    }
    let measured = truth.anchor.map_or(0, |(_, usage)| usage.context());
    assert_eq!(report["measured"], measured);
    let sum = report["measured"].as_i64().unwrap() + report["estimated"].as_i64().unwrap();
    assert_eq!(report["context_tokens"].as_i64().unwrap(), sum);
}

#[test]
fn t1_t4_m6_every_figure_of_a_rich_session_is_the_true_one() {
    check(&rich_session());
}

#[test]
fn t1_t4_figures_are_true_of_sessions_of_every_kind() {
    check(&plain_session());
    let long = long_session();
    assert!(!long.truth.clearings.is_empty() && !long.truth.boundaries.is_empty());
    check(&long);
    check(&SessionSpec::new(3, 1).generate());
    check(
        &SessionSpec::new(23, 40)
            .cache_ttl(CacheTtl::OneHour)
            .generate(),
    );
    check(
        &SessionSpec::new(29, 30)
            .role(TranscriptRole::SubAgent)
            .generate(),
    );
    for kept in [
        KeptRounds::Nothing,
        KeptRounds::AfterBoundary,
        KeptRounds::Listed,
    ] {
        let spec = SessionSpec::new(31, 45).compaction(CompactionSchedule::EveryRounds(15));
        check(&spec.kept(kept).generate());
    }
}

#[test]
fn t4_h2_every_documented_field_is_there_and_of_its_type() {
    let world = World::new();
    let report = world.inspect(&rich_session().bytes).ends(0).json();
    let fields = [
        ("/file", "string"),
        ("/session_id", "string"),
        ("/entries", "count"),
        ("/messages", "count"),
        ("/rounds", "count"),
        ("/context_tokens", "count"),
        ("/estimated", "number"),
        ("/measured", "count"),
        ("/calibrated", "object"),
        ("/calibrated/tokens", "count"),
        ("/calibrated/bound", "count"),
        ("/calibrated/scale", "number"),
        ("/calibrated/observations", "count"),
        ("/cleared", "count"),
        ("/window/model", "string"),
        ("/window/size", "count"),
        ("/window/max_output", "count"),
        ("/window/effective", "count"),
        ("/thresholds/limit", "count"),
        ("/thresholds/warning", "count"),
        ("/thresholds/error", "count"),
        ("/thresholds/auto_compact", "count"),
        ("/thresholds/auto_compact_enabled", "boolean"),
        ("/thresholds/blocking", "count"),
        ("/thresholds/percent_left", "count"),
        ("/level", "string"),
        ("/categories/human_messages", "count"),
        ("/categories/summaries", "count"),
        ("/categories/assistant_messages", "count"),
        ("/categories/tool_requests", "count"),
        ("/categories/tool_results", "count"),
        ("/categories/tool_results_by_tool", "object"),
        ("/categories/attachments", "count"),
        ("/categories/system_prompt", "count"),
        ("/categories/tools", "count"),
        ("/categories/memory_files", "count"),
        ("/categories/duplicate_reads", "count"),
        ("/categories/unattributed", "count"),
        ("/tools/Read/calls", "count"),
        ("/tools/Read/tokens", "count"),
        ("/tools/Read/request_tokens", "count"),
        ("/boundaries/0/line", "count"),
        ("/boundaries/0/uuid", "string"),
        ("/boundaries/0/timestamp", "string"),
        ("/boundaries/0/trigger", "string"),
        ("/boundaries/0/pre_tokens", "count"),
        ("/boundaries/0/messages_summarized", "count or null"),
        ("/boundaries/0/replaced/entries", "count"),
        ("/boundaries/0/replaced/tokens", "count"),
        ("/boundaries/0/preserved", "count"),
        ("/boundaries/0/summary_tokens", "count"),
        ("/clearings", "array"),
        ("/usage/input", "count"),
        ("/usage/cache_read", "count"),
        ("/usage/cache_write_5m", "count"),
        ("/usage/cache_write_1h", "count"),
        ("/usage/output", "count"),
        ("/cache_hit_rate", "number"),
        ("/cost_usd", "number"),
        ("/duplicate_reads/count", "count"),
        ("/duplicate_reads/tokens", "count"),
        ("/duplicate_reads/files", "object"),
        ("/sidechains/entries", "count"),
        ("/sidechains/rounds", "count"),
        ("/sidechains/usage/input", "count"),
        ("/sidechains/cache_hit_rate", "number"),
        ("/sidechains/cost_usd", "number"),
        ("/largest_results/0/line", "count"),
        ("/largest_results/0/tool", "string"),
        ("/largest_results/0/about", "string"),
        ("/largest_results/0/tokens", "count"),
        ("/largest_results/0/in_view", "boolean"),
        ("/turns/0/line", "count"),
        ("/turns/0/timestamp", "string"),
        ("/turns/0/model", "string"),
        ("/turns/0/context_tokens", "count"),
        ("/turns/0/usage/output", "count"),
        ("/turns/0/cache_hit_rate", "number"),
        ("/turns/0/cost_usd", "number"),
        ("/assumptions", "array"),
        ("/problems", "array"),
    ];
    for (pointer, kind) in fields {
        let value = report.pointer(pointer);
        let value = value.unwrap_or_else(|| panic!("{pointer} is not there"));
        let fits = match kind {
            "string" => value.is_string(),
            "count" => value.is_u64(),
            "count or null" => value.is_u64() || value.is_null(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            _ => value.is_array(),
        };
        assert!(fits, "{pointer} is {value}, no {kind}");
    }
}

#[test]
fn t4_shares_and_sums_agree_with_each_other() {
    let world = World::new();
    let report = world.inspect(&rich_session().bytes).json();
    let number = |pointer: &str| report.pointer(pointer).unwrap().as_f64().unwrap();
    let prompt = number("/usage/input")
        + number("/usage/cache_read")
        + number("/usage/cache_write_5m")
        + number("/usage/cache_write_1h");
    assert!(
        (report["cache_hit_rate"].as_f64().unwrap() - number("/usage/cache_read") / prompt).abs()
            < 1e-9
    );
    let turns = report["turns"].as_array().unwrap();
    let cost: f64 = turns
        .iter()
        .map(|turn| turn["cost_usd"].as_f64().unwrap())
        .sum();
    assert!((cost - number("/cost_usd")).abs() < 1e-6);
    let output: f64 = turns
        .iter()
        .map(|turn| turn["usage"]["output"].as_f64().unwrap())
        .sum();
    assert_eq!(output, number("/usage/output"));
    let by_tool = report["categories"]["tool_results_by_tool"]
        .as_object()
        .unwrap();
    let by_tool: u64 = by_tool
        .values()
        .map(|tokens| tokens.as_u64().unwrap())
        .sum();
    assert_eq!(report["categories"]["tool_results"], by_tool);
    let sizes: Vec<u64> = (report["largest_results"].as_array().unwrap().iter())
        .map(|result| result["tokens"].as_u64().unwrap())
        .collect();
    assert!(sizes.len() <= 10 && sizes.is_sorted_by(|a, b| a >= b));
}
