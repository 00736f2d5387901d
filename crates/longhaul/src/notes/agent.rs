//! One run of the agent: asks, changes the notes, and says how far they reach when they are up to date.
//!
//! It may be ended at any time: the notes on disk are then either the old or the new ones, complete. Nothing is awaited
//! between writing them and recording how far they reach, so only a crash can separate the two, and then the notes
//! cover more than is recorded.

use std::sync::Arc;

use longhaul_core::engine::{ModelRequest, NotesRun, NotesRunOutcome, ToolOutput, Urgency};
use longhaul_core::notes::{
    self, NotesCallVerdict, NotesEditWay, NotesGuard, NotesPrompt, SessionNotes,
};
use longhaul_core::window::QuerySource;
use longhaul_provider::{CancellationToken, Reply, StopReason};
use longhaul_store::NotesError;
use serde_json::Value;

use super::draft::{NotesDraft, NotesWriteError};
use super::{NotesEdit, NotesLocation};
use crate::model::Model;

/// The most requests of one run. A reply whose edits were all made ends the run; further requests repair edits that
/// were not.
const MOST_REQUESTS: u32 = 3;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
enum NotesRunError {
    #[error(transparent)]
    Notes(#[from] NotesError),
    #[error(transparent)]
    NotWritten(#[from] NotesWriteError),
    #[error("the model did not answer: {0}")]
    Model(#[from] longhaul_provider::Error),
    #[error("the model refused")]
    Refused,
    #[error("the model's answer was cut off")]
    CutOff,
    #[error(transparent)]
    Unapplied(#[from] notes::UnusableAnswer),
    #[error("the model's answer cannot be sent back: {0}")]
    Answer(String),
    #[error("some of the model's notes could not be used")]
    Unrepaired,
    #[error("the model noted nothing")]
    Nothing,
}

/// Whether a run continues after a reply.
enum NotesRunStep {
    Done,
    /// The run continues with these results.
    Again(Vec<ToolOutput>),
}

/// Brings the notes of a session up to date.
pub async fn take(model: Arc<dyn Model>, place: &NotesLocation, run: NotesRun) -> NotesRunOutcome {
    let mut taken = NotesRunOutcome::default();
    if let Err(why) = attempt(&*model, place, run, &mut taken).await {
        taken.failed = Some(why.to_string());
    }
    taken
}

async fn attempt(
    model: &dyn Model,
    place: &NotesLocation,
    run: NotesRun,
    taken: &mut NotesRunOutcome,
) -> Result<(), NotesRunError> {
    let _alone = place.run.lock().await;
    let lock = place.folder().lock()?;
    let template = place.template();
    let text = match lock.notes()? {
        Some(text) => text,
        None => {
            let text = template.notes().text();
            lock.replace(None, text)?;
            text.to_owned()
        }
    };
    let mut draft = NotesDraft::new(&lock, SessionNotes::parse(text));
    let path = place.shown();
    let NotesRun {
        mut fork,
        betas,
        edit_tool,
        caps,
        reach,
    } = run;
    let custom = place.prompt();
    let prompt = NotesPrompt {
        notes: draft.now(),
        path: &path,
        way: match &edit_tool {
            Some(tool) => NotesEditWay::Edit { tool },
            None => NotesEditWay::Answer,
        },
        caps,
        custom: custom.as_deref(),
    };
    fork.say(&prompt.text());
    let mut guard = edit_tool.map(|tool| NotesGuard::new(tool, &path));
    loop {
        let request = ModelRequest {
            source: QuerySource::NOTES,
            body: fork.body(),
            betas: betas.clone(),
            urgency: Urgency::Background,
        };
        taken.requests += 1;
        let mut unheard = |_: &_| {};
        let sent = model.send(request, &mut unheard, CancellationToken::new());
        let reply = sent.await?;
        taken.usage.add(&reply.usage);
        if reply.stop == Some(StopReason::Refusal) {
            return Err(NotesRunError::Refused);
        }
        let next = match &mut guard {
            Some(guard) => edited(&reply, guard, &mut draft, taken)?,
            None => answered(&reply, &mut draft, taken)?,
        };
        let results = match next {
            NotesRunStep::Done => break,
            NotesRunStep::Again(_) if taken.requests >= MOST_REQUESTS => {
                return Err(NotesRunError::Unrepaired);
            }
            NotesRunStep::Again(results) => results,
        };
        let message = serde_json::from_slice(&reply.message_json());
        let message: Box<serde_json::value::RawValue> =
            message.map_err(|error| NotesRunError::Answer(error.to_string()))?;
        let pushed = fork.answered(&message);
        pushed.map_err(|damage| NotesRunError::Answer(format!("{damage:?}")))?;
        fork.results(&results);
    }
    if template.is_untouched(draft.now()) {
        return Err(NotesRunError::Nothing);
    }
    Ok(lock.reach(&reach.written())?)
}

/// Applies the edits of a reply.
fn edited(
    reply: &Reply,
    guard: &mut NotesGuard,
    draft: &mut NotesDraft<'_>,
    taken: &mut NotesRunOutcome,
) -> Result<NotesRunStep, NotesRunError> {
    let mut results = Vec::new();
    let mut made: Vec<NotesEdit> = Vec::new();
    let mut unmade = 0;
    let mut refused = 0;
    for call in reply.tool_calls() {
        let input: Value = call.input();
        let told = match guard.judge(&call.name, &input) {
            NotesCallVerdict::Refused(_) => {
                refused += 1;
                Err(guard.sentence())
            }
            NotesCallVerdict::Allowed => {
                let edit = NotesEdit::read(&input);
                let changed = edit.and_then(|edit| Ok((edit.apply(draft.now())?, edit)));
                match changed {
                    Ok((notes, edit)) => {
                        draft.set(notes);
                        made.push(edit);
                        Ok(())
                    }
                    Err(error) => {
                        unmade += 1;
                        refused += u64::from(error == super::NotesEditError::BreaksFrame);
                        Err(error.to_string())
                    }
                }
            }
        };
        let done = || include_str!("fragments/done.md").trim_end().to_owned();
        results.push(ToolOutput {
            is_error: told.is_err(),
            ..ToolOutput::text(call.id, told.err().unwrap_or_else(done))
        });
    }
    taken.refused += refused;
    draft.write(|theirs| {
        let mut notes = theirs.clone();
        for edit in &made {
            notes = edit.apply(&notes).ok()?;
        }
        Some(notes)
    })?;
    taken.changed += made.len();
    let is_cut = matches!(
        reply.stop,
        None | Some(StopReason::MaxTokens | StopReason::ContextWindowExceeded)
    );
    let only_refused = made.is_empty() && refused > 0;
    match (results.is_empty(), is_cut) {
        (true, true) => Err(NotesRunError::CutOff),
        (true, false) => Ok(NotesRunStep::Done),
        _ if is_cut || unmade > 0 || only_refused => Ok(NotesRunStep::Again(results)),
        _ => Ok(NotesRunStep::Done),
    }
}

/// Applies the sections of a reply in text form.
fn answered(
    reply: &Reply,
    draft: &mut NotesDraft<'_>,
    taken: &mut NotesRunOutcome,
) -> Result<NotesRunStep, NotesRunError> {
    let told = include_str!("fragments/no_tools.md").trim_end();
    let results: Vec<ToolOutput> = reply
        .tool_calls()
        .map(|call| ToolOutput {
            is_error: true,
            ..ToolOutput::text(call.id, told)
        })
        .collect();
    taken.refused += results.len() as u64;
    let text = reply.text();
    let applied = match notes::apply(&text, draft.now()) {
        Ok(applied) => applied,
        Err(notes::UnusableAnswer::NoNotes) if !results.is_empty() => {
            return Ok(NotesRunStep::Again(results));
        }
        Err(why) => return Err(why.into()),
    };
    let ours = draft.now().clone();
    draft.set(applied.notes);
    draft.write(|theirs| {
        // The answer holds whole sections, so a change that somebody else made in one of them would be lost.
        let body = |notes: &SessionNotes, title: &str| Some(notes.find(title)?.1.body.to_owned());
        let mut changed = applied.changed.iter();
        let untouched = changed.all(|title| body(&ours, title) == body(theirs, title));
        untouched.then_some(notes::apply(&text, theirs).ok()?.notes)
    })?;
    taken.changed += applied.changed.len();
    taken.refused += applied.refused.len() as u64;
    Ok(NotesRunStep::Done)
}
