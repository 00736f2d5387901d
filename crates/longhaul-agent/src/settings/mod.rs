//! The settings of a project and its user: settings files, servers, skills, commands and agents, read from where Claude
//! Code keeps them, so that an existing project works as it is.
//!
//! Anything wrong with a file causes a notice, and the rest still applies. The meaning of the rules is in `permission`;
//! the hooks of the settings files are read by [`longhaul::hooks`].

mod admission;
mod agents;
mod arguments;
mod commands;
mod front_matter;
mod grant;
mod headed_files;
mod layer;
mod mcp;
mod output_styles;
mod reader;
mod settings_folders;
mod skills;
mod tracked;
mod trust_requirement;
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul::environment::PassedVariables;
use longhaul::hooks::HookSettings;
use longhaul_core::prompt::OutputStyle;
use longhaul_store::Env;

pub use admission::OutsideFile;
pub(crate) use arguments::words;
pub use commands::UserCommand;
pub(crate) use grant::{ProjectGrant, ProjectTrust};
pub(crate) use mcp::of_file as servers_of_file;
pub use mcp::{McpServer, ServerOrigin, WrittenServer};
pub use skills::SkillDefinition;
pub use trust_requirement::TrustRequirement;

use crate::agent_kind::AgentKind;
use crate::effort::EffortSetting;
use crate::event::ApprovalMode;
use crate::permission::{PermissionRules, Permissions, ReadableWorkspace};
use crate::session_paths::SessionPaths;
use admission::{FileAdmission, FileLookup};
use layer::MergedSettings;
use settings_folders::{SettingsFile, SettingsFolders, SettingsOwner};

/// How long the user may be idle after work until hooks are told, unless it is set.
const IDLE_AFTER: Duration = Duration::from_secs(60);

/// All settings of a session.
#[derive(Debug, Clone, Default)]
pub struct ProjectSettings {
    /// The project's folder: the repository around the working folder, or else that folder itself.
    pub root: PathBuf,
    /// The user's home folder.
    pub user_home: Option<PathBuf>,
    /// The rules of all settings files together.
    pub rules: PermissionRules,
    /// Further folders that the user opened, absolute.
    pub additional_directories: Vec<PathBuf>,
    /// The mode to begin with.
    pub mode: ApprovalMode,
    /// Variables for commands and hooks; not for this process.
    pub env: BTreeMap<String, String>,
    /// Variables of this process that commands, hooks and servers get although they look like secrets.
    pub passed: PassedVariables,
    /// The model to use.
    pub model: Option<String>,
    /// How hard the model thinks in new sessions; `None` if it is not set.
    pub effort: Option<EffortSetting>,
    /// Whether to compact automatically; `None` if it is not set.
    pub auto_compact: Option<bool>,
    /// How long the user may be idle after work until hooks are told.
    pub idle_after: Duration,
    /// The output style.
    pub output_style: Option<OutputStyle>,
    /// The language to answer in.
    pub language: Option<String>,
    /// The hooks of the settings files that apply, the least specific file first.
    pub hooks: HookSettings,
    /// The file for rules that the user gives for the project.
    pub local_settings: PathBuf,
    /// Servers of the Model Context Protocol.
    pub mcp_servers: Vec<McpServer>,
    /// The skills, sorted by name.
    pub skills: Vec<SkillDefinition>,
    /// The user's own slash commands, sorted by name.
    pub commands: Vec<UserCommand>,
    /// Kinds of sub-agents, sorted by name, in addition to the built-in ones.
    pub agents: Vec<AgentKind>,
    /// Requirements of files that came with the project, each once. They need the user's trust.
    pub wants: Vec<TrustRequirement>,
    /// Requirements of `.claude/settings.local.json`, if git does not track it. They need the user's trust.
    pub local_wants: Vec<TrustRequirement>,
    /// Files outside of the project that its files lead to and that were not read.
    pub outside: Vec<OutsideFile>,
    /// Notices for people: each names a file, and what to do.
    pub notices: Vec<String>,
}

impl ProjectSettings {
    /// The permissions of a session in this folder under these settings.
    pub fn permissions(&self, place: &SessionPaths) -> Permissions {
        let mut workspace = ReadableWorkspace::new(place, self.user_home.clone());
        for folder in &self.additional_directories {
            workspace.add(folder);
        }
        Permissions::new(
            workspace,
            self.rules.clone(),
            self.mode,
            self.local_settings.clone(),
        )
    }

    /// Loads all settings of a session in this folder.
    pub fn load(env: &Env, cwd: &Path) -> Self {
        Self::load_with(env, cwd, &|name| std::env::var(name).ok())
    }

