//! Opens and runs sub-agents: each has its own conversation with its own window, transcript and compaction (C2), the
//! tools of its kind, and the session's permissions. Its cost counts toward the session. `task_tool.rs` and
//! `output_tool.rs` are the tools with which a model starts and watches sub-agents; `job.rs` keeps those in the
//! background.

mod job;
mod output_tool;
mod task_tool;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul::hooks::HookEvent;
use longhaul_core::engine::NewEntry;
use longhaul_core::figures::counted;
use longhaul_core::rehydrate::AgentState;
use longhaul_provider::CancellationToken;
use serde_json::{Value, json};

use super::agent_spec::ConversationRole;
use super::assembly::{Conversation, Holder, Shared, SubAgentRole};
use super::error::AgentError;
use super::hook_runner::hook_context;
use super::usage_log::SessionUsageLog;
use super::web_search::SearchSessions;
use crate::agent_kind::{AgentKind, GENERAL, model_named};
use crate::event::PromptOutcome;
use crate::session_paths::SessionPaths;
use job::BackgroundJob;
pub(super) use job::BackgroundJobs;
pub(super) use output_tool::TaskOutputTool;
pub(super) use task_tool::TaskTool;

/// What a sub-agent is started with.
#[derive(Debug, Clone)]
pub(crate) struct SubAgentOrder {
    pub(crate) description: String,
    pub(crate) prompt: String,
    pub(crate) kind: AgentKind,
    pub(crate) model: Option<String>,
}

/// The result of a sub-agent.
#[derive(Debug, Clone)]
pub(crate) struct SubAgentReport {
    pub(crate) ended: PromptOutcome,
    pub(crate) text: String,
    pub(crate) calls: usize,
    pub(crate) turns: u32,
    pub(crate) transcript: PathBuf,
}

/// The sub-agents of a session.
pub(crate) struct SubAgents {
    pub(crate) shared: Shared,
    pub(crate) place: SessionPaths,
    pub(crate) session_id: String,
    pub(crate) model: String,
    pub(crate) usage_log: Arc<SessionUsageLog>,
    pub(crate) jobs: Arc<BackgroundJobs>,
    /// Ends the background sub-agents with the session. A stop by the user does not end them.
    pub(crate) end: CancellationToken,
}

impl Drop for SubAgents {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

impl SubAgents {
    /// The kind with this name; the general kind if no name is given.
    pub(crate) fn kind(&self, name: Option<&str>) -> Option<&AgentKind> {
        let name = name
            .filter(|name| !name.trim().is_empty())
            .unwrap_or(GENERAL);
        let mut kinds = self.shared.recipe.kinds.iter();
        kinds.find(|kind| kind.name.eq_ignore_ascii_case(name.trim()))
    }

    /// Runs a sub-agent to its end.
    pub(crate) async fn run(
        &self,
        order: SubAgentOrder,
        cancel: CancellationToken,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<SubAgentReport, AgentError> {
        let (id, transcript) = self.place.new_sub_agent();
        self.run_as(order, id, transcript, cancel, progress).await
    }

    /// Starts a sub-agent in the background; its report comes with a later turn.
    pub(crate) fn start(&self, order: SubAgentOrder) -> (String, PathBuf) {
        let (id, transcript) = self.place.new_sub_agent();
        self.jobs.begin(BackgroundJob {
            id: id.clone(),
            description: order.description.clone(),
            transcript: transcript.clone(),
            state: AgentState::Running,
            report: String::new(),
            collected: false,
        });
        let (jobs, end, teller) = (
            self.jobs.clone(),
            self.end.clone(),
            self.shared.event_sink.clone(),
        );
        let told = (id.clone(), transcript.clone());
        // A separate copy: the task must not keep the session's own value alive, because it ends when that value is
        // dropped.
        let alone = self.apart();
        tokio::spawn(async move {
            let description = order.description.clone();
            let quiet: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(|_| {});
            // A child token: all background agents end with the session, and each can end on its own.
            let ran = alone
                .run_as(order, id.clone(), transcript, end.child_token(), quiet)
                .await;
            let (state, report) = match ran {
                Ok(report) if report.ended == PromptOutcome::Done => {
                    (AgentState::Finished, report.text)
                }
                Ok(report) => (AgentState::Failed, ended_badly(&report)),
                Err(error) => (AgentState::Failed, error.to_string()),
            };
            if !end.is_cancelled() {
                let how = match state {
                    AgentState::Failed => "failed",
                    _ => "is done",
                };
                teller.notice(format!("Agent {id} {how}: {description}"));
            }
            jobs.end(&id, state, report);
        });
        told
    }

    fn apart(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            place: self.place.clone(),
            session_id: self.session_id.clone(),
            model: self.model.clone(),
            usage_log: self.usage_log.clone(),
            jobs: self.jobs.clone(),
            end: CancellationToken::new(),
        }
    }

