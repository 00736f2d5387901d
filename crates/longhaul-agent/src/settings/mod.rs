//! What a project and its user have set: settings, servers, skills, commands and agents, read where Claude Code keeps them,
//! so that an existing project works as it is.
//!
//! Whatever is wrong with a file is a notice, and the rest still counts. What the rules mean is in `permission`; the hooks
//! of the settings files are read by [`longhaul::hooks`].

mod agents;
mod arguments;
mod commands;
mod front_matter;
mod layer;
mod mcp;
mod output_styles;
mod places;
mod reader;
mod skills;
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_core::prompt::OutputStyle;
use longhaul_store::Env;

pub use commands::UserCommand;
pub use layer::{Trust, Want};
pub use mcp::{McpServer, Origin};
pub use skills::Skill;

use crate::event::Mode;
use crate::permission::RuleSet;
use crate::tools::task::AgentKind;
use layer::Merged;
use places::{Owner, Places};

/// All that is set for a session.
#[derive(Debug, Clone, Default)]
pub struct Project {
    /// The project's folder: the repository around the folder of work, else that folder itself.
    pub root: PathBuf,
    /// The user's home folder.
    pub user_home: Option<PathBuf>,
    /// The rules of all settings files together.
    pub rules: RuleSet,
    /// Further folders that the user opened, absolute.
    pub additional_directories: Vec<PathBuf>,
    /// The mode to begin with.
    pub mode: Mode,
    /// Variables for commands and hooks; not for this process.
    pub env: BTreeMap<String, String>,
    /// The model to use.
    pub model: Option<String>,
    /// Whether to compact automatically; none: nothing is set.
    pub auto_compact: Option<bool>,
    /// The name of an output style.
    pub output_style: Option<OutputStyle>,
    /// The language to answer in.
    pub language: Option<String>,
    /// The settings files, the least specific first, for [`longhaul::hooks::HookSettings::load`]. Some may not exist.
    pub settings_files: Vec<PathBuf>,
    /// Where rules go that the user gives for the project.
    pub local_settings: PathBuf,
    /// Servers of the Model Context Protocol.
    pub mcp_servers: Vec<McpServer>,
    /// Skills, by name.
    pub skills: Vec<Skill>,
    /// The user's own slash commands, by name.
    pub commands: Vec<UserCommand>,
    /// Kinds of sub-agents, by name, beside those that are always there.
    pub agents: Vec<AgentKind>,
    /// What files that came with the project want that only who trusts it should give, each once.
    pub wants: Vec<Want>,
    /// What people should know: each names a file, and what to do.
    pub notices: Vec<String>,
}

impl Project {
    /// Reads all that is set for a session in this folder.
    pub fn load(env: &Env, cwd: &Path) -> Self {
        Self::load_with(env, cwd, &|name| std::env::var(name).ok())
    }

    /// The same with variables of the caller's choice, for `${VAR}` in the settings of servers.
    pub fn load_with(env: &Env, cwd: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        Self::load_as(env, cwd, Trust::Trusted, variable)
    }

    /// The same for a project that may not be trusted: then of what came with it only what forbids counts.
    pub fn load_as(
        env: &Env,
        cwd: &Path,
        trust: Trust,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let places = Places::new(env, cwd);
        let mut notices = Vec::new();
        let mut merged = Merged::default();
        for file in places.settings_files() {
            merged.add(&file, &places, trust, &mut notices);
        }
        merged.restrain(&mut notices);
        let lookup = |name: &str| merged.env.get(name).cloned().or_else(|| variable(name));
        let mcp_servers = mcp::load(&places, &merged, &lookup, &mut notices);
        let mut wants = std::mem::take(&mut merged.wants);
        if mcp_servers
            .iter()
            .any(|server| server.origin == Origin::Project)
        {
            wants.push(Want::Servers);
        }
        wants.sort();
        wants.dedup();
        let skills = skills::load(&places.skill_folders(), &mut notices);
        let commands = commands::load(&places.command_folders(), &mut notices);
        let agents = agents::load(&places.agent_folders(), &mut notices);
        let output_style = merged.output_style.as_deref();
        let output_style = output_style
            .and_then(|name| output_styles::load(name, &places.style_folders(), &mut notices));
        Self {
            settings_files: places
                .settings_files()
                .into_iter()
                .filter(|file| trust == Trust::Trusted || file.owner == Owner::User)
                .map(|file| file.path)
                .collect(),
            wants,
            local_settings: places.local_settings(),
            root: places.root,
            user_home: places.user_home,
            rules: merged.rules,
            additional_directories: merged.additional_directories,
            mode: merged.mode.unwrap_or_default(),
            env: merged.env,
            model: merged.model,
            auto_compact: merged.auto_compact,
            output_style,
            language: merged.language,
            mcp_servers,
            skills,
            commands,
            agents,
            notices,
        }
    }

    /// The skill of this name.
    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// The command of this name.
    pub fn command(&self, name: &str) -> Option<&UserCommand> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// The kind of agent of this name.
    pub fn agent(&self, name: &str) -> Option<&AgentKind> {
        self.agents.iter().find(|agent| agent.name == name)
    }
}