    /// Loads the settings with variables of the caller's choice, for `${VAR}` in the settings of servers.
    pub fn load_with(env: &Env, cwd: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        Self::load_as(env, cwd, &ProjectGrant::default(), variable)
    }

    /// Loads the settings of a project that may not be trusted: only what the user granted and the restrictions apply.
    pub(crate) fn load_as(
        env: &Env,
        cwd: &Path,
        granted: &ProjectGrant,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let places = SettingsFolders::new(env, cwd);
        let mut notices = Vec::new();
        let mut admission = FileAdmission::new(&places, granted);
        let mut merged = merge(&places, granted, &mut admission, &mut notices);
        admission.forbid(&merged.rules.deny);
        let lookup = |name: &str| merged.env.get(name).cloned().or_else(|| variable(name));
        let mcp_servers = mcp::load(&places, &merged, &lookup, &mut admission, &mut notices);
        let mut commands = commands::load(&places.command_folders(), &mut admission, &mut notices);
        let mut skills = skills::load(&places.skill_folders(), &mut admission, &mut notices);
        let mut wants = std::mem::take(&mut merged.wants);
        let with_rules = commands
            .iter_mut()
            .filter(|it| it.comes_with_project())
            .map(|it| (&it.name, &mut it.allowed_tools));
        let of_skills = skills
            .iter_mut()
            .filter(|it| it.comes_with_project())
            .map(|it| (&it.name, &mut it.allowed_tools));
        for (name, allowed_tools) in with_rules.chain(of_skills) {
            wants.extend(
                allowed_tools
                    .iter()
                    .map(|rule| TrustRequirement::CommandAllows {
                        command: name.clone(),
                        rule: rule.clone(),
                    }),
            );
            if granted.project == ProjectTrust::Untrusted {
                allowed_tools.clear();
            }
        }
        let mut local_wants = std::mem::take(&mut merged.local_wants);
        if mcp_servers
            .iter()
            .any(|server| server.origin == ServerOrigin::Project)
        {
            wants.push(TrustRequirement::Servers);
        }
        for wants in [&mut wants, &mut local_wants] {
            wants.sort();
            wants.dedup();
        }
        let agents = agents::load(&places.agent_folders(), &mut admission, &mut notices);
        let output_style = merged.output_style.as_deref().and_then(|name| {
            let folders = places.style_folders();
            output_styles::load(name, &folders, &mut admission, &mut notices)
        });
        Self {
            hooks: merged.hooks,
            wants,
            local_wants,
            outside: admission.outside,
            local_settings: places.local_settings(),
            root: places.root,
            user_home: places.user_home,
            rules: merged.rules,
            additional_directories: merged.additional_directories,
            mode: merged.mode.unwrap_or_default(),
            env: merged.env,
            passed: PassedVariables::listed(merged.passed),
            model: merged.model,
            effort: merged.effort,
            auto_compact: merged.auto_compact,
            idle_after: merged.idle_after.unwrap_or(IDLE_AFTER),
            output_style,
            language: merged.language,
            mcp_servers,
            skills,
            commands,
            agents,
            notices,
        }
    }

    /// The skill with this name.
    pub fn skill(&self, name: &str) -> Option<&SkillDefinition> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// The command with this name.
    pub fn command(&self, name: &str) -> Option<&UserCommand> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// The kind of agent with this name.
    pub fn agent(&self, name: &str) -> Option<&AgentKind> {
        self.agents.iter().find(|agent| agent.name == name)
    }
}

/// Merges the settings files, as far as they may be read.
fn merge(
    places: &SettingsFolders,
    granted: &ProjectGrant,
    admission: &mut FileAdmission,
    notices: &mut Vec<String>,
) -> MergedSettings {
    let mut merged = MergedSettings::default();
    for file in places.settings_files() {
        // A committed file came with the project, whatever its name is.
        let owner = match file.owner {
            SettingsOwner::Local if tracked::is_tracked(&file.path) => SettingsOwner::Project,
            owner => owner,
        };
        let trust = match owner {
            SettingsOwner::User => ProjectTrust::Trusted,
            SettingsOwner::Project => granted.project,
            SettingsOwner::Local => granted.local,
        };
        let file = SettingsFile { owner, ..file };
        match admission.find(&file.path, owner) {
            FileLookup::At(real) => merged.add(&file, &real, places, trust, notices),
            FileLookup::Nothing => {}
            FileLookup::Outside => {
                merged.left_out();
                notices.push(format!(
                    "{} leads out of the project and was not read, because nobody has agreed to it: NONE OF ITS RULES APPLY, not even those that forbid",
                    file.path.display()
                ));
            }
        }
    }
    merged.restrain(notices);
    merged
}
