//! Whatever the history, what is sent is accepted (Z3), and nothing that was said is lost.
//!
//! A bounded number of cases by default. The long run:
//!
//! ```sh
//! LONGHAUL_CASES=100000 cargo test --release -p longhaul --test it z3_
//! ```

use longhaul_core::message::Entry;
use longhaul_core::normalize::{RenderOptions, Rendering};
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use proptest::collection::vec;
use proptest::prelude::*;

use super::hostile::{self, History, Line};
use super::world::{World, messages, sendable};

/// The number of cases.
pub(crate) fn cases() -> ProptestConfig {
    let cases = std::env::var("LONGHAUL_CASES").ok();
    ProptestConfig {
        cases: cases.and_then(|cases| cases.parse().ok()).unwrap_or(2_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A model that accepts almost anything, one that strips earlier thinking, one that keeps it, and one that binds it.
const MODELS: [(&str, &str); 4] = [
    ("claude-3-haiku", "2023-06-01"),
    ("claude-haiku-4-5", "2026-10-21"),
    ("claude-opus-4-8", "2026-10-21"),
    ("claude-fable-5-2", "2026-10-21"),
];

fn worlds(options: &RenderOptions) -> Vec<World> {
    let world = |(model, version): (&str, &str)| World::new(model, version, &options.betas);
    MODELS.map(world).into()
}

#[track_caller]
fn accepted(worlds: &[World], rendering: &Rendering, history: &History) {
    for world in worlds {
        if let Err(error) = world.admit(&sendable(rendering)) {
            panic!(
                "{}: {}\n{}\n{}",
                world.spec.id,
                error.message,
                hostile::shown(history),
                messages(rendering)
            );
        }
    }
}

#[track_caller]
fn nothing_lost(rendering: &Rendering, history: &History, is_there: impl Fn(usize) -> bool) {
    let sent = messages(rendering);
    for (entry, word) in &history.words {
        assert!(
            !is_there(*entry) || sent.contains(word.as_str()),
            "{word} is lost\n{}\n{sent}",
            hostile::shown(history)
        );
    }
}

/// Images in what is sent.
fn images(rendering: &Rendering) -> usize {
    messages(rendering)
        .matches(r#""type":"image","source""#)
        .count()
        + messages(rendering).matches(r#","type":"image"}"#).count()
}

/// The view of a table, as entries.
fn live(entries: &[Entry]) -> Vec<usize> {
    let mut table = TranscriptTable::default();
    for (index, entry) in entries.iter().enumerate() {
        table.push(index as u64 + 1, 0, entry.view());
    }
    let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
    let rows = &conversation.view().rows;
    rows.iter().map(|row| *row as usize).collect()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn z3_any_history_is_accepted_at_any_time(
        lines in hostile::history(24),
        options in hostile::options(),
        begun in 0..24_usize,
        seals in vec(any::<bool>(), 24),
    ) {
        streamed(&lines, options, begun, &seals);
    }

    #[test]
    fn z3_any_live_view_is_accepted(lines in hostile::history(40), options in hostile::options()) {
        viewed(&lines, options);
    }

    #[test]
    fn n2_any_history_without_its_thinking_is_accepted_by_models_that_bind_it(
        lines in hostile::history(30),
        options in hostile::options(),
    ) {
        let history = hostile::written(&lines);
        let last = history.entries.last().and_then(|entry| entry.view().uuid());
        let options = RenderOptions { thinking_stripped_through: last, ..options };
        let worlds = worlds(&options);
        let mut rendering = Rendering::begin(options, history.entries.iter().map(Entry::view));
        rendering.seal();
        accepted(&worlds, &rendering, &history);
        nothing_lost(&rendering, &history, |_| true);
    }
}

fn streamed(lines: &[Line], options: RenderOptions, begun: usize, seals: &[bool]) {
    let history = hostile::written(lines);
    let entries = &history.entries;
    let begun = begun.min(entries.len());
    // Thinking is not bound there, so it may be anywhere.
    let worlds = &worlds(&options)[..3];
    let most_images = options.most_images;
    let mut rendering = Rendering::begin(options, entries[..begun].iter().map(Entry::view));
    for (entry, seal) in entries[begun..].iter().zip(seals) {
        if *seal {
            rendering.seal();
            accepted(worlds, &rendering, &history);
        }
        rendering.push(entry.view());
    }
    rendering.seal();
    accepted(worlds, &rendering, &history);
    nothing_lost(&rendering, &history, |_| true);
    assert!(most_images == 0 || images(&rendering) <= most_images);
}

fn viewed(lines: &[Line], options: RenderOptions) {
    let history = hostile::written(lines);
    let view = live(&history.entries);
    let worlds = &worlds(&options)[..3];
    let views = view.iter().map(|at| history.entries[*at].view());
    let mut rendering = Rendering::begin(options, views);
    rendering.seal();
    accepted(worlds, &rendering, &history);
    nothing_lost(&rendering, &history, |entry| view.contains(&entry));
}
