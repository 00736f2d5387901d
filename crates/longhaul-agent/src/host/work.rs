//! The task that owns the agent: does one thing after the other, and minds what goes on in the background in between.

use longhaul::hooks::EndReason;
use longhaul::recorded::Recording;
use longhaul::session::CompactOutcome;
use longhaul_core::engine::CompactRequest;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::agent::Agent;
use crate::screen::{Ask, CompactAsk, CompactStep, Compaction, Refusal, Reply};
use crate::workplace::Workplace;

/// Something to do.
pub(super) enum Job {
    Ask(Ask),
    /// The user leaves.
    Close,
}

pub(super) async fn work(
    mut agent: Agent,
    workplace: &Workplace,
    mut jobs: UnboundedReceiver<Job>,
) {
    loop {
        let job = tokio::select! {
            biased;
            job = jobs.recv() => job,
            () = agent.attend(), if agent.is_attended_to() => continue,
        };
        match job {
            Some(Job::Ask(ask)) => perform(&mut agent, workplace, ask).await,
            Some(Job::Close) | None => break,
        }
    }
    agent.close(EndReason::PromptInputExit).await;
}

async fn perform(agent: &mut Agent, workplace: &Workplace, ask: Ask) {
    // What is stopped from now on is this.
    let _ = agent.canceller();
    match ask {
        Ask::Prompt(text, reply) => {
            agent.prompt(text).await;
            answer(reply, Ok(()));
        }
        Ask::Command {
            name,
            arguments,
            reply,
        } => match workplace.command(&name, &arguments).await {
            Ok(prompt) => {
                agent.prompt(prompt).await;
                answer(reply, Ok(()));
            }
            Err(why) => answer(reply, Err(Refusal(why))),
        },
        Ask::Compact(ask, reply) => {
            let done = compact(agent, ask).await;
            answer(reply, done);
        }
        Ask::Rewind(uuid, reply) => {
            let done = agent.rewind(&uuid).await;
            answer(
                reply,
                done.map(|rewound| Some(rewound.text)).map_err(refusal),
            );
        }
        Ask::UndoCompaction(reply) => {
            let done = agent.undo_compaction().await.map(|undone| {
                format!(
                    "the compaction is undone: {} tokens in place of {}",
                    undone.after, undone.before
                )
            });
            answer(reply, done.map_err(refusal));
        }
        Ask::Resume(id, reply) => {
            let done = agent.resume(&id).await;
            answer(
                reply,
                done.map_err(|error| match error.in_use() {
                    Some(_) => Refusal(format!(
                        "{error}. To go on in a copy: longhaul chat --resume {id} --fork-session"
                    )),
                    None => refusal(error),
                }),
            );
        }
        Ask::Clear(reply) => {
            let done = agent.clear().await;
            answer(reply, done.map_err(refusal));
        }
        Ask::SwitchModel(model, reply) => {
            let done = agent.switch_model(&model).await;
            answer(reply, done.map_err(refusal));
        }
        // Those who only look are answered elsewhere.
        Ask::Sessions(_)
        | Ask::Models(_)
        | Ask::Context(_)
        | Ask::Messages(_)
        | Ask::Transcript(_)
        | Ask::Report(..)
        | Ask::Notes(_)
        | Ask::Hooks(_)
        | Ask::Cost(_)
        | Ask::Commands(_) => {}
    }
}

async fn compact(agent: &mut Agent, ask: CompactAsk) -> Result<Compaction, Refusal> {
    let pivot = match (ask.pivot, ask.keep) {
        (Some(pivot), _) => Some(pivot),
        (None, Some(keep)) if keep > 0 => {
            let read = Recording::read(&agent.place().transcript).map_err(refusal)?;
            Some(read.keep_last(keep).map_err(refusal)?)
        }
        (None, _) => None,
    };
    let (preview, approved) = match ask.step {
        CompactStep::Preview => (true, None),
        CompactStep::Approved(summary) => (false, Some(summary)),
    };
    let done = agent.compact(CompactRequest {
        instructions: ask.instructions,
        pivot,
        approved,
        preview,
        ..CompactRequest::default()
    });
    match done.await.map_err(refusal)? {
        CompactOutcome::Done(_) => Ok(Compaction::Done),
        CompactOutcome::Preview(preview) => Ok(Compaction::Preview(preview)),
    }
}

fn refusal(error: impl std::fmt::Display) -> Refusal {
    Refusal(error.to_string())
}

fn answer<T>(reply: Reply<T>, with: Result<T, Refusal>) {
    // A screen that is gone needs no answer.
    let _ = reply.send(with);
}
