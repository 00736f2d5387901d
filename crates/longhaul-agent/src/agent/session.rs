//! Opens an agent on a session: tools, head, hooks and workspace around the library's session.

use std::sync::Arc;

use longhaul::Session;
use longhaul::hooks::{Common, HookEvent, LoadReason, StartSource};
use longhaul_core::engine::{CacheEdits, Delivery, NewEntry};
use longhaul_core::prompt::{Presence, TtlPolicy};
use longhaul_provider::CancellationToken;
use longhaul_store::Home;
use longhaul_store::archive::archive_path;
use serde_json::json;

use super::account::Account;
use super::error::AgentError;
use super::hands::{Hands, Shown};
use super::head::{About, Heads, Instead};
use super::nested_memory::NestedMemory;
use super::outlook::{HeadWeight, Outlook, Watched};
use super::recipe::{Recipe, Seat};
use super::rehydrate::{AgentWorkspace, loaded};
use super::resuming::{Resuming, branches_left};
use super::ring::{Ringer, hook_context};
use super::running::Agent;
use super::sources::Sources;
use super::start::{Settled, Start};
use super::steer::{SteeredHooks, SteeredModel, Steering};
use super::sub_agents::{Jobs, SubAgents, Task, TaskOutput};
use super::surroundings::Surroundings;
use super::tell::{MainWatcher, Teller};
use super::worker::{Role, Worker};
use crate::place::Place;

/// What stays the same when an agent goes to another session.
#[derive(Clone)]
pub(crate) struct Lasting {
    pub(crate) recipe: Arc<Recipe>,
    pub(crate) teller: Teller,
    pub(crate) steering: Steering,
    pub(crate) asking: Arc<tokio::sync::Mutex<()>>,
    pub(crate) surroundings: Surroundings,
    pub(crate) outlook: Outlook,
}

/// A session that is opened.
pub(crate) struct Opened {
    pub(crate) id: String,
    pub(crate) place: Place,
    pub(crate) worker: Worker,
    pub(crate) sub_agents: Arc<SubAgents>,
    /// Its tools hold these.
    pub(crate) sources: Sources,
    pub(crate) account: Arc<Account>,
    /// What goes with the first prompt.
    pub(crate) pending: Vec<NewEntry>,
    /// About how many tokens stand before the messages.
    pub(crate) head: HeadWeight,
    /// A prompt that a hook wants to begin with.
    pub(crate) first_words: Option<String>,
}

impl Agent {
    /// Opens an agent.
    pub(crate) async fn open(
        recipe: Arc<Recipe>,
        model: String,
        start: Start,
        resuming: Resuming,
        teller: Teller,
    ) -> Result<Self, AgentError> {
        let settled = resuming.settle(&recipe, &start).await?;
        let surroundings = Surroundings::of(&recipe.cwd, recipe.shell.as_deref()).await;
        let steering = Steering::default();
        let lasting = Lasting {
            outlook: Outlook {
                gate: recipe.gate.clone(),
                steering: steering.clone(),
                teller: teller.clone(),
                seen: Arc::default(),
            },
            recipe,
            teller,
            steering,
            asking: Arc::default(),
            surroundings,
        };
        let opened = lasting.open(settled, &model, Arc::default()).await?;
        Ok(Self::of(lasting, opened, model))
    }
}

