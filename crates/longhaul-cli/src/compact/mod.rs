//! `longhaul compact`: summarizes the older part of a recorded conversation, previews that, or takes it back.
//!
//! The library decides and writes; this module says where (`destination.rs`) and by which model
//! (`summary_provider.rs`), and shows progress (`compaction_progress.rs`) and the result (`page.rs`, `json.rs`). Taking
//! back is in `undo.rs`; `unfinished_copy.rs` cleans up if the program is ended.

mod compaction_progress;
mod destination;
mod json;
mod page;
mod summary_provider;
mod undo;
mod unfinished_copy;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul::recorded::{PivotError, RecordedSession, RecordedTranscript, RecordingOptions};
use longhaul::session::{CompactError, CompactOutcome};
use longhaul_core::engine::{CompactFailure, CompactRequest, OnModelFailure, Pivot, Summarizer};
use longhaul_core::rounds::{ViewPiece, message_begins};
use longhaul_core::summary::PivotDirection;
use longhaul_store::layout::{Env, Home};

use crate::args::{CompactArgs as Command, WindowArgs};
use crate::failure::{CliError, CliOutcome, tell, warn};
use crate::reading;
use crate::settings::{self, CommandSettings};
use crate::target::InspectionTarget;
use crate::text::{clean, count};
use compaction_progress::CompactionProgress;
use destination::CompactDestination;

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(settings::window_flags(&window(command)))?;
    let models = settings::models(&config)?;
    let home = Home::longhaul(&given.env)?;
    let file = transcript(&command.session, &given.env)?;
    let place = CompactDestination::of(command, &file, &home)?;
    if command.undo {
        return undo::run(command, place, &config, &models);
    }
    let recording =
        RecordedTranscript::read(place.path()).map_err(|error| CliError::Recording { error })?;
    if let damaged @ 1.. = recording.damaged() {
        warn(&format!(
            "{}: {} damaged and left out; `longhaul inspect` says more",
            file.display(),
            count(damaged as u64, "line is", "lines are"),
        ));
    }
    let request = match request(command, &recording) {
        Ok(request) => request,
        Err(CliError::Pivot {
            error: error @ PivotError::Short(_),
        }) => return Ok(nothing_to_do(&file, &error.to_string())),
        Err(failure) => return Err(failure),
    };
    let asked = summary_provider::summary_provider(command, &recording, &config)?;
    let request = CompactRequest {
        local: asked.is_none(),
        ..request
    };
    let name = asked.as_ref().and_then(|asked| asked.id.clone());
    let watcher = Arc::new(CompactionProgress::of(name.as_deref()));
    let around = RecordingOptions {
        config,
        models,
        asked,
        keep: place.keep(),
        observer: watcher.clone(),
        env: Some(given.env.clone()),
    };
    let session = recording.open(around);
    let mut session = session.map_err(|error| CliError::Recording { error })?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let outcome = runtime.block_on(compact(&mut session, request, &watcher, &place));
    watcher.done();
    match outcome {
        Ok(outcome) => {
            let shown = page::CompactionPage {
                file: &file,
                place: place.known_as(),
                model: name.as_deref(),
                outcome: &outcome,
                kept: kept(&session),
            };
            // The copy gets its final name only now, with everything in it.
            drop(session);
            place.finish()?;
            let printed = if command.json {
                json::print(&shown)
            } else {
                page::print(&shown, command)
            };
            after(printed, &outcome)
        }
        Err(error) => refused(&file, error),
    }
}

/// How a compaction ends once its report was printed, or not: what was written is there, whatever became of the report.
fn after(printed: Result<(), CliError>, outcome: &CompactOutcome) -> Result<CliOutcome, CliError> {
    match (printed, outcome) {
        (Err(failure), CompactOutcome::Done(_)) => {
            failure.warn_after("the compaction was made");
            Ok(CliOutcome::Fine)
        }
        (printed, _) => printed.map(|()| CliOutcome::Fine),
    }
}

