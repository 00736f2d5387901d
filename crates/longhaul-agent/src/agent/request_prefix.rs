//! The request prefix of an agent: the system prompt's sections (A1, A2), the tools, and the user context with memory
//! files and the date (A4). It is built when a session opens, and again after a compaction.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul::memory_files;
use longhaul::{Clock, Prompt, ReadPolicy, System};
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::memory::{FoundMemoryFiles, MemoryFile};
use longhaul_core::prompt::{
    AGENT_PREFIX, ContextBudget, ContextSources, Environment, HistoryAccess, HostValues,
    MemoryPrompt, OutputStyle, SectionRegistry, SessionBudgets, StandardSection, SystemPrompt,
    SystemPromptOptions, ToolGuidance, ToolSharing, Ttl, UserContext, UserPresence, agent_registry,
};
use longhaul_core::tokens::RoughEstimator;
use longhaul_core::window::WindowScale;
use longhaul_store::Env;
use serde_json::Value;

use super::agent_handle::PrefixTokenCounts;
use super::host_environment::HostEnvironment;
use super::sources::ToolStateSources;
use crate::effort::SharedEffort;
use crate::session_paths::SessionPaths;
use crate::tool::Toolbox;
use crate::tools::ask_user;

/// Builds request prefixes.
pub(crate) struct PrefixBuilder {
    inputs: PrefixInputs,
    /// Latched (B5): the same definitions until tools come late, and those are only added.
    tools: Mutex<Vec<Value>>,
    offers: OfferedTools,
    registry: Mutex<Option<SectionRegistry>>,
    /// The prompt that was built last.
    newest: Mutex<Option<Prompt>>,
}

/// What the request prefixes of a session are built from.
pub(crate) struct PrefixInputs {
    pub(crate) env: Env,
    pub(crate) place: SessionPaths,
    pub(crate) reads: ReadPolicy,
    pub(crate) model: String,
    pub(crate) spec: Arc<ModelSpec>,
    pub(crate) effort: SharedEffort,
    /// The window in tokens, after a cap.
    pub(crate) window: u64,
    /// Decided once (B4).
    pub(crate) ttl: Option<Ttl>,
    pub(crate) toolbox: Toolbox,
    pub(crate) presence: UserPresence,
    pub(crate) host_environment: HostEnvironment,
    pub(crate) sources: ToolStateSources,
    pub(crate) clock: Arc<dyn Clock>,
    /// Replaces the default agent's sections.
    pub(crate) system_override: Option<SystemPromptOverride>,
    /// The user's preferences, and the limits of the session.
    pub(crate) preferences: Preferences,
    /// The folder for temporary files, if there is one.
    pub(crate) scratchpad: Option<PathBuf>,
    /// The user's addition to the system prompt.
    pub(crate) more: Option<String>,
}

/// What replaces the default agent's sections.
#[derive(Debug, Clone)]
pub(crate) enum SystemPromptOverride {
    /// The user's own system prompt: it replaces everything, and nothing is added to it (A3).
    Whole(String),
    /// The prompt of a sub-agent's kind; the working folder is added to it.
    Kind(String),
}

/// The user's preferences, and the limits that were set for the session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preferences {
    /// The language to answer in.
    pub language: Option<String>,
    /// The style of the answers.
    pub output_style: Option<OutputStyle>,
    /// The limits of the session.
    pub budgets: SessionBudgets,
}

/// The tools that the prompt mentions, if they are available.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfferedTools {
    pub(crate) ask_tool: Option<String>,
    pub(crate) agent_tool: Option<String>,
    pub(crate) skill_tool: Option<String>,
    pub(crate) recall_tool: Option<String>,
}

impl OfferedTools {
    pub(crate) fn of(toolbox: &Toolbox) -> Self {
        let offered = |wanted: &str| {
            let mut names = toolbox.names();
            names
                .find(|name| name.eq_ignore_ascii_case(wanted))
                .map(str::to_owned)
        };
        Self {
            ask_tool: offered(ask_user::NAME),
            agent_tool: offered("Task"),
            skill_tool: offered("Skill"),
            recall_tool: offered("Recall"),
        }
    }
}

/// A request prefix before it is fitted to a model, and what was read for it.
pub(crate) struct BuiltPrefix {
    pub(crate) prompt: Prompt,
    pub(crate) found: FoundMemoryFiles,
    pub(crate) compact_instructions: Option<String>,
    /// The memory files that did not fit.
    pub(crate) cuts: Vec<PathBuf>,
}