impl Lasting {
    /// Opens a session and tells hooks of it.
    pub(crate) async fn open(
        &self,
        settled: Settled,
        model: &str,
        account: Arc<Account>,
    ) -> Result<Opened, AgentError> {
        let source = settled.source;
        if let Some(notice) = &settled.notice {
            self.teller.notice(notice.clone());
        }
        let (mut opened, found) = self.assemble(settled, model, account, Arc::default())?;
        let ringer = &opened.worker.hands.ringer;
        loaded(ringer, &found.files, LoadReason::SessionStart).await;
        for notice in &found.notices {
            self.teller.notice(notice.to_string());
        }
        if source == StartSource::Resume {
            for notice in branches_left(&opened.id, &opened.place.transcript) {
                self.teller.notice(notice);
            }
        }
        let is_new = matches!(source, StartSource::Startup | StartSource::Clear);
        let context_tokens = (!is_new).then(|| opened.worker.session.status().used);
        let live = opened.worker.session.engine().live();
        let since = live.last_reply().filter(|_| !is_new).map(|last| {
            let passed = self.recipe.clock.now().duration_since(last).as_secs();
            u64::try_from(passed).unwrap_or_default()
        });
        let started = ringer
            .ring(HookEvent::SessionStart {
                source,
                model: Some(model.to_owned()),
                session_title: None,
                seconds_since_last_response: since,
                context_tokens,
                prompt_cache_likely_expired: None,
                estimated_cache_write_usd: None,
            })
            .await;
        let context = hook_context("SessionStart", &started.context);
        let skills = found.skill_listing.filter(|_| is_new);
        let skills = skills.map(|listing| json!({"type": "skill_listing", "content": listing}));
        let announced = match is_new {
            true => (opened.sources.announcements)(),
            false => Vec::new(),
        };
        opened.pending = (skills.into_iter().chain(announced).chain(context))
            .map(NewEntry::Attachment)
            .collect();
        opened.first_words = started.initial_user_message;
        Ok(opened)
    }

