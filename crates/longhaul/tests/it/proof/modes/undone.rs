//! Compactions by notes, by folds and by prepared summaries can be taken back, and the session continues.

use std::sync::Arc;

use longhaul::undo::UndoMode;
use longhaul_core::config::Config;
use longhaul_core::engine::Summarizer;
use longhaul_core::models::ModelTable;
use longhaul_core::window::QuerySource;

use super::host::{Host, Mode, Setup, Tending};
use super::looking::next_request;
use super::plan::{Flow, plan};
use super::{Folder, PATIENCE};

async fn undone(mode: Mode, model: &'static str, by: Summarizer) {
    let folder = Folder::new(&format!("undone-{mode:?}-{model}"));
    let steps = Arc::new(plan(2, 200, Flow::Mixed));
    let setup = Setup {
        mode,
        tending: Tending::Attends,
        model,
        window: 100_000,
        economy: longhaul::EconomyPolicy::Off,
    };
    let mut host = Host::new(setup, steps, &folder.path);
    let mut at = 0;
    while host.told.compactions().is_empty() {
        host.step(at).await;
        at += 1;
    }
    let done = host.told.compactions().pop().unwrap();
    assert_eq!(done.by, by);
    host.session.take().unwrap().close(PATIENCE).await;
    let now = longhaul::Clock::now(&host.provider);
    let models = ModelTable::builtin();
    let undone = longhaul::undo(
        &host.transcript,
        &Config::default(),
        &models,
        UndoMode::Write,
        now,
    )
    .unwrap();
    assert_eq!(undone.boundary, done.boundary);
    assert!(undone.after > undone.before);

    host.open();
    assert_eq!(host.missing(), Vec::<&String>::new());
    assert!(
        !host.view().contains("isCompactSummary\":true"),
        "no summary is in view"
    );
    // It is as full as it was: the next turn may compact again. Whatever it does, the provider accepts it.
    for _ in 0..6 {
        host.step(at).await;
        at += 1;
    }
    assert_eq!(host.provider.rejected(), Vec::<String>::new());
    host.nothing_is_lost();

    // A session that resumes the transcript sends the same request, to the byte.
    if let Some(text) = host.steps[at].said.clone() {
        host.session().say(text).await.unwrap();
    }
    let taken_up = next_request(&host).await;
    host.provider.turn(at);
    host.session().turn().await.unwrap();
    let sent = host.provider.sent().unwrap().body;
    assert!(
        taken_up == Some((QuerySource::SDK, sent)),
        "{mode:?} {model}"
    );
}

#[tokio::test(start_paused = true)]
async fn x6_compactions_of_every_mode_can_be_taken_back() {
    for model in ["claude-sonnet-4-6", "claude-opus-5-5"] {
        undone(Mode::Both, model, Summarizer::Notes).await;
        undone(Mode::NoStall, model, Summarizer::Fork).await;
        undone(Mode::Collapse, model, Summarizer::Fold).await;
    }
}
