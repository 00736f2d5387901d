//! Compares calibrated estimates with what providers measured in recorded sessions.
//!
//! An addition is what came into a conversation between one measurement and the next. "500 tokens or more" can be said of
//! its estimate, which is all that is known when one is needed, or of its measurement. The second includes additions of
//! which the transcript holds only a part: hooks add text to the results of edits, and to the refusal of a command, that
//! is sent and not recorded. Both populations are tested, the second without the additions that show traces of such hooks;
//! the figure with them is printed.

use std::collections::HashSet;
use std::path::Path;

use bytes::Bytes;
use longhaul_core::message::{Entry, Id, Subtype};
use longhaul_core::models::{ModelTable, Tokenizer};
use longhaul_core::tokens::EntryStanding;
use longhaul_core::tokens::calibrated::{
    CalibratedClass, CalibratedCounter, CalibratedEstimate, CalibratedLedger, TextShape,
};
use serde_json::Value;

/// What was expected and what was measured.
#[derive(Debug, Clone, Copy)]
struct Comparison {
    expected: CalibratedEstimate,
    measured: u64,
    traces: HookTraces,
}

impl Comparison {
    fn error(self) -> f64 {
        self.expected.tokens.abs_diff(self.measured) as f64 / self.measured as f64
    }

    fn is_within_bound(self) -> bool {
        self.expected.tokens.abs_diff(self.measured) <= self.expected.bound
    }
}

/// Whether hooks may have added text to an addition, by what the transcript says of it.
#[derive(Debug, Clone, Copy, Default)]
struct HookTraces {
    edits: bool,
    ran_after: bool,
    ran_before: bool,
    refused: bool,
}

impl HookTraces {
    fn note(&mut self, line: &str) {
        let is_reply = line.contains("\"type\":\"assistant\"");
        let names = ["\"name\":\"Edit\"", "\"name\":\"Write\""];
        self.edits |= is_reply && names.iter().any(|name| line.contains(name));
        self.ran_after |= line.contains("\"hookEvent\":\"PostToolUse\"");
        self.ran_before |= line.contains("\"hookEvent\":\"PreToolUse\"");
        self.refused |= line.contains("\"is_error\":true");
    }

    fn may_have_added(self) -> bool {
        (self.edits && self.ran_after) || (self.refused && self.ran_before)
    }
}

#[derive(Debug, Default)]
struct SessionComparisons {
    additions: Vec<Comparison>,
    /// The whole prompt of the first request after a compaction.
    after_boundaries: Vec<Comparison>,
}

/// The share below which this many percent of the errors lie.
fn percentile(errors: &[f64], percent: usize) -> f64 {
    assert!(!errors.is_empty(), "nothing was compared");
    let mut errors = errors.to_vec();
    errors.sort_by(f64::total_cmp);
    errors[(errors.len() - 1) * percent / 100]
}

/// Reads a session as it was recorded, line by line. `density` stands for a tokenizer that makes this many percent of
/// the recorded tokens.
fn compare(path: &Path, density: u64) -> SessionComparisons {
    let models = ModelTable::builtin();
    let mut ledger = CalibratedLedger::new(Tokenizer::Old);
    let mut found = SessionComparisons::default();
    let mut messages: HashSet<Option<Id>> = HashSet::new();
    let mut is_first = true;
    let mut traces = HookTraces::default();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let Ok(entry) = Entry::read(Bytes::copy_from_slice(line.as_bytes())) else {
            continue;
        };
        let entry = entry.view();
        if entry.facets.subtype == Subtype::CompactBoundary {
            ledger.begin_view();
        }
        if entry.facets.is_reply()
            && let Some(usage) = entry.facets.usage.as_deref()
            && usage.prompt() > 0
        {
            ledger.use_tokenizer(
                models
                    .resolve(&entry.text(entry.facets.model))
                    .spec
                    .tokenizer,
            );
            let size = ledger.size();
            if messages.insert(entry.message_id()) {
                let prompt = usage.prompt() * density / 100;
                let anchor = size.measured.tokens();
                if anchor > 0 && size.cleared.tokens == 0 && prompt > anchor {
                    found.additions.push(Comparison {
                        expected: size.added,
                        measured: prompt - anchor,
                        traces,
                    });
                } else if anchor == 0 && !is_first {
                    found.after_boundaries.push(Comparison {
                        expected: size.estimate(),
                        measured: prompt,
                        traces,
                    });
                }
                is_first = false;
                traces = HookTraces::default();
            }
        }
        traces.note(line);
        if density == 100 {
            ledger.entry(entry, EntryStanding::Live);
        } else {
            let line = scaled(line, density);
            let entry = Entry::read(line.into()).unwrap();
            ledger.entry(entry.view(), EntryStanding::Live);
        }
    }
    found
}

/// The line with a usage that another tokenizer would have had.
fn scaled(line: &str, density: u64) -> Vec<u8> {
    let mut value: Value = serde_json::from_str(line).unwrap();
    if let Some(Value::Object(usage)) = value.pointer_mut("/message/usage") {
        let counts = [
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        ];
        for name in counts {
            if let Some(count) = usage.get(name).and_then(Value::as_u64) {
                usage.insert(name.to_owned(), (count * density / 100).into());
            }
        }
        usage.remove("cache_creation");
        usage.remove("iterations");
    }
    serde_json::to_vec(&value).unwrap()
}

fn sessions() -> Option<Vec<std::path::PathBuf>> {
    let mut files = longhaul_testkit::corpora::claude_code_transcripts()?;
    // A summarizer's own call is one request, and measures nothing twice.
    files.retain(|path| !path.to_string_lossy().contains("acompact"));
    Some(files)
}

