//! Decisions by price in a session: what they cost, what they leave, and that a resumed session makes the same ones.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul::EconomyPolicy;
use longhaul_core::config::Config;
use longhaul_core::economy::{EconomyRecord, RecordedEconomyAction};
use longhaul_core::engine::{CompactRequest, Event};
use longhaul_core::report::LossReport;
use serde_json::Value;

use super::host::{Host, Mode, Setup, Tending};
use super::plan::{Flow, Step, plan};
use super::{PATIENCE, WINDOW, inspected};

fn setup(mode: Mode, economy: EconomyPolicy, model: &'static str) -> Setup {
    Setup {
        mode,
        tending: Tending::Attends,
        model,
        window: WINDOW,
        economy,
    }
}

async fn lived(setup: Setup, steps: &Arc<Vec<Step>>, folder: &Path) -> Host {
    let mut host = Host::new(setup, Arc::clone(steps), folder);
    host.live().await;
    assert_eq!(host.provider.rejected(), Vec::<String>::new());
    assert_eq!(host.refused, Vec::<String>::new());
    host
}

/// A line of the transcript that matters here.
enum Line {
    /// A reply: its prompt, and what it wrote to the cache.
    Reply {
        prompt: u64,
        written: u64,
    },
    /// A result: its call and its size in characters.
    Result(String, usize),
    /// A clearing by price: the calls, and the record.
    Cleared(Vec<String>, EconomyRecord),
    /// A summary by price.
    Summarized(EconomyRecord),
    Boundary,
}

fn lines(transcript: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(transcript).unwrap();
    let mut lines = Vec::new();
    for line in text.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let record = |metadata: &Value| -> Option<EconomyRecord> {
            serde_json::from_value(metadata.get("economy")?.clone()).ok()
        };
        match (entry["type"].as_str(), entry["subtype"].as_str()) {
            (Some("assistant"), _) => {
                let usage = &entry["message"]["usage"];
                let number = |key: &str| usage[key].as_u64().unwrap_or(0);
                let written = number("cache_creation_input_tokens");
                let prompt = number("input_tokens") + number("cache_read_input_tokens") + written;
                lines.push(Line::Reply { prompt, written });
            }
            (Some("user"), _) => {
                for block in entry["message"]["content"].as_array().into_iter().flatten() {
                    if let Some(call) = block["tool_use_id"].as_str() {
                        let size = block["content"].to_string().len();
                        lines.push(Line::Result(call.to_owned(), size));
                    }
                }
            }
            (_, Some("microcompact_boundary")) => {
                let metadata = &entry["microcompactMetadata"];
                let calls = metadata["compactedToolIds"].as_array().unwrap().iter();
                let calls = calls.map(|call| call.as_str().unwrap().to_owned());
                if let Some(record) = record(metadata) {
                    lines.push(Line::Cleared(calls.collect(), record));
                }
            }
            (_, Some("compact_boundary")) => {
                lines.push(match record(&entry["compactMetadata"]) {
                    Some(record) => Line::Summarized(record),
                    None => Line::Boundary,
                });
            }
            _ => {}
        }
    }
    lines
}

fn records(transcript: &Path) -> Vec<EconomyRecord> {
    let all = lines(transcript).into_iter();
    all.filter_map(|line| match line {
        Line::Cleared(_, record) | Line::Summarized(record) => Some(record),
        _ => None,
    })
    .collect()
}

#[tokio::test(start_paused = true)]
async fn v1_the_prices_of_clearings_are_what_the_provider_bills_for_them() {
    let steps = Arc::new(plan(1, 250, Flow::Mixed));
    for model in ["claude-sonnet-4-6", "claude-opus-5-5"] {
        let folder = tempfile::tempdir().unwrap();
        let host = lived(
            setup(Mode::Full, EconomyPolicy::Clear, model),
            &steps,
            folder.path(),
        )
        .await;
        let spec = longhaul::ModelTable::builtin().resolve(model).spec;
        let prices = spec.prices.clone().unwrap();
        let difference = (prices.base.cache_write_5m.of(1_000_000)
            - prices.base.cache_read.of(1_000_000))
        .to_f64()
            / 1e6;
        let (mut priced, mut billed, mut shares) = (0.0, 0.0, Vec::new());
        let (mut before, mut pending) = (None, None);
        for line in lines(&host.transcript) {
            match line {
                Line::Cleared(_, record) if record.price_usd > 0.0 => pending = Some(record),
                Line::Reply { prompt, written } => {
                    if let (Some(record), Some(before)) = (pending.take(), before) {
                        // What was written and is not new was written again.
                        let added = (prompt + record.tokens_freed).saturating_sub(before);
                        let again = written.saturating_sub(added) as f64 * difference;
                        shares.push(again / record.price_usd);
                        billed += again;
                        priced += record.price_usd;
                    }
                    before = Some(prompt);
                }
                Line::Boundary | Line::Summarized(_) => before = None,
                _ => {}
            }
        }
        shares.sort_unstable_by(f64::total_cmp);
        let count = shares.len();
        println!("{model}: {count} clearings, priced ${priced:.3}, billed ${billed:.3}");
        assert!(count >= 5, "{model}: {count}");
        // Thinking that a bound model has to think again is priced, too, but is not on the bill of the next prompt.
        let median = shares[count / 2];
        assert!((0.8..1.1).contains(&median), "{model}: {shares:.2?}");
        // Each finds the entry of the cache before its first result.
        let most = shares.last().copied().unwrap_or_default();
        assert!(most < 1.5, "{model}: {shares:.2?}");
        assert!(billed <= priced, "{model}: {billed:.3} of {priced:.3}");
    }
}

