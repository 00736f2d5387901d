//! A session with all background work on, dropped at any instant and resumed from its files: the next request is the
//! one it would have been, the provider accepts it, and the notes are complete.
//!
//! `LONGHAUL_DROPS` makes it longer.

use std::sync::Arc;
use std::time::Duration;

use longhaul::EconomyPolicy;
use longhaul_core::engine::{Event, ToolOutput};
use longhaul_core::notes::{DEFAULT_TEMPLATE, NotesProgress, SessionNotes};
use longhaul_core::window::QuerySource;
use longhaul_store::NotesFolder;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::host::{Host, Mode, Setup, Tending};
use super::looking;
use super::plan::{Flow, plan};
use crate::proof::killed::{Compared, Due, compared, due};

fn drops() -> usize {
    let asked = std::env::var("LONGHAUL_DROPS").ok();
    asked.map_or(60, |drops| drops.parse().unwrap())
}

/// Works until it is stopped.
async fn work(host: &mut Host, at: &mut usize) {
    loop {
        match due(host.session()) {
            Due::Speak => {
                let text = format!("Request {at}: what does part {at} do?");
                host.said.push(text.clone());
                host.session().say(text).await.unwrap();
            }
            Due::Turn => {
                *at = (*at + 1) % host.steps.len();
                host.provider.turn(*at);
                let _ = host.session().turn().await;
            }
            Due::Answer(calls) => {
                host.pause(Duration::from_secs(4)).await;
                let step = &host.steps[*at];
                let texts = step.results.iter().map(|(text, _)| text.clone());
                let mut texts = texts.chain(std::iter::repeat("Nothing.".to_owned()));
                let outputs = calls.iter().zip(&mut texts);
                let outputs = outputs
                    .map(|(id, text)| ToolOutput::text(id, text))
                    .collect();
                host.session().results(outputs).await.unwrap();
            }
        }
    }
}

/// The next request of a session that resumes a copy, compared with the last one.
async fn next_request(host: &Host, when: &str) -> Compared {
    let Some(last) = host.provider.sent() else {
        return Compared::Nothing;
    };
    let before = std::fs::read(&host.transcript).unwrap();
    let Some((source, next, after)) = looking::next_request_on_disk(host).await else {
        return Compared::Nothing;
    };
    if source != QuerySource::SDK {
        return Compared::Compaction;
    }
    let is_new = before.len() > last.on_disk;
    // What had come since the last request may have made a clearing due, which the resumed session records and sends. So
    // may the end of the process: it knew of notes or a summary that were coming, to which the clearing was left.
    let since = String::from_utf8(after[last.on_disk..].to_vec()).unwrap();
    let is_cleared = since.contains("\"subtype\":\"microcompact_boundary\"");
    assert!(
        is_new || is_cleared || last.body == next,
        "{when}: nothing came"
    );
    compared(&last.body, &next, &since, when)
}

/// The notes on disk are notes, and how far they reach can be read.
fn notes_are_whole(host: &Host, when: &str) {
    let folder = NotesFolder::of_transcript(&host.transcript).unwrap();
    let Some(text) = folder.notes().unwrap() else {
        return;
    };
    let template = SessionNotes::parse(DEFAULT_TEMPLATE);
    let notes = SessionNotes::parse(text);
    assert_eq!(template.allows(&notes), Ok(()), "{when}");
    if let Some(progress) = folder.progress().unwrap() {
        assert!(NotesProgress::read(progress.as_bytes()).is_some(), "{when}");
    }
}

async fn dropped(model: &'static str, mode: Mode, economy: EconomyPolicy) {
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup {
        mode,
        tending: Tending::Attends,
        model,
        window: 30_000,
        economy,
    };
    let steps = Arc::new(plan(3, 400, Flow::Bursts(90)));
    let mut host = Host::new(setup, steps, folder.path());
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (mut at, mut compared) = (0, Vec::new());
    for drop in 0..drops() {
        let instant = Duration::from_millis(u64::from(rng.next_u32() % 120_000));
        let _ = tokio::time::timeout(instant, work(&mut host, &mut at)).await;
        host.session = None;
        let when = format!("{model} {mode:?} {economy:?} drop {drop} after {instant:?}");
        notes_are_whole(&host, &when);
        compared.push(next_request(&host, &when).await);
        host.open();
        host.nothing_is_lost();
    }
    let count = |kind| compared.iter().filter(|done| **done == kind).count();
    let events = host.told.events();
    let noted = events
        .iter()
        .filter(|event| matches!(event, Event::NotesTaken(_)));
    println!(
        "{model} {mode:?} {economy:?}: {} drops, {} compactions, notes taken {} times; next request: {} same, {} longer, {} behind a compaction, {} none",
        drops(),
        host.told.compactions().len(),
        noted.count(),
        count(Compared::Same),
        count(Compared::Longer),
        count(Compared::Compaction),
        count(Compared::Nothing)
    );
    // A fold is first requested after everything, and that may be too long.
    let rejected = host.provider.rejected();
    let is_wrong = |why: &&String| !why.starts_with("collapse: prompt is too long");
    assert_eq!(rejected.iter().filter(is_wrong).count(), 0, "{rejected:?}");
    assert!(!host.told.compactions().is_empty());
    assert!(count(Compared::Same) + count(Compared::Longer) > drops() / 4);
}

#[tokio::test(start_paused = true)]
async fn y7_a_session_dropped_while_notes_and_summaries_are_under_way_goes_on() {
    dropped("claude-sonnet-4-6", Mode::Both, EconomyPolicy::Off).await;
    dropped("claude-opus-5-5", Mode::Both, EconomyPolicy::Off).await;
    dropped("claude-sonnet-4-6", Mode::NoStall, EconomyPolicy::Off).await;
}

#[tokio::test(start_paused = true)]
async fn y2_v5_a_session_dropped_while_it_decides_by_price_goes_on() {
    dropped("claude-sonnet-4-6", Mode::Both, EconomyPolicy::Clear).await;
    dropped("claude-opus-5-5", Mode::NoStall, EconomyPolicy::Full).await;
    dropped("claude-sonnet-4-6", Mode::Full, EconomyPolicy::Full).await;
}

#[tokio::test(start_paused = true)]
async fn y7_a_session_dropped_while_it_folds_goes_on() {
    dropped("claude-sonnet-4-6", Mode::Collapse, EconomyPolicy::Clear).await;
    dropped("claude-opus-5-5", Mode::Collapse, EconomyPolicy::Clear).await;
}
