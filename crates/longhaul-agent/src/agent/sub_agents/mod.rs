//! Opens and runs sub-agents: a conversation of their own with its own window, transcript and compaction (C2), the tools
//! of their kind, and the same permissions. What they cost counts into the session. `task_tool.rs` and `output_tool.rs` are
//! the tools with which a model starts and watches them; `job.rs` keeps those in the background.

mod job;
mod output_tool;
mod task_tool;

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::Session;
use longhaul::hooks::{Common, HookEvent};
use longhaul::session::{OpenError, new_session_id};
use longhaul_core::engine::{Delivery, NewEntry};
use longhaul_core::prompt::{Presence, TtlPolicy};
use longhaul_core::rehydrate::AgentState;
use longhaul_core::window::QuerySource;
use longhaul_provider::CancellationToken;
use longhaul_store::Home;
use longhaul_store::archive::archive_path;
use longhaul_store::layout::subagents_folder;
use serde_json::{Value, json};

use super::account::Account;
use super::hands::{Hands, Shown};
use super::head::{About, Heads, Instead, NoHead};
use super::nested_memory::NestedMemory;
use super::recipe::{Recipe, Seat};
use super::rehydrate::SubAgentWorkspace;
use super::restore::Restoring;
use super::ring::{Ringer, hook_context};
use super::steer::{SteeredHooks, SteeredModel, Steering};
use super::surroundings::Surroundings;
use super::tell::{SubWatcher, Teller};
use super::worker::{Role, Worker};
use crate::agent_kind::{AgentKind, GENERAL, model_named};
use crate::event::Ended;
use crate::place::Place;
use job::Job;
pub(super) use job::Jobs;
pub(super) use output_tool::TaskOutput;
pub(super) use task_tool::Task;

/// What an agent is started with.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) description: String,
    pub(crate) prompt: String,
    pub(crate) kind: AgentKind,
    pub(crate) model: Option<String>,
}

/// What came of an agent.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) ended: Ended,
    pub(crate) text: String,
    pub(crate) calls: usize,
    pub(crate) turns: u32,
    pub(crate) transcript: PathBuf,
}

/// Why an agent could not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotStarted {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Head(#[from] NoHead),
    #[error(transparent)]
    Home(#[from] longhaul_store::layout::HomeError),
}

/// The sub-agents of a session.
pub(crate) struct SubAgents {
    pub(crate) recipe: Arc<Recipe>,
    pub(crate) place: Place,
    pub(crate) session_id: String,
    pub(crate) model: String,
    pub(crate) surroundings: Surroundings,
    pub(crate) teller: Teller,
    pub(crate) asking: Arc<tokio::sync::Mutex<()>>,
    pub(crate) account: Arc<Account>,
    pub(crate) jobs: Arc<Jobs>,
    /// Ends those in the background with the session.
    pub(crate) end: CancellationToken,
}

impl Drop for SubAgents {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

impl SubAgents {
    /// The kind of a name; the general one if none is named.
    pub(crate) fn kind(&self, name: Option<&str>) -> Option<&AgentKind> {
        let name = name
            .filter(|name| !name.trim().is_empty())
            .unwrap_or(GENERAL);
        let mut kinds = self.recipe.kinds.iter();
        kinds.find(|kind| kind.name.eq_ignore_ascii_case(name.trim()))
    }

    /// All kinds, a line each.
    pub(crate) fn listing(kinds: &[AgentKind]) -> Vec<String> {
        let lines = kinds.iter().map(|kind| {
            let about: Vec<&str> = kind.description.split_whitespace().collect();
            format!("- {}: {}", kind.name, about.join(" "))
        });
        lines.collect()
    }

    /// The kinds as against an empty history (R5).
    pub(crate) fn announcement(kinds: &[AgentKind]) -> Value {
        let names: Vec<&str> = kinds.iter().map(|kind| &*kind.name).collect();
        json!({
            "type": "agent_listing_delta",
            "addedTypes": names,
            "addedLines": Self::listing(kinds),
            "removedTypes": [],
        })
    }

    /// A name and a place for a new agent.
    fn named(&self) -> (String, PathBuf) {
        let id: String = new_session_id()
            .chars()
            .filter(|c| *c != '-')
            .take(7)
            .collect();
        let id = format!("a{id}");
        let file = format!("agent-{id}.jsonl");
        (id, subagents_folder(&self.place.transcript).join(file))
    }