impl BuiltPrefix {
    /// The approximate token counts of the prefix.
    pub(crate) fn token_counts(&self) -> PrefixTokenCounts {
        let system = match &self.prompt.system {
            System::Custom(text) => text.as_str(),
            System::Rendered(json) => json.get(),
        };
        let tools = serde_json::to_string(&self.prompt.tools).unwrap_or_default();
        let context = self.prompt.user_context.as_deref().unwrap_or_default();
        let weight = |text: &str| RoughEstimator::text(text).unpadded();
        PrefixTokenCounts {
            system: weight(system),
            tools: weight(&tools),
            context: weight(context),
        }
    }
}

/// Why a request prefix could not be built.
#[derive(Debug, thiserror::Error)]
pub enum PrefixBuildError {
    /// Two sections have the same name.
    #[error(transparent)]
    Name(#[from] longhaul_core::prompt::NameTaken),
    /// A part cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl PrefixBuilder {
    pub(crate) fn new(about: PrefixInputs) -> Self {
        Self {
            tools: Mutex::new(about.toolbox.definitions()),
            offers: OfferedTools::of(&about.toolbox),
            inputs: about,
            registry: Mutex::new(None),
            newest: Mutex::new(None),
        }
    }

    /// The model that requests are sent to.
    pub(crate) fn model(&self) -> &str {
        &self.inputs.model
    }

    /// Whether a user is present.
    pub(crate) fn presence(&self) -> UserPresence {
        self.inputs.presence
    }

    /// Where the session is stored.
    pub(crate) fn place(&self) -> &SessionPaths {
        &self.inputs.place
    }

    /// Which files may be read.
    pub(crate) fn reads(&self) -> &ReadPolicy {
        &self.inputs.reads
    }

    /// The name of the recall tool, if the model has it.
    pub(crate) fn recall_tool(&self) -> Option<&str> {
        self.offers.recall_tool.as_deref()
    }

    /// Builds a prefix. After a compaction, all of it is computed again.
    pub(crate) fn make(&self) -> Result<BuiltPrefix, PrefixBuildError> {
        let values = self.values();
        let mut slot = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let mut registry = match slot.take() {
            Some(mut registry) => {
                registry.compacted();
                registry
            }
            None => agent_registry()?,
        };
        registry.refresh(|section| StandardSection::of(section)?.text(&values));
        let system = self.system(&registry, &values)?;
        *slot = Some(registry);
        drop(slot);
        let found = self.memory();
        let context = self.context(&found.files);
        let (think, effort) = self.inputs.effort.get().parameters(&self.inputs.spec);
        let prompt = Prompt {
            think,
            effort,
            system: System::Rendered(system.json),
            user_context: context.as_ref().map(|context| context.text.clone()),
            ttl: self.inputs.ttl,
            ..Prompt::new(&self.inputs.model, "")
        }
        .with_tools(self.tools().clone());
        self.newest().replace(prompt.clone());
        Ok(BuiltPrefix {
            prompt,
            compact_instructions: memory_files::compact_instructions(&found.files),
            cuts: context
                .map(|context| context.cuts.into_iter().map(|cut| cut.path).collect())
                .unwrap_or_default(),
            found,
        })
    }

    /// Computes the sections that are declared to change with every turn (A2). Returns a new prompt if one of them
    /// changed; everything else stays as it was.
    pub(crate) fn next_turn(&self) -> Result<Option<Prompt>, PrefixBuildError> {
        if self.inputs.system_override.is_some() {
            return Ok(None);
        }
        let mut slot = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(registry) = slot.as_mut() else {
            return Ok(None);
        };
        if registry.due().next().is_none() {
            return Ok(None);
        }
        let values = self.values();
        let changes = registry.refresh(|section| StandardSection::of(section)?.text(&values));
        if changes.is_empty() {
            return Ok(None);
        }
        let system = self.system(registry, &values)?;
        let mut newest = self.newest();
        let Some(prompt) = newest.as_mut() else {
            return Ok(None);
        };
        prompt.system = System::Rendered(system.json);
        Ok(Some(prompt.clone()))
    }

    /// Takes over that the model thinks in another way: nothing else of the prompt changes.
    pub(crate) fn thinking_changed(&self) {
        let (think, effort) = self.inputs.effort.get().parameters(&self.inputs.spec);
        if let Some(prompt) = self.newest().as_mut() {
            (prompt.think, prompt.effort) = (think, effort);
        }
    }

    /// Takes tools that came late into every prefix that is built from now on.
    pub(crate) fn join_tools(&self, toolbox: &Toolbox) {
        *self.tools() = toolbox.definitions();
    }

    /// The newest prompt, with the current tools; `None` before there is one.
    pub(crate) fn with_joined_tools(&self) -> Option<BuiltPrefix> {
        let mut newest = self.newest();
        let prompt = newest.take()?.with_tools(self.tools().clone());
        newest.replace(prompt.clone());
        Some(BuiltPrefix {
            prompt,
            found: FoundMemoryFiles::default(),
            compact_instructions: None,
            cuts: Vec::new(),
        })
    }

    fn tools(&self) -> MutexGuard<'_, Vec<Value>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn newest(&self) -> MutexGuard<'_, Option<Prompt>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn system(
        &self,
        registry: &SectionRegistry,
        values: &HostValues,
    ) -> Result<SystemPrompt, PrefixBuildError> {
        let ttl = self.inputs.ttl;
        let system = match &self.inputs.system_override {
            None => {
                let sending = SystemPromptOptions {
                    prefix: Some(AGENT_PREFIX),
                    ttl,
                    tools: ToolSharing::PerUser,
                    ..SystemPromptOptions::default()
                };
                SystemPrompt::from_sections(registry, &sending)?
            }
            Some(SystemPromptOverride::Whole(text)) => SystemPrompt::custom(text, ttl)?,
            Some(SystemPromptOverride::Kind(text)) => {
                SystemPrompt::custom(&of_kind(text, values), ttl)?
            }
        };
        Ok(match &self.inputs.more {
            Some(more) => appended(&system, more, ttl)?,
            None => system,
        })
    }

    /// The current memory files.
    fn memory(&self) -> FoundMemoryFiles {
        memory_files::load_with(&self.memory_places(), &self.inputs.reads)
    }

    /// The folders in which memory files are searched for.
    pub(crate) fn memory_places(&self) -> memory_files::SessionFolders {
        memory_files::places(&self.inputs.env, &self.inputs.place.cwd)
    }

    /// The current compaction instructions of the memory files; empty if there are none (F4).
    pub(crate) fn compact_instructions(&self) -> String {
        memory_files::compact_instructions(&self.memory().files).unwrap_or_default()
    }

    /// The scale of the window, for budgets.
    pub(crate) fn scale(&self) -> WindowScale {
        WindowScale::of_window(self.inputs.window)
    }

    fn context(&self, memory: &[MemoryFile]) -> Option<UserContext> {
        let now = self
            .inputs
            .clock
            .now()
            .to_zoned(jiff::tz::TimeZone::system());
        let sources = ContextSources {
            memory,
            date: Some(now.date()),
            selection: None,
        };
        UserContext::new(
            &sources,
            ContextBudget::at(WindowScale::of_window(self.inputs.window)),
        )
    }

    fn values(&self) -> HostValues {
        let around = &self.inputs.host_environment;
        let home = longhaul_store::Home::longhaul(&self.inputs.env).ok();
        HostValues {
            guidance: ToolGuidance {
                ask_tool: self.offers.ask_tool.clone(),
                agent_tool: self.offers.agent_tool.clone(),
                skill_tool: self.offers.skill_tool.clone(),
                presence: self.inputs.presence,
            },
            memory: MemoryPrompt {
                project_file: Some(self.inputs.place.cwd.join("CLAUDE.md")),
                user_file: home.map(|home| home.root().join("CLAUDE.md")),
                notes_folder: None,
            },
            environment: Environment {
                cwd: Some(self.inputs.place.cwd.clone()),
                further: self.inputs.place.more.clone(),
                git: around.git.clone(),
                os: Some(around.os.clone()),
                shell: around.shell.clone(),
                model: Some(self.inputs.model.clone()),
            },
            language: self.inputs.preferences.language.clone(),
            output_style: self.inputs.preferences.output_style.clone(),
            scratchpad: self.inputs.scratchpad.clone(),
            budgets: self.inputs.preferences.budgets.clone(),
            servers: (self.inputs.sources.servers)(),
            history: Some(HistoryAccess {
                recall_tool: self.offers.recall_tool.clone(),
                transcript: Some(self.inputs.place.transcript.clone()),
            }),
        }
    }
}

/// The sub-agent's own prompt, its working folder, and the note that old results are cleared.
fn of_kind(text: &str, values: &HostValues) -> String {
    let parts = [
        Some(text.trim().to_owned()),
        StandardSection::Environment.text(values),
        StandardSection::History.text(values),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("\n\n")
}

/// Adds the user's text after the last block, under its heading.
fn appended(
    system: &SystemPrompt,
    more: &str,
    ttl: Option<Ttl>,
) -> Result<SystemPrompt, serde_json::Error> {
    let mut blocks: Vec<Value> = serde_json::from_str(system.json.get())?;
    if let Some(Value::String(text)) = blocks.last_mut().and_then(|last| last.get_mut("text")) {
        text.push_str("\n\n");
        text.push_str(more.trim());
        return Ok(SystemPrompt {
            json: serde_json::value::to_raw_value(&blocks)?,
            ..system.clone()
        });
    }
    SystemPrompt::custom(more, ttl)
}