#[tokio::test(start_paused = true)]
async fn v2_y2_a_resumed_session_makes_the_decisions_that_it_would_have_made() {
    let steps = Arc::new(plan(4, 160, Flow::Mixed));
    let mut seen = Vec::new();
    // Summaries hold the path of the transcript, so both sessions have the same.
    let folder = tempfile::tempdir().unwrap();
    for reopened in [usize::MAX, 9] {
        let setup = setup(Mode::Full, EconomyPolicy::Full, "claude-sonnet-4-6");
        let mut host = Host::new(setup, Arc::clone(&steps), folder.path());
        for at in 0..steps.len() {
            if at % reopened == reopened - 1 {
                host.open();
            }
            host.step(at).await;
        }
        seen.push(records(&host.transcript));
        let transcript = host.transcript.clone();
        drop(host);
        std::fs::remove_file(transcript).unwrap();
    }
    assert!(seen[0].len() >= 5, "{}", seen[0].len());
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test(start_paused = true)]
async fn v4_the_newest_results_and_the_last_round_stay() {
    let folder = tempfile::tempdir().unwrap();
    let steps = Arc::new(plan(2, 200, Flow::Mixed));
    let setup = setup(Mode::Full, EconomyPolicy::Clear, "claude-sonnet-4-6");
    let host = lived(setup, &steps, folder.path()).await;
    let (mut results, mut round, mut cold) = (Vec::new(), Vec::new(), 0);
    for line in lines(&host.transcript) {
        match line {
            Line::Reply { .. } => round.clear(),
            Line::Result(call, size) => {
                results.push((call.clone(), size));
                round.push(call);
            }
            Line::Cleared(calls, record) => {
                let cleared: HashSet<&String> = calls.iter().collect();
                let is_cold = record.price_usd <= 0.0;
                cold += usize::from(is_cold);
                let newest = results.iter().rev();
                for (call, _) in newest.take(if is_cold { 5 } else { 3 }) {
                    assert!(!cleared.contains(call), "one of the newest was cleared");
                }
                assert!(round.iter().all(|call| !cleared.contains(call)));
                // The newest 10,000 tokens stay word for word: most of that are results.
                let after = results
                    .iter()
                    .rev()
                    .take_while(|(call, _)| !cleared.contains(call));
                let kept: usize = after.map(|(_, size)| size).sum();
                assert!(
                    kept > 10_000,
                    "{kept} characters of results after the last cleared one"
                );
            }
            Line::Boundary | Line::Summarized(_) => {}
        }
    }
    assert!(cold > 0, "no clearing on a cold cache was tried");
}

#[tokio::test(start_paused = true)]
async fn v5_each_policy_decides_what_it_says_and_switches_switch_it_off() {
    let steps = Arc::new(plan(3, 150, Flow::Mixed));
    let mut kinds = Vec::new();
    for policy in [
        EconomyPolicy::Off,
        EconomyPolicy::Clear,
        EconomyPolicy::Full,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let setup = setup(Mode::Full, policy, "claude-sonnet-4-6");
        let host = lived(setup, &steps, folder.path()).await;
        let records = records(&host.transcript);
        assert!(records.iter().all(|record| record.policy == policy));
        let count = |action| {
            records
                .iter()
                .filter(|record| record.action == action)
                .count()
        };
        kinds.push((
            count(RecordedEconomyAction::Clear),
            count(RecordedEconomyAction::Summarize),
        ));
    }
    let [off, clear, full] = kinds[..] else {
        unreachable!()
    };
    assert_eq!(off, (0, 0));
    assert!(clear.0 > 0 && clear.1 == 0, "{clear:?}");
    assert!(full.1 > 0, "{full:?}");
    // Without automatic compaction, or without clearing, nothing is cleared by price.
    let switched_off: [fn(&mut Config); 2] = [
        |config| config.switches.automatic = false,
        |config| config.switches.micro = false,
    ];
    for switch_off in switched_off {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = setup(Mode::Full, EconomyPolicy::Clear, "claude-sonnet-4-6");
        setup.window = 1_000_000;
        let mut host = Host::new(setup, Arc::clone(&steps), folder.path());
        host.change = Some(switch_off);
        host.open();
        for at in 0..80 {
            host.step(at).await;
        }
        assert_eq!(records(&host.transcript), []);
    }
}

