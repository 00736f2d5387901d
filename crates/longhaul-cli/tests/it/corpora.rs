//! Recorded files: every real transcript makes a report whose figures agree, every other file is refused.

use longhaul_testkit::corpora;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::support::{Finish, World};

/// What must hold for any report.
#[track_caller]
fn consistent(report: &Value) {
    let number = |pointer: &str| {
        let value = report.pointer(pointer).and_then(Value::as_i64);
        value.unwrap_or_else(|| panic!("{pointer} in {}", report["file"]))
    };
    assert_eq!(
        number("/context_tokens"),
        number("/measured") + number("/estimated")
    );
    let turns = report["turns"].as_array().unwrap();
    assert_eq!(turns.len() as i64, number("/rounds"));
    for class in [
        "input",
        "cache_read",
        "cache_write_5m",
        "cache_write_1h",
        "output",
    ] {
        let sum: i64 = turns
            .iter()
            .map(|turn| turn["usage"][class].as_i64().unwrap())
            .sum();
        assert_eq!(sum, number(&format!("/usage/{class}")), "{class}");
    }
    let cost: f64 = turns
        .iter()
        .filter_map(|turn| turn["cost_usd"].as_f64())
        .sum();
    assert!((cost - report["cost_usd"].as_f64().unwrap()).abs() < 1e-6);
    let rate = report["cache_hit_rate"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&rate));
    let parts: i64 = [
        "human_messages",
        "assistant_messages",
        "tool_requests",
        "tool_results",
        "attachments",
        "system_prompt",
        "tools",
        "memory_files",
    ]
    .map(|part| number(&format!("/categories/{part}")))
    .iter()
    .sum();
    // The parts and the rest make up the whole, unless the estimates alone are more than was measured.
    assert_eq!(
        parts + number("/categories/unattributed"),
        number("/context_tokens").max(parts)
    );
    let limits =
        ["warning", "auto_compact", "blocking"].map(|name| number(&format!("/thresholds/{name}")));
    assert!(limits.is_sorted() && number("/window/effective") <= number("/window/size"));
    let lines: Vec<i64> = (report["problems"].as_array().unwrap().iter())
        .map(|problem| problem["line"].as_i64().unwrap())
        .collect();
    assert!(lines.is_sorted() && lines.iter().all(|line| *line > 0));
    let duplicates = report["duplicate_reads"]["files"].as_object().unwrap();
    let again: i64 = duplicates
        .values()
        .map(|file| file["count"].as_i64().unwrap())
        .sum();
    assert_eq!(again, number("/duplicate_reads/count"));
}

#[test]
fn t1_t4_every_real_transcript_makes_a_consistent_report() {
    let Some(files) = corpora::claude_code_transcripts() else {
        return;
    };
    assert!(!files.is_empty());
    let world = World::new();
    for file in files {
        let mut command = world.longhaul(["inspect", "--json"]);
        let run = command.arg(&file).finish();
        let report = run.json();
        let problems = report["problems"].as_array().unwrap();
        assert_eq!(
            run.code,
            i32::from(!problems.is_empty()),
            "{}",
            file.display()
        );
        let lines = std::fs::read(&file).unwrap();
        let lines = lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty());
        assert!(report["entries"].as_u64().unwrap() <= lines.count() as u64);
        consistent(&report);
        let mut command = world.longhaul(["inspect"]);
        let page = command
            .arg(&file)
            .env("COLUMNS", "60")
            .finish()
            .ends(run.code)
            .out;
        assert!(page.lines().all(|line| line.width() <= 60), "{page}");
    }
}

#[test]
fn every_other_recorded_file_is_refused_with_a_sentence() {
    let Some(files) = corpora::all_files() else {
        return;
    };
    let world = World::new();
    for file in files.iter().filter(|file| {
        !file
            .components()
            .any(|part| part.as_os_str() == "claude-code")
    }) {
        let mut command = world.longhaul(["inspect"]);
        command.arg(file).finish().fails(&["this is "]);
    }
}