    /// Puts everything around a session, and tells nobody.
    pub(crate) fn assemble(
        &self,
        settled: Settled,
        model: &str,
        account: Arc<Account>,
        jobs: Arc<Jobs>,
    ) -> Result<(Opened, Read), AgentError> {
        let recipe = &self.recipe;
        let place = Place {
            cwd: recipe.cwd.clone(),
            more: recipe.further.clone(),
            transcript: settled.transcript,
        };
        let sub_agents = Arc::new(SubAgents {
            recipe: recipe.clone(),
            place: place.clone(),
            session_id: settled.id.clone(),
            model: model.to_owned(),
            surroundings: self.surroundings.clone(),
            teller: self.teller.clone(),
            asking: self.asking.clone(),
            account: account.clone(),
            jobs: jobs.clone(),
            end: CancellationToken::new(),
        });
        let equipment = (recipe.outfit)(&place, Seat::Main, &self.teller.shared());
        let sources = equipment.sources;
        let toolbox = (equipment.toolbox)
            .with(Task(sub_agents.clone()))
            .with(TaskOutput(sub_agents.clone()));
        let spec = recipe.models.resolve(model).spec;
        let heads = Arc::new(Heads::new(About {
            env: recipe.env.clone(),
            place: place.clone(),
            reads: recipe.reads.clone(),
            model: model.to_owned(),
            window: recipe.window(&spec),
            ttl: TtlPolicy::new(recipe.config.cache).decide(&recipe.source),
            toolbox: toolbox.clone(),
            presence: recipe.presence,
            surroundings: self.surroundings.clone(),
            sources: sources.clone(),
            clock: recipe.clock.clone(),
            instead: recipe.system_prompt.clone().map(Instead::Whole),
            more: recipe.append_system_prompt.clone(),
            preferences: recipe.preferences.clone(),
            scratchpad: Some(place.scratchpad()),
        }));
        let made = heads.make()?;
        let head = made.weight();
        let ringer = Ringer {
            hooks: recipe.hooks.clone(),
            common: Common {
                session_id: settled.id.clone(),
                transcript_path: place.transcript.clone(),
                cwd: place.cwd.clone(),
                ..Common::default()
            },
            gate: recipe.gate.clone(),
            teller: self.teller.clone(),
            steering: self.steering.clone(),
            overflow: place.session_folder().join("hooks"),
        };
        let uncollected = jobs.clone();
        let workspace = AgentWorkspace {
            heads: heads.clone(),
            spec,
            sources: sources.clone(),
            ringer: ringer.clone(),
            agents: Arc::new(move || uncollected.uncollected()),
            kinds: Some(SubAgents::announcement(&recipe.kinds)),
        };
        let home = Home::longhaul(&recipe.env)?;
        let mut builder = Session::builder()
            .model(SteeredModel {
                model: recipe.model.clone(),
                steering: self.steering.clone(),
            })
            .prompt(made.prompt)
            .transcript(&place.transcript)
            .archive(archive_path(&home, &place.transcript))
            .durability(recipe.durability)
            // The date, the branch and the like have changed since: that alone is not worth the cache.
            .keep_prefix_until_compaction()
            .session_id(&settled.id)
            .cwd(&place.cwd)
            .git_branch(self.surroundings.branch())
            .config(recipe.config.clone())
            .models(recipe.models.clone())
            .source(recipe.source.clone())
            .workspace(workspace)
            .hooks(SteeredHooks {
                hooks: recipe.hooks.clone(),
                steering: self.steering.clone(),
            })
            .hook_overflow(place.session_folder().join("hooks"))
            .clock(recipe.clock.clone())
            .observer(MainWatcher {
                teller: self.teller.clone(),
                account: account.clone(),
                heard: sources.heard.clone(),
                gate: recipe.gate.clone(),
            });
        if recipe.presence == Presence::Unattended {
            // Nobody reads along, and nobody answers a question.
            builder = builder.autonomous().delivery(Delivery::Whole);
        }
        if let Some(tool) = heads.recall_tool() {
            builder = builder.recall_tool(tool);
        }
        if let Some(text) = made.compact_instructions {
            builder = builder.compact_instructions(text);
        }
        // The setting `cache.diff_dir` wins over both.
        let session_folder = place.session_folder();
        builder = builder.cache_breaks(recipe.cache_breaks.as_ref().unwrap_or(&session_folder));
        if recipe.cache_edits == CacheEdits::Supported {
            builder = builder.with_cache_edits();
        }
        let session = builder.open()?;
        // The session has taken its own share of it.
        drop(settled.lease);
        (sources.reopened)(session.engine().live());
        let arrivals = jobs.clone();
        let worker = Worker {
            nested_memory: NestedMemory {
                heads: heads.clone(),
                gate: recipe.gate.clone(),
                ringer: ringer.clone(),
            },
            session,
            heads: Some(heads.clone()),
            hands: Hands {
                toolbox,
                gate: recipe.gate.clone(),
                ringer,
                teller: self.teller.clone(),
                shown: Shown::Calls,
                asking: self.asking.clone(),
            },
            role: Role::Main,
            watched: Some(Watched {
                outlook: self.outlook.clone(),
                session_id: settled.id.clone(),
                transcript: place.transcript.clone(),
                model: model.to_owned(),
                account: account.clone(),
                head,
            }),
            arrivals: Some(Arc::new(move || arrivals.arrivals())),
            max_turns: recipe.max_turns,
            max_cost: recipe.preferences.budgets.cost,
            turns: 0,
            calls: 0,
            last_text: String::new(),
        };
        let mut notices: Vec<String> = made.found.notices.iter().map(ToString::to_string).collect();
        notices.extend(made.cuts.iter().map(|path| {
            format!(
                "{} is too long to be sent whole: it was cut.",
                path.display()
            )
        }));
        let read = Read {
            skill_listing: (sources.skill_listing)(),
            files: made.found,
            notices,
        };
        let opened = Opened {
            id: settled.id,
            place,
            worker,
            sub_agents,
            sources,
            account,
            pending: Vec::new(),
            first_words: None,
            head,
        };
        Ok((opened, read))
    }
}

/// What was read for a head, to be told.
pub(crate) struct Read {
    pub(crate) files: longhaul_core::prompt::memory::Found,
    pub(crate) notices: Vec<String>,
    pub(crate) skill_listing: Option<String>,
}