    /// Runs an agent to its end.
    pub(crate) async fn run(
        &self,
        order: Order,
        cancel: CancellationToken,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Report, NotStarted> {
        let (id, transcript) = self.named();
        self.run_as(order, id, transcript, cancel, progress).await
    }

    /// Starts an agent that goes on by itself; its report comes with a later turn.
    pub(crate) fn start(&self, order: Order) -> (String, PathBuf) {
        let (id, transcript) = self.named();
        self.jobs.begin(Job {
            id: id.clone(),
            description: order.description.clone(),
            transcript: transcript.clone(),
            state: AgentState::Running,
            report: String::new(),
            collected: false,
        });
        let (jobs, end, teller) = (self.jobs.clone(), self.end.clone(), self.teller.clone());
        let told = (id.clone(), transcript.clone());
        // Sub-agents of their own: it must not keep the session's alive, with whose end it ends.
        let alone = self.apart();
        tokio::spawn(async move {
            let description = order.description.clone();
            let quiet: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(|_| {});
            let ran = alone
                .run_as(order, id.clone(), transcript, end.child_token(), quiet)
                .await;
            let (state, report) = match ran {
                Ok(report) if report.ended == Ended::Done => (AgentState::Finished, report.text),
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
            recipe: self.recipe.clone(),
            place: self.place.clone(),
            session_id: self.session_id.clone(),
            model: self.model.clone(),
            surroundings: self.surroundings.clone(),
            teller: self.teller.clone(),
            asking: self.asking.clone(),
            account: self.account.clone(),
            jobs: self.jobs.clone(),
            end: CancellationToken::new(),
        }
    }

    async fn run_as(
        &self,
        order: Order,
        id: String,
        transcript: PathBuf,
        cancel: CancellationToken,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Report, NotStarted> {
        let steering = Steering::by(cancel.clone());
        let mut worker = self.open(&order, &id, &transcript, &steering, progress)?;
        let started = worker
            .hands
            .ringer
            .ring(HookEvent::SubagentStart {
                agent_id: id,
                agent_type: order.kind.name.clone(),
            })
            .await;
        let context = hook_context("SubagentStart", &started.context).map(NewEntry::Attachment);
        let entries = std::iter::once(NewEntry::text(order.prompt)).chain(context);
        let ended = worker.work(entries.collect(), &cancel).await;
        Ok(Report {
            ended,
            text: std::mem::take(&mut worker.last_text),
            calls: worker.calls,
            turns: worker.turns,
            transcript,
        })
    }

    fn open(
        &self,
        order: &Order,
        id: &str,
        transcript: &std::path::Path,
        steering: &Steering,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Worker, NotStarted> {
        let recipe = &self.recipe;
        let kind = &order.kind;
        let place = Place {
            transcript: transcript.to_owned(),
            ..self.place.clone()
        };
        let equipment = (recipe.outfit)(&place, Seat::SubAgent, &self.teller.shared());
        let toolbox = equipment.toolbox.only(|tool| kind.may_use(tool));
        let named = order.model.as_deref().or(kind.model.as_deref());
        let model = model_named(named.unwrap_or_default(), &self.model);
        let source = QuerySource::agent(&kind.name);
        let spec = recipe.models.resolve(&model).spec;
        let heads = Arc::new(Heads::new(About {
            env: recipe.env.clone(),
            place: place.clone(),
            reads: recipe.reads.clone(),
            window: recipe.window(&spec),
            model,
            ttl: TtlPolicy::new(recipe.config.cache).decide(&source),
            toolbox: toolbox.clone(),
            presence: Presence::Unattended,
            surroundings: self.surroundings.clone(),
            sources: equipment.sources.clone(),
            clock: recipe.clock.clone(),
            instead: Some(Instead::Kind(kind.prompt.clone())),
            more: None,
            preferences: recipe.preferences.clone(),
            scratchpad: None,
        }));
        let made = heads.make()?;
        let home = Home::longhaul(&recipe.env)?;
        let session = Session::builder()
            .model(SteeredModel {
                model: recipe.model.clone(),
                steering: steering.clone(),
            })
            .prompt(made.prompt)
            .transcript(transcript)
            .archive(archive_path(&home, transcript))
            .durability(recipe.durability)
            .session_id(&self.session_id)
            .agent(id)
            .cwd(&self.place.cwd)
            .git_branch(self.surroundings.branch())
            .config(recipe.config.clone())
            .models(recipe.models.clone())
            .source(source)
            .autonomous()
            .delivery(Delivery::Whole)
            .workspace(SubAgentWorkspace {
                heads: heads.clone(),
                restoring: Restoring {
                    place: place.clone(),
                    reads: recipe.reads.clone(),
                    sources: equipment.sources.clone(),
                },
            })
            .hooks(SteeredHooks {
                hooks: recipe.hooks.clone(),
                steering: steering.clone(),
            })
            .clock(recipe.clock.clone())
            .observer(SubWatcher {
                account: self.account.clone(),
                heard: equipment.sources.heard,
                progress: progress.clone(),
            })
            .open()?;
        let ringer = Ringer {
            hooks: recipe.hooks.clone(),
            common: Common {
                session_id: self.session_id.clone(),
                transcript_path: self.place.transcript.clone(),
                cwd: self.place.cwd.clone(),
                agent_id: Some(id.to_owned()),
                agent_type: Some(kind.name.clone()),
                ..Common::default()
            },
            gate: recipe.gate.clone(),
            teller: self.teller.clone(),
            steering: steering.clone(),
            overflow: self.place.session_folder().join("hooks"),
        };
        Ok(Worker {
            nested_memory: NestedMemory {
                heads,
                gate: recipe.gate.clone(),
                ringer: ringer.clone(),
            },
            session,
            heads: None,
            hands: Hands {
                toolbox,
                gate: recipe.gate.clone(),
                ringer,
                teller: self.teller.clone(),
                shown: Shown::Progress(progress),
                asking: self.asking.clone(),
            },
            role: Role::Sub {
                id: id.to_owned(),
                kind: kind.name.clone(),
                transcript: transcript.to_owned(),
            },
            watched: None,
            arrivals: None,
            max_turns: None,
            max_cost: None,
            turns: 0,
            calls: 0,
            last_text: String::new(),
        })
    }
}

/// Why an agent has no good report.
pub(crate) fn ended_badly(report: &Report) -> String {
    let why = match &report.ended {
        Ended::Done => return report.text.clone(),
        Ended::Cancelled => "it was stopped".to_owned(),
        Ended::Refused(why) | Ended::Failed(why) => why.clone(),
        Ended::TurnsUsedUp(turns) => format!("it did not come to an end in {turns} turns"),
        Ended::BudgetUsedUp(most) => format!("the session has cost {most}, the most it may"),
    };
    format!("The agent failed: {why}")
}
