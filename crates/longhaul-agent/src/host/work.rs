//! The task that owns the agent: it performs requests one after the other, and drives the background work in between.

use longhaul::hooks::EndReason;
use longhaul::recorded::RecordedTranscript;
use longhaul::session::CompactOutcome;
use longhaul_core::engine::CompactRequest;
use longhaul_core::figures::grouped;
use tokio::sync::mpsc::UnboundedReceiver;

use super::idle::IdleWatch;
use super::mentions::{with_mentions, with_pictures};
use super::rewinding;
use crate::agent::{Agent, UserPrompt};
use crate::project_setup::{InvokedCommand, ProjectSetup};
use crate::screen::{
    CompactionReply, CompactionRequest, CompactionStep, HostRefusal, HostRequest, ReplySender,
    RewindReply, RewindRequest, RewindScope, ShellResult, answer_lines,
};
use crate::typed_text::TypedText;

/// A job for the task.
pub(super) enum HostJob {
    Ask(HostRequest),
    /// The user leaves.
    Close,
}

pub(super) async fn work(
    mut agent: Agent,
    workplace: &ProjectSetup,
    mut jobs: UnboundedReceiver<HostJob>,
    mut idle: IdleWatch,
) {
    agent.run_opening_hooks().await;
    loop {
        let job = tokio::select! {
            biased;
            job = jobs.recv() => job,
            () = agent.drive_background(), if agent.has_background_work() => continue,
            () = idle.passed(), if idle.is_armed => {
                idle.is_armed = false;
                agent.notify_idle();
                continue;
            }
        };
        match job {
            Some(HostJob::Ask(ask)) => {
                perform(&mut agent, workplace, ask).await;
                idle.rest();
            }
            Some(HostJob::Close) | None => break,
        }
    }
    agent.close(EndReason::PromptInputExit).await;
}

async fn perform(agent: &mut Agent, workplace: &ProjectSetup, ask: HostRequest) {
    // From now on, a stop applies to this request.
    let _ = agent.canceller();
    match ask {
        HostRequest::Prompt(text, reply) => {
            prompt(agent, workplace, UserPrompt::text(text)).await;
            answer(reply, Ok(()));
        }
        HostRequest::PromptWithPictures(text, pictures, reply) => {
            let said = with_pictures(agent, workplace, text, &pictures);
            prompt(agent, workplace, said).await;
            answer(reply, Ok(()));
        }
        HostRequest::Shell(command, reply) => {
            let ran = shell(agent, &command).await;
            answer(reply, ran);
        }
        HostRequest::Command {
            name,
            arguments,
            reply,
        } => {
            let cancel = agent.cancellation().token();
            let asked = workplace.command(&name, &arguments);
            match cancel.run_until_cancelled(asked).await {
                Some(Ok(InvokedCommand::Prompt(said))) => {
                    prompt(agent, workplace, said).await;
                    answer(reply, Ok(()));
                }
                Some(Ok(InvokedCommand::Own(command))) => {
                    let said = UserPrompt::text(command.words());
                    let mentioned = with_mentions(agent, workplace, said).await;
                    agent.run_own_command(command, mentioned).await;
                    answer(reply, Ok(()));
                }
                Some(Err(why)) => answer(reply, Err(HostRefusal(why))),
                None => answer(reply, Err(HostRefusal(format!("/{name} was stopped")))),
            }
        }
        HostRequest::Compact(ask, reply) => {
            let done = compact(agent, ask).await;
            answer(reply, done);
        }
        HostRequest::Rewind(ask, reply) => {
            let done = rewind(agent, &ask).await;
            answer(reply, done);
        }
        HostRequest::UndoCompaction(reply) => {
            // The figures are those of the whole request, as the status line has them.
            let used = |agent: &Agent| agent.handle().snapshot().map_or(0, |it| it.status.used);
            let before = used(agent);
            let undone = agent.undo_compaction().await;
            let done = undone.map(|_| {
                format!(
                    "the compaction is undone: {} tokens in place of {}",
                    grouped(used(agent)),
                    grouped(before)
                )
            });
            answer(reply, done.map_err(refusal));
        }
        HostRequest::Resume(id, reply) => {
            let done = agent.resume(&id).await;
            answer(
                reply,
                done.map_err(|error| match error.in_use() {
                    Some(_) => HostRefusal(format!(
                        "{error}. To continue in a copy: longhaul chat --resume {id} --fork-session"
                    )),
                    None => refusal(error),
                }),
            );
        }
        HostRequest::Clear(reply) => {
            let done = agent.clear().await;
            answer(reply, done.map_err(refusal));
        }
        HostRequest::SwitchModel(model, reply) => {
            let done = agent.switch_model(&model).await;
            if done.is_ok() {
                let assumed = agent.assumptions();
                let is_unknown = !assumed.is_empty();
                for sentence in assumed {
                    agent.notice(sentence);
                }
                if is_unknown {
                    agent.notice(answer_lines::unknown_model(&model));
                }
            }
            answer(reply, done.map_err(refusal));
        }
        HostRequest::SetEffort(effort, reply) => {
            answer(reply, agent.set_effort(effort).map_err(HostRefusal));
        }
        HostRequest::SetEconomy(policy, reply) => {
            agent.set_economy(policy);
            answer(reply, Ok(()));
        }
        // Read-only queries are answered elsewhere.
        HostRequest::Sessions(_)
        | HostRequest::Models(_)
        | HostRequest::Context(_)
        | HostRequest::Messages(_)
        | HostRequest::RewindPlan(..)
        | HostRequest::Transcript(_)
        | HostRequest::Report(..)
        | HostRequest::Notes(_)
        | HostRequest::Page(..)
        | HostRequest::Export(..)
        | HostRequest::Hooks(_)
        | HostRequest::Cost(_)
        | HostRequest::Commands(_)
        | HostRequest::Resources(_) => {}
    }
}

