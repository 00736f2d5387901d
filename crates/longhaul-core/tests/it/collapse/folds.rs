//! Tests the folds in the conversation and on the boundary, and folds made without a model.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::boundary::{CompactionRecord, CompactionTrigger};
use longhaul_core::collapse::{Fold, FoldSpan, Folds, local};
use longhaul_core::message::Entry;
use longhaul_core::summary::Summary;
use longhaul_core::tokens::RoughEstimator;
use longhaul_testkit::session::SessionSpec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::limits;
use crate::session_file::{SessionFile, envelope, stamp};
use crate::snapshot::check;

fn fold(text: &str, messages: u64, times: Option<[&str; 2]>) -> Fold {
    Fold {
        text: text.to_owned(),
        messages,
        from: times.map(|[from, _]| from.parse().unwrap()),
        to: times.map(|[_, to]| to.parse().unwrap()),
    }
}

fn some() -> Folds {
    Folds::default().added([
        fold(
            "The user asked for an importer.\n\n- done: /src/import.rs",
            14,
            Some(["2026-03-01T12:00:00Z", "2026-03-01T12:30:59.5Z"]),
        ),
        fold("Tests were run.", 1, Some(["2026-03-01T12:31:00Z"; 2])),
        fold("Of what is not known.", 0, None),
    ])
}

fn boundary(folds: &Value) -> Entry {
    let lines = CompactionRecord {
        envelope: envelope(),
        boundary: stamp("b"),
        summary: stamp("s"),
        logical_parent: None,
        trigger: CompactionTrigger::Auto,
        pre_tokens: 1,
        messages_summarized: 1,
        user_context: None,
        discovered_tools: &[],
        kept: None,
        thinking_stripped_through: None,
        ledger: None,
        report: None,
        folds: Some(folds),
        made: Some(&json!({"by": "fold"})),
        recompaction: None,
        head_tokens: None,
        signed: None,
        text: "the summary",
        attached: &[],
    }
    .lines()
    .unwrap();
    Entry::read(lines[0].clone()).unwrap()
}

#[test]
fn o6_folds_stand_in_the_summary_under_headings() {
    check("folds", &some().text());
    let summary = Summary::of_extracts(&some().text()).unwrap();
    assert_eq!(
        summary.body(),
        some().text(),
        "nothing is changed on the way"
    );
}

#[test]
fn o6_earlier_folds_stay_word_for_word_and_new_ones_come_behind_them() {
    let before = some();
    let after = before.clone().added([fold("New.", 3, None)]);
    assert!(after.text().starts_with(&before.text()));
    assert_eq!(after.spans()[..3], *before.spans());
    assert!(after.weight() > before.weight());
}

#[test]
fn o6_condensed_folds_are_one_that_stands_for_all() {
    let one = some().condensed("All of it,\n\n\n\nin short.");
    assert_eq!(
        one.spans(),
        [fold(
            "All of it,\n\nin short.",
            15,
            Some(["2026-03-01T12:00:00Z", "2026-03-01T12:31:00Z"])
        )]
    );
}

#[test]
fn o6_folds_are_on_the_boundary_and_come_back_from_it() {
    let stored = some().to_boundary().unwrap();
    let entry = boundary(&stored);
    assert_eq!(Folds::from_boundary(entry.view()), Some(some()));
    let line: Value = serde_json::from_slice(entry.bytes()).unwrap();
    assert_eq!(line["compactMetadata"]["folds"]["spans"][0]["messages"], 14);
    assert_eq!(line["compactMetadata"]["made"]["by"], "fold");
    assert_eq!(Folds::default().weight(), 0);
}

#[test]
fn o6_folds_of_a_later_version_are_read_and_other_shapes_passed_over() {
    let later = json!({"version": 2, "new": 1, "spans": [{"text": "a", "tone": "dry"}]});
    let read = Folds::from_boundary(boundary(&later).view()).unwrap();
    assert_eq!(read.spans(), [fold("a", 0, None)]);
    for other in [
        json!({}),
        json!({"version": 1, "spans": []}),
        json!({"version": 1, "spans": 3}),
        json!([1]),
        json!("x"),
    ] {
        assert_eq!(
            Folds::from_boundary(boundary(&other).view()),
            None,
            "{other}"
        );
    }
    let none = Entry::read(Bytes::from_static(
        br#"{"type":"system","subtype":"compact_boundary"}"#,
    ));
    assert_eq!(Folds::from_boundary(none.unwrap().view()), None);
}

#[test]
fn o6_a_summary_made_in_another_way_becomes_the_first_fold() {
    let entry = |line: Value| Entry::read(line.to_string().into()).unwrap();
    let summary = entry(
        json!({"type": "user", "isCompactSummary": true, "timestamp": "2026-03-01T12:00:00Z",
        "message": {"role": "user", "content":
            "It goes on.\n\n## Summary\n\n1. Request: port it\n7. Pending: the timer\n\n## Kept word for word\n\n[1] hi"}}),
    );
    let folds = Folds::from_summary(summary.view()).unwrap();
    assert_eq!(
        folds.spans()[0].text,
        "1. Request: port it\n7. Pending: the timer"
    );
    assert_eq!(folds.spans()[0].to, summary.view().timestamp());
    let prompt = entry(json!({"type": "user", "message": {"role": "user", "content": "hi"}}));
    assert_eq!(Folds::from_summary(prompt.view()), None);
}

#[test]
fn o6_x9_spans_are_folded_without_a_model() {
    let limits = limits(200_000);
    let file = SessionFile::new(SessionSpec::new(3, 40).generate().bytes);
    let live = file.live();
    let spans: Vec<_> = live.chunks(live.len().div_ceil(4)).collect();
    let views = spans
        .iter()
        .map(|span| span.iter().map(|live| live.entry.view()));
    let texts = local(views, &Arc::default(), &limits);
    assert_eq!(texts.len(), 4);
    for (text, span) in texts.iter().zip(&spans) {
        assert!(text.contains("without a model"), "{text}");
        assert!(RoughEstimator::text(text).padded() <= limits.fold_weight());
        let described = FoldSpan::of(span.iter().map(|live| live.entry.view()));
        assert!(described.messages > 0 && described.from <= described.to);
        assert!(!described.opening.is_empty());
        assert_eq!(Fold::new(&described, text).messages, described.messages);
    }
    assert_ne!(texts[0], texts[1], "each tells of its own span");
    let empty: [std::iter::Empty<_>; 1] = [std::iter::empty()];
    assert!(local(empty, &Arc::default(), &limits)[0].contains("Nothing"));
}

proptest! {
    #[test]
    fn o6_x9_earlier_folds_are_shortened_to_their_budget_with_no_model(
        lengths in prop::collection::vec(1_usize..4_000, 1..24),
        tokens in 200_u64..6_000,
    ) {
        let all = lengths.iter().map(|length| fold(&"word ".repeat(*length), 2, None));
        let folds = Folds::default().added(all);
        let short = folds.clone().shortened(tokens);
        prop_assert!(short.weight() <= tokens.max(200), "{} of {tokens}", short.weight());
        if folds.weight() <= tokens {
            prop_assert_eq!(folds, short);
        }
    }
}
