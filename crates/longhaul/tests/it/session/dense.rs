//! Results that are many more tokens than their length suggests, deleted from the provider's cache by reference (U4, D4).

use longhaul_core::config::{Config, ResultReduction};
use longhaul_core::engine::Event;
use longhaul_core::inspect::{ClearingWay, Inspection, LineEnd};
use longhaul_core::micro::MicroClearingReason;
use longhaul_core::window::WindowSettings;
use serde_json::{Value, json};

use super::scripted::{Heard, Stage, answered, reads};

/// Texts with a token for every one or two characters.
fn dense() -> [(&'static str, String); 4] {
    let rows = |row: fn(u64) -> String| (0..400).map(row).collect::<Vec<_>>().join("\n");
    [
        (
            "csv",
            rows(|n| format!("{},{},{},{}", n * 7919 % 9973, n * 31 % 89, n * 17, n)),
        ),
        (
            "log",
            rows(|n| format!("{:x}:{:x} E{} @{}", n * 2_654_435_761, n * 97, n % 7, n)),
        ),
        (
            "json",
            rows(|n| json!([n * 13 % 7, {"k": n, "v": [n % 3, null]}]).to_string()),
        ),
        (
            "chinese",
            rows(|n| format!("第{n}行：缓存断了，结果很多，请重试。")),
        ),
    ]
}

fn deleted(line: &Value) -> Option<u64> {
    line["message"]["usage"]["cache_deleted_input_tokens"].as_u64()
}

#[tokio::test]
async fn u4_d4_dense_results_are_deleted_once_and_what_the_reply_measured_is_told() {
    for (kind, text) in dense() {
        let turns: Vec<Value> = (0..24).map(|_| reads("Read")).collect();
        let stage = Stage::new(200_000, &turns).await;
        let heard = Heard::default();
        let mut config = Config::default();
        config.switches.notes = false;
        config.background = false;
        config.reduce = ResultReduction::Off;
        // U4 deletes at its own trigger where thresholds alone decide.
        config.economy = longhaul::EconomyPolicy::Off;
        let mut session = (stage.session().config(config).with_cache_edits())
            .observer(heard.clone())
            .open()
            .unwrap();
        session.say("Read them all.").await.unwrap();
        for _ in 0..22 {
            stage.rest(7);
            let reply = session.turn().await.unwrap();
            session.results(answered(&reply, &text)).await.unwrap();
        }
        let events = heard.0.lock().unwrap().clone();
        let broke = events.iter().find_map(|event| match event {
            Event::CacheBreak(finding) => Some(finding.to_string()),
            _ => None,
        });
        assert_eq!(broke, None, "{kind}");
        let freed: Vec<u64> = (events.iter())
            .filter_map(|event| match event {
                Event::MicroCompacted { reason, saved, .. }
                    if *reason == MicroClearingReason::Cached =>
                {
                    Some(*saved)
                }
                _ => None,
            })
            .collect();
        let lines = stage.lines();
        let measured = lines.iter().rev().find_map(deleted).unwrap();
        assert_eq!(freed.len(), 2, "{kind}: {freed:?}");
        assert_eq!(freed.iter().sum::<u64>(), measured, "{kind}: {freed:?}");
        // Pins are never dropped and set again: each request asks for at least what the one before did.
        let asked: Vec<usize> = (stage.sent.lock().unwrap().iter())
            .map(|body| body["cache_edits"].as_array().unwrap().len())
            .collect();
        assert!(asked.is_sorted(), "{kind}: {asked:?}");
        assert_eq!(asked.last(), Some(&14), "{kind}: {asked:?}");
        looks_back(&stage, kind, measured);
    }
}

/// A later reader of the file finds the same.
fn looks_back(stage: &Stage, kind: &str, measured: u64) {
    let mut inspection = Inspection::new();
    let mut offset = 0;
    for (number, line) in (1..).zip(stage.lines()) {
        let line = line.to_string();
        inspection.line(number, offset, line.as_bytes(), LineEnd::Lf);
        offset += line.len() as u64 + 1;
    }
    let report = inspection
        .report(&stage.models, &WindowSettings::default(), None)
        .unwrap();
    let clearings = &report.clearings;
    assert!(
        clearings
            .iter()
            .all(|clearing| clearing.way == ClearingWay::CacheEdits)
    );
    let results: Vec<u64> = clearings.iter().map(|clearing| clearing.results).collect();
    assert_eq!(results, [7, 7], "{kind}");
    let saved = clearings
        .iter()
        .map(|clearing| clearing.tokens_saved.unwrap());
    assert_eq!(saved.sum::<u64>(), measured, "{kind}");
    assert_eq!(report.categories.cleared_results, 14, "{kind}");
}

#[tokio::test]
async fn u4_a_cache_that_expired_takes_the_deletions_with_it_once() {
    let turns: Vec<Value> = (0..24).map(|_| reads("Read")).collect();
    let stage = Stage::new(200_000, &turns).await;
    let heard = Heard::default();
    let mut config = Config::default();
    config.switches.notes = false;
    config.background = false;
    config.reduce = ResultReduction::Off;
    config.economy = longhaul::EconomyPolicy::Off;
    let mut session = (stage.session().config(config).with_cache_edits())
        .observer(heard.clone())
        .open()
        .unwrap();
    session.say("Read them all.").await.unwrap();
    let [_, _, _, (_, text)] = dense();
    for turn in 0..18 {
        // The user is away for ten minutes: the cache is gone, and the results are in the next one.
        stage.rest(if turn == 15 { 600 } else { 7 });
        let reply = session.turn().await.unwrap();
        session.results(answered(&reply, &text)).await.unwrap();
    }
    let broke = (heard.0.lock().unwrap().iter())
        .filter(|event| matches!(event, Event::CacheBreak(_)))
        .count();
    assert_eq!(broke, 1);
    let lines = stage.lines();
    let edits = lines
        .iter()
        .filter_map(|line| line["microcompactMetadata"]["cacheEdits"].as_array());
    let edits: Vec<usize> = edits.map(Vec::len).collect();
    assert_eq!(
        edits,
        [7, 0, 11],
        "set, dropped with the cache, and set in the new one"
    );
}