/// Works on a prompt, with the files that it mentions.
async fn prompt(agent: &mut Agent, workplace: &ProjectSetup, said: UserPrompt) {
    let said = with_mentions(agent, workplace, said).await;
    agent.prompt(said).await;
}

/// Runs a command for the user.
async fn shell(agent: &mut Agent, command: &str) -> Result<ShellResult, HostRefusal> {
    let ran = agent.run_for_user(command).await;
    let ran = ran.ok_or_else(|| HostRefusal("there is no shell in this session".to_owned()))?;
    let output = match (&*ran.detail, &ran.content) {
        ("", serde_json::Value::String(text)) => text.clone(),
        ("", other) => other.to_string(),
        (written, _) => written.to_owned(),
    };
    Ok(ShellResult {
        lines: ran.lines.unwrap_or(output.lines().count() as u64),
        output,
        is_error: ran.is_error,
        line: ran.line,
    })
}

/// Goes back. Files are restored first: if that fails, the conversation still knows what was done to them.
async fn rewind(agent: &mut Agent, ask: &RewindRequest) -> Result<RewindReply, HostRefusal> {
    let mut done = RewindReply::default();
    if matches!(ask.scope, RewindScope::Files | RewindScope::Both) {
        let (place, uuid, conflicts) = (agent.place().clone(), ask.uuid.clone(), ask.conflicts);
        let restored =
            tokio::task::spawn_blocking(move || rewinding::restore(&place, &uuid, conflicts));
        done.files = Some(restored.await.map_err(refusal)??);
    }
    if matches!(ask.scope, RewindScope::Conversation | RewindScope::Both) {
        let text = agent.rewind(&ask.uuid).await.map_err(refusal)?.text;
        done.text = Some(TypedText::words(&text).unwrap_or(text));
    }
    Ok(done)
}

async fn compact(
    agent: &mut Agent,
    ask: CompactionRequest,
) -> Result<CompactionReply, HostRefusal> {
    let pivot = match (ask.pivot, ask.keep) {
        (Some(pivot), _) => Some(pivot),
        (None, Some(keep)) if keep > 0 => {
            let read = RecordedTranscript::read(&agent.place().transcript).map_err(refusal)?;
            Some(read.keep_last(keep).map_err(refusal)?)
        }
        (None, _) => None,
    };
    let (preview, approved) = match ask.step {
        CompactionStep::Preview => (true, None),
        CompactionStep::Approved(summary) => (false, Some(summary)),
    };
    let done = agent.compact(CompactRequest {
        instructions: ask.instructions,
        pivot,
        approved,
        preview,
        ..CompactRequest::default()
    });
    match done.await.map_err(refusal)? {
        CompactOutcome::Done(_) => Ok(CompactionReply::Done),
        CompactOutcome::Preview(preview) => Ok(CompactionReply::Preview(preview)),
    }
}

fn refusal(error: impl std::fmt::Display) -> HostRefusal {
    HostRefusal(error.to_string())
}

fn answer<T>(reply: ReplySender<T>, with: Result<T, HostRefusal>) {
    // A screen that is gone needs no answer.
    let _ = reply.send(with);
}