fn large(comparisons: &[Comparison]) -> Vec<Comparison> {
    let all = comparisons.iter().copied();
    all.filter(|one| one.expected.tokens >= 500).collect()
}

#[test]
fn x4_additions_of_recorded_sessions_are_estimated_within_the_stated_error() {
    let Some(files) = sessions() else { return };
    let all: Vec<Comparison> = files
        .iter()
        .flat_map(|path| compare(path, 100).additions)
        .collect();
    let large = large(&all);
    let errors: Vec<f64> = large.iter().map(|one| one.error()).collect();
    let (median, most) = (percentile(&errors, 50), percentile(&errors, 90));
    let within = large.iter().filter(|one| one.is_within_bound()).count();
    let within = within as f64 / large.len() as f64;
    println!(
        "{} additions; estimated at 500 or more: {}, median {:.1} %, p90 {:.1} %, within the bound {:.1} %",
        all.len(),
        large.len(),
        100.0 * median,
        100.0 * most,
        100.0 * within,
    );
    assert!(large.len() > 400, "{}", large.len());
    assert!(median <= 0.04, "{median}");
    assert!(most <= 0.17, "{most}");
    assert!(within >= 0.88, "{within}");
    let measured = || all.iter().filter(|one| one.measured >= 500);
    let every: Vec<f64> = measured().map(|one| one.error()).collect();
    let recorded: Vec<f64> = measured()
        .filter(|one| !one.traces.may_have_added())
        .map(|one| one.error())
        .collect();
    for (name, errors) in [("all", &every), ("without traces of hooks", &recorded)] {
        println!(
            "measured at 500 or more, {name}: {}, median {:.1} %, p90 {:.1} %",
            errors.len(),
            100.0 * percentile(errors, 50),
            100.0 * percentile(errors, 90),
        );
    }
    assert!(recorded.len() > 350, "{}", recorded.len());
    assert!(percentile(&recorded, 50) <= 0.04);
    assert!(percentile(&recorded, 90) <= 0.17);
}

#[test]
fn x4_another_tokenizer_is_learned_within_a_few_replies() {
    let Some(files) = sessions() else { return };
    for density in [80, 130, 160] {
        let additions = files.iter().flat_map(|path| {
            let large = large(&compare(path, density).additions);
            large.into_iter().skip(2)
        });
        let errors: Vec<f64> = additions.map(Comparison::error).collect();
        let median = percentile(&errors, 50);
        println!(
            "{density} %: median {:.1} %, p90 {:.1} %",
            100.0 * median,
            100.0 * percentile(&errors, 90)
        );
        assert!(median <= 0.06, "{density}: {median}");
    }
}

#[test]
fn x4_the_first_estimate_after_a_compaction_has_the_request_prefix() {
    let Some(files) = sessions() else { return };
    let found = files
        .iter()
        .flat_map(|path| compare(path, 100).after_boundaries);
    let found: Vec<Comparison> = found.collect();
    for one in &found {
        println!(
            "expected {:?}, measured {}: {:.1} %",
            one.expected,
            one.measured,
            100.0 * one.error()
        );
    }
    let errors: Vec<f64> = found.iter().map(|one| one.error()).collect();
    assert!(found.len() >= 7);
    assert!(percentile(&errors, 50) <= 0.2, "{errors:?}");
    let within = found.iter().filter(|one| one.is_within_bound()).count();
    assert!(within + 1 >= found.len(), "{within} of {}", found.len());
}

#[test]
fn x4_whole_requests_without_tools_are_estimated() {
    let Some(folder) = longhaul_testkit::corpora::corpora() else {
        return;
    };
    let pairs = std::fs::read_to_string(folder.join("api-pairs/anthropic_pairs.jsonl")).unwrap();
    let counter = CalibratedCounter::new(Tokenizer::Old);
    let mut seen = HashSet::new();
    let mut errors = Vec::new();
    for line in pairs.lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let request = pair["request"].as_str().unwrap_or_default();
        let Ok(request) = serde_json::from_str::<Value>(request) else {
            continue;
        };
        let request = &request;
        let count = |name: &str| pair["usage"][name].as_u64().unwrap_or(0);
        let measured = count("input_tokens")
            + count("cache_creation_input_tokens")
            + count("cache_read_input_tokens");
        let has_text_only = [
            "tools",
            "mcp_servers",
            "container",
            "output_format",
            "output_config",
        ]
        .iter()
        .all(|name| request.get(name).is_none());
        if pair["status"] != 200 || measured < 200 || !has_text_only {
            continue;
        }
        let Some(texts) = texts_of(request) else {
            continue;
        };
        if !seen.insert((measured, texts.concat())) {
            continue;
        }
        let estimates = texts.iter().map(|text| {
            counter
                .estimate(CalibratedClass::Text, &TextShape::of(text))
                .tokens
        });
        let expected: u64 = estimates.sum();
        errors.push(expected.abs_diff(measured) as f64 / measured as f64);
    }
    println!(
        "{} requests: median {:.1} %, p90 {:.1} %",
        errors.len(),
        100.0 * percentile(&errors, 50),
        100.0 * percentile(&errors, 90)
    );
    assert!(errors.len() >= 10);
    assert!(percentile(&errors, 50) <= 0.05);
}

/// The texts of a request that has nothing else; `None` if there is anything else.
fn texts_of(request: &Value) -> Option<Vec<String>> {
    let messages = request["messages"].as_array()?;
    let contents = messages.iter().map(|message| &message["content"]);
    let mut texts = Vec::new();
    for content in contents.chain(request.get("system")) {
        match content {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(blocks) => {
                for block in blocks {
                    if block["type"] != "text" {
                        return None;
                    }
                    texts.push(block["text"].as_str()?.to_owned());
                }
            }
            _ => return None,
        }
    }
    Some(texts)
}
