//! Tests ten summaries without a model, one after the other: what they repeat, and what they carry over (X9).

use std::collections::HashSet;
use std::sync::Arc;

use longhaul_core::facts::{AuditInput, Facts, FactsBudget, audit};
use longhaul_core::local_summary::summarize;
use longhaul_core::message::Entry;
use longhaul_core::summary::Summary;
use longhaul_core::summary::message::{
    CompactionMode, DetailLookup, KeptPlacement, SummaryMessage,
};
use longhaul_testkit::session::SessionSpec;
use serde_json::json;

use crate::facts::entries;

const BUDGET: FactsBudget = FactsBudget {
    tokens: 20_000,
    protected: 83_500,
};
/// A run of this many words that occurred before is a repetition.
const SHINGLE: usize = 8;

/// Returns the message of each compaction of a session that is compacted so many times, always without a model.
pub(crate) fn chain(all: &[Entry], times: usize, tokens: u64) -> Vec<String> {
    let mut facts = Facts::new(Arc::default());
    let mut summary: Option<Entry> = None;
    let mut messages = Vec::new();
    for chunk in all.chunks(all.len().div_ceil(times).max(1)) {
        chunk.iter().for_each(|entry| facts.push(entry.view()));
        let view = summary.iter().chain(chunk).map(Entry::view);
        let text = summarize(view, &facts, tokens);
        let made = Summary::of_extracts(&text).unwrap_or_else(Summary::of_nothing);
        let seen = AuditInput {
            summary: made.text(),
            beside: &[],
        };
        let appendix = audit(&facts, seen, BUDGET).text;
        let message = SummaryMessage {
            summary: Some(&made),
            appendix: &appendix,
            look_up: DetailLookup::default(),
            kept: KeptPlacement::Nothing,
            mode: CompactionMode::Manual,
        }
        .text();
        let line = json!({"uuid": format!("s{}", messages.len()), "type": "user", "isCompactSummary": true,
            "message": {"role": "user", "content": message}});
        summary = Some(Entry::read(line.to_string().into()).unwrap());
        messages.push(message);
    }
    messages
}

/// Returns the share of words that are in a run of words which occurred before, in percent.
pub(crate) fn repeated(text: &str) -> usize {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut seen = HashSet::new();
    let mut again = vec![false; words.len()];
    for (at, run) in words.windows(SHINGLE).enumerate() {
        if !seen.insert(run) {
            again[at..at + SHINGLE].fill(true);
        }
    }
    again.iter().filter(|again| **again).count() * 100 / words.len().max(1)
}

#[test]
fn x9_ten_local_compactions_hardly_say_a_thing_twice() {
    let mut worst = 0;
    for seed in 0..6 {
        let session = SessionSpec::new(seed, 200).generate();
        let messages = chain(&entries(&session.bytes), 10, 12_000);
        let last = messages.last().unwrap();
        let share = repeated(last);
        println!("generated {seed}: {share} % of {} bytes", last.len());
        worst = worst.max(share);
    }
    for file in longhaul_testkit::corpora::claude_code_transcripts().unwrap_or_default() {
        let bytes = std::fs::read(&file).unwrap();
        let all: Vec<Entry> = entries(&bytes)
            .into_iter()
            .filter(|entry| !entry.facets().flags.sidechain)
            .collect();
        let messages = chain(&all, 10, 12_000);
        let Some(last) = messages.last() else {
            continue;
        };
        let share = repeated(last);
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        println!("{name}: {share} % of {} bytes", last.len());
        worst = worst.max(share);
    }
    assert!(worst <= 10, "{worst} %");
}