#[tokio::test(start_paused = true)]
async fn v5_a_policy_that_changes_in_mid_session_uses_what_was_paid_before() {
    let steps = Arc::new(plan(3, 80, Flow::Mixed));
    let folder = tempfile::tempdir().unwrap();
    let setup = setup(Mode::Full, EconomyPolicy::Off, "claude-sonnet-4-6");
    let mut host = Host::new(setup, Arc::clone(&steps), folder.path());
    for at in 0..25 {
        host.step(at).await;
    }
    assert_eq!(records(&host.transcript), []);
    host.session().set_economy(EconomyPolicy::Clear);
    host.step(25).await;
    let cleared = records(&host.transcript);
    assert_eq!(cleared.len(), 1, "what sending it again has cost counts");
    assert!(cleared[0].rent_usd > 0.0);
    host.session().set_economy(EconomyPolicy::Off);
    for at in 26..60 {
        host.step(at).await;
    }
    assert_eq!(records(&host.transcript).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn v6_each_decision_is_recorded_and_its_outcome_is_computed_when_it_is_read() {
    let steps = Arc::new(plan(1, 150, Flow::Mixed));
    let folder = tempfile::tempdir().unwrap();
    let setup = setup(Mode::Full, EconomyPolicy::Full, "claude-sonnet-4-6");
    let host = lived(setup, &steps, folder.path()).await;
    let told = host.told.events().into_iter();
    let told: Vec<EconomyRecord> = told
        .filter_map(|event| match event {
            Event::Economized(record) => Some(*record),
            _ => None,
        })
        .collect();
    let recorded = records(&host.transcript);
    assert_eq!(told, recorded, "listeners are told what is on disk");
    let report = inspected(&host.transcript);
    let mut read: Vec<_> = report.economy().collect();
    read.sort_by(|a, b| a.rent_usd.total_cmp(&b.rent_usd));
    assert_eq!(read.len(), recorded.len());
    for decision in read {
        let expected = decision.pay_back_requests.unwrap();
        assert_eq!(decision.paid_back, decision.requests_since >= expected);
        let sentence = decision.sentence();
        assert!(sentence.starts_with("cost "), "{sentence}");
        assert_eq!(
            sentence.contains("so far"),
            !decision.paid_back,
            "{sentence}"
        );
    }
}

/// What is left at the end of a session: the user's messages that are not in view word for word, and the report of the
/// last compaction.
async fn audited(economy: EconomyPolicy, steps: &Arc<Vec<Step>>) -> (usize, LossReport) {
    let folder = tempfile::tempdir().unwrap();
    let setup = setup(Mode::Both, economy, "claude-sonnet-4-6");
    let mut host = lived(setup, steps, folder.path()).await;
    host.nothing_is_lost();
    let missing = host.missing().len();
    // Both are compacted at the same place, if there is anything to compact.
    let request = CompactRequest {
        local: true,
        ..CompactRequest::default()
    };
    let _ = host.session().compact(request).await;
    let report = host.told.compactions().last().unwrap().report.clone();
    host.session.take().unwrap().close(PATIENCE).await;
    (missing, report)
}

#[tokio::test(start_paused = true)]
async fn v5_x1_deciding_by_price_loses_nothing_that_thresholds_alone_keep() {
    for seed in [1, 5] {
        let steps = Arc::new(plan(seed, 300, Flow::Mixed));
        let (missing_off, off) = audited(EconomyPolicy::Off, &steps).await;
        let (missing_full, full) = audited(EconomyPolicy::Full, &steps).await;
        println!("seed {seed}: {off:?}\n{full:?}");
        assert!(
            missing_full <= missing_off,
            "{missing_full} of {missing_off}"
        );
        let lost = |report: &LossReport| {
            let (said, rules) = (report.user_messages, report.rules);
            (
                said.shortened + said.omitted,
                rules.total - rules.verbatim,
                report.todos.open - report.todos.kept,
            )
        };
        let (off_lost, full_lost) = (lost(&off), lost(&full));
        assert!(full_lost.0 <= off_lost.0, "user messages");
        assert!(full_lost.1 <= off_lost.1, "rules");
        assert!(full_lost.2 <= off_lost.2, "todos");
        assert!(full.files.touched >= off.files.touched, "files");
    }
}

#[tokio::test(start_paused = true)]
async fn v5_a_clock_that_goes_back_does_no_harm() {
    let steps = Arc::new(plan(6, 60, Flow::Mixed));
    let folder = tempfile::tempdir().unwrap();
    let setup = setup(Mode::Both, EconomyPolicy::Full, "claude-sonnet-4-6");
    let mut host = Host::new(setup, Arc::clone(&steps), folder.path());
    for at in 0..steps.len() {
        if at % 10 == 9 {
            host.provider.set_back(Duration::from_secs(4_000));
        }
        host.step(at).await;
    }
    host.nothing_is_lost();
    assert_eq!(host.provider.rejected(), Vec::<String>::new());
}