/// Compacts the conversation. If a model fails, this does not: there is always a summary without a model (Y1).
async fn compact(
    session: &mut RecordedSession,
    request: CompactRequest,
    watcher: &CompactionProgress,
    place: &CompactDestination,
) -> Result<CompactOutcome, CompactError> {
    if request.local || request.approved.is_some() {
        return session.compact(request).await;
    }
    let cancel = session.canceller();
    let listener = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
        }
    });
    // The listener begins to listen when it first runs, and until then a signal must not be left to it.
    tokio::task::yield_now().await;
    let interrupts_left = place.leave_interrupts();
    let outcome = session.compact(request).await;
    listener.abort();
    drop(interrupts_left);
    let by = outcome.as_ref().ok().map(|outcome| match outcome {
        CompactOutcome::Done(done) => done.by,
        CompactOutcome::Preview(preview) => preview.by,
    });
    if by == Some(Summarizer::Local)
        && let Some(message) = watcher.failure()
    {
        let message = message.trim_end_matches('.');
        warn(&format!(
            "{message}; the summary is made without a model instead"
        ));
    }
    outcome
}

/// A compaction that did nothing, because there was nothing to do or because it could not.
fn refused(file: &Path, error: CompactError) -> Result<CliOutcome, CliError> {
    use CompactFailure::{Empty, NoPivot, NothingNew, WouldNotShrink};
    match error.kind {
        Empty | NoPivot | NothingNew | WouldNotShrink => Ok(nothing_to_do(file, &error.message)),
        _ => Err(CliError::NotCompacted {
            message: error.message,
        }),
    }
}

fn nothing_to_do(file: &Path, why: &str) -> CliOutcome {
    tell(&clean(&format!("{}: {why}.", file.display())));
    CliOutcome::NothingToDo
}

/// The path of the transcript, with links resolved.
fn transcript(path: &Path, env: &Env) -> Result<PathBuf, CliError> {
    let target = path.display().to_string();
    let path = match InspectionTarget::find(path, env)? {
        InspectionTarget::File(path) => path,
        InspectionTarget::Folder(_) => return Err(CliError::CompactOne { target }),
        InspectionTarget::Stdin => return Err(CliError::CompactStdin),
    };
    // A pipe has no path that it could be read by again, nor can anything be appended to it.
    if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        return Err(CliError::CompactNoFile { path });
    }
    let unreadable = |source| CliError::Read {
        path: path.clone(),
        source,
    };
    let path = longhaul_store::real_path(&path).map_err(unreadable)?;
    reading::refuse_no_transcript(&path)?;
    Ok(path)
}

fn window(command: &Command) -> WindowArgs {
    WindowArgs {
        // The model that writes the summary; the window's size comes from the model that the conversation was held
        // with.
        model: None,
        models: command.models.clone(),
        window: command.window.clone(),
        max_output: command.max_output.clone(),
        auto_compact_percent: None,
        blocking_limit: None,
    }
}

fn request(command: &Command, recording: &RecordedTranscript) -> Result<CompactRequest, CliError> {
    let no_pivot = |error| CliError::Pivot { error };
    let pivot: Option<Pivot> = match (&command.up_to, &command.from, command.keep) {
        (Some(id), _, _) => Some(recording.pivot(id, PivotDirection::UpTo)),
        (_, Some(id), _) => Some(recording.pivot(id, PivotDirection::From)),
        (_, _, Some(messages @ 1..)) => Some(recording.keep_last(messages)),
        _ => None,
    }
    .transpose()
    .map_err(no_pivot)?;
    let summary = command.summary.as_deref().map(|path| {
        std::fs::read_to_string(path).map_err(|source| CliError::Read {
            path: path.to_owned(),
            source,
        })
    });
    Ok(CompactRequest {
        instructions: command.instructions.clone(),
        pivot,
        local: false,
        approved: summary.transpose()?,
        preview: command.preview,
        on_failure: OnModelFailure::UseExtracts,
        ..CompactRequest::default()
    })
}

/// The number of messages that are in view word for word, as `inspect` counts them: all but the summary and its
/// attachments.
fn kept(session: &RecordedSession) -> u64 {
    let live = session.engine().live();
    let pieces = live.pieces();
    let entries = live.views().zip(&pieces);
    let kept = entries.filter(|(entry, _)| {
        let facets = entry.facets;
        let is_attachment = facets.kind == longhaul_core::message::EntryKind::Attachment;
        !facets.flags.compact_summary && !is_attachment
    });
    let kept: Vec<ViewPiece> = kept.map(|(_, piece)| piece.clone()).collect();
    message_begins(&kept).len() as u64
}