    async fn run_as(
        &self,
        order: SubAgentOrder,
        id: String,
        transcript: PathBuf,
        cancel: CancellationToken,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<SubAgentReport, AgentError> {
        let conversation = self.conversation(&order, &id, &transcript, &cancel, progress);
        let mut worker = conversation.assemble()?.worker;
        let started = worker
            .tool_executor
            .hook_runner
            .run_hooks(HookEvent::SubagentStart {
                agent_id: id,
                agent_type: order.kind.name.clone(),
            })
            .await;
        let context = hook_context("SubagentStart", &started.context).map(NewEntry::Attachment);
        let entries = std::iter::once(NewEntry::text(order.prompt)).chain(context);
        let ended = worker.work(entries.collect(), &cancel).await;
        Ok(SubAgentReport {
            ended,
            text: std::mem::take(&mut worker.last_text),
            calls: worker.calls,
            turns: worker.turns,
            transcript,
        })
    }

    fn conversation(
        &self,
        order: &SubAgentOrder,
        id: &str,
        transcript: &Path,
        cancel: &CancellationToken,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Conversation {
        let kind = &order.kind;
        let place = SessionPaths {
            transcript: transcript.to_owned(),
            ..self.place.clone()
        };
        let outfit = &self.shared.recipe.outfit;
        let equipment = outfit(
            &place,
            ConversationRole::SubAgent,
            &self.shared.event_sink.shared(),
        );
        let named = order.model.as_deref().or(kind.model.as_deref());
        let model = model_named(named.unwrap_or_default(), &self.model);
        let searches = SearchSessions {
            shared: self.shared.clone(),
            of: self.place.clone(),
            session_id: self.session_id.clone(),
            model: model.clone(),
            account: self.usage_log.clone(),
        };
        let toolbox = searches.offer(equipment.toolbox);
        Conversation {
            shared: self.shared.clone(),
            session_id: self.session_id.clone(),
            place,
            model,
            toolbox: toolbox.only(|tool| kind.may_use(tool)),
            sources: equipment.sources,
            account: self.usage_log.clone(),
            cancellation: cancel.clone().into(),
            holder: Holder::SubAgent(SubAgentRole {
                id: id.to_owned(),
                kind: kind.clone(),
                task: order.description.clone(),
                of: self.place.clone(),
                progress,
            }),
        }
    }
}

/// A list of all kinds, one line each.
fn listing(kinds: &[AgentKind]) -> Vec<String> {
    let lines = kinds.iter().map(|kind| {
        let about: Vec<&str> = kind.description.split_whitespace().collect();
        format!("- {}: {}", kind.name, about.join(" "))
    });
    lines.collect()
}

/// The kinds as an attachment, compared with an empty history (R5).
pub(super) fn announcement(kinds: &[AgentKind]) -> Value {
    let names: Vec<&str> = kinds.iter().map(|kind| &*kind.name).collect();
    json!({
        "type": "agent_listing_delta",
        "addedTypes": names,
        "addedLines": listing(kinds),
        "removedTypes": [],
    })
}

/// Why a sub-agent has no usable report.
pub(crate) fn ended_badly(report: &SubAgentReport) -> String {
    let why = match &report.ended {
        PromptOutcome::Done => return report.text.clone(),
        PromptOutcome::Cancelled => "it was stopped".to_owned(),
        PromptOutcome::Refused(why) | PromptOutcome::Failed(why) => why.clone(),
        PromptOutcome::TurnsUsedUp(turns) => format!(
            "it did not come to an end in {}",
            counted(u64::from(*turns), "turn")
        ),
        PromptOutcome::BudgetUsedUp { cost, limit } => {
            format!("the session has cost {cost}; its limit is {limit}")
        }
    };
    format!("The agent failed: {why}")
}
