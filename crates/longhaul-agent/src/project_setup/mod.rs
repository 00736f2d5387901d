//! The setup of a project, assembled from the settings of the user and the project: permissions, tools, servers,
//! skills, hooks. It provides an [`AgentBuilder`] with all of them.
//!
//! `tool_provisioner.rs` makes the tools of a conversation,
//! `restore_tools.rs` restores their state from a conversation, `consent.rs` asks the user for what a project requires,
//! `trust.rs` stores the answers, `agreed_rules.rs` those that are given during the work, `mentions.rs` attaches the files that prompts mention.

mod agreed_rules;
mod attached_beginning;
mod consent;
mod invoked_command;
mod mentions;
mod notifications;
mod restore_tools;
mod tool_provisioner;
mod trust;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use longhaul::ReadPolicy;
use longhaul::hooks::{CommandHooks, HookSet, ListedHook};
use longhaul_core::config::Config;
use longhaul_provider::Proxy;
use longhaul_store::{Env, Home};

use crate::agent::{AgentBuilder, UserPrompt};
use crate::event::ApprovalMode;
use crate::own_command::OwnCommand;
use crate::permission::{CurrentRules, PermissionRuleError, Permissions};
use crate::picture::Picture;
use crate::session_paths::SessionPaths;
use crate::settings::{McpServer, OutsideFile, ProjectSettings, TrustRequirement, servers_of_file};
use crate::tools::mcp::{McpLimits, McpNews, McpPromptText, McpServerStatus, McpServers};
use crate::tools::skill::{Skill, SkillInvoker};
use crate::tools::web_fetch;
use agreed_rules::AgreedRules;
use consent::{ConsentContext, is_agreed};
pub use invoked_command::InvokedCommand;
use notifications::Notifications;
use tool_provisioner::ToolProvisioner;
use trust::ConsentStore;

/// What the user wants for a session, in addition to the settings.
#[derive(Debug, Clone, Default)]
pub struct SessionOverrides {
    /// The mode; if none, the one from the settings.
    pub mode: Option<ApprovalMode>,
    /// Rules that allow calls, in the syntax of settings.
    pub allow: Vec<String>,
    /// Rules that forbid calls, in the syntax of settings.
    pub deny: Vec<String>,
    /// Further folders, absolute, links resolved.
    pub further: Vec<PathBuf>,
    /// Whether the project is trusted without asking.
    pub trust: bool,
    /// The proxy through which pages are fetched.
    pub proxy: Option<Proxy>,
    /// Files with further MCP servers of the user.
    pub server_files: Vec<PathBuf>,
}

/// Asks the user before a project's own programs run.
pub trait Consent {
    /// Whether a project is trusted whose settings require this. Only what nobody has agreed to yet is listed.
    fn trusts(&mut self, project: &Path, wants: &[TrustRequirement]) -> bool;

    /// Whether files of a project may lead to these files outside of it, so that they are sent to the model.
    fn reads(&mut self, project: &Path, files: &[OutsideFile]) -> bool;

    /// Whether a project's server may be started.
    fn starts(&mut self, server: &McpServer) -> bool;
}

/// Why the project could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ProjectSetupError {
    /// A given rule is not valid.
    #[error("{rule:?} is not a valid rule: {source}")]
    Rule {
        /// The rule as it was given.
        rule: String,
        /// Why it is not valid.
        source: PermissionRuleError,
    },
}

/// The setup of the project that an agent works in.
pub struct ProjectSetup {
    /// All settings of the project.
    pub project: ProjectSettings,
    /// What people should know before the work begins.
    pub notices: Vec<String>,
    tool_provisioner: Arc<ToolProvisioner>,
    permissions: Arc<Permissions>,
    reads: ReadPolicy,
    further: Vec<PathBuf>,
}

impl ProjectSetup {
    /// Loads the settings of a folder and begins to start its servers; nothing waits for them. If there is nobody to ask, whatever needs consent is left
    /// out, with a notice.
    pub async fn open(
        env: &Env,
        cwd: &Path,
        wishes: SessionOverrides,
        consent: Option<&mut (dyn Consent + Send)>,
    ) -> Result<Self, ProjectSetupError> {
        let home = Home::longhaul(env).ok();
        let mut ledger = ConsentStore::load(home.as_ref().map(Home::root));
        let variable = |name: &str| std::env::var(name).ok();
        let mut asking = ConsentContext {
            env,
            cwd,
            wishes: &wishes,
            ledger: &mut ledger,
            consent,
            notices: Vec::new(),
            variable: &variable,
        };
        let (mut project, granted) = asking.project();
        asking.notices.append(&mut project.notices);
        for path in &asking.wishes.server_files {
            let added = servers_of_file(path, &variable, &mut asking.notices);
            let is_replaced = |name: &str| added.iter().any(|server| server.name == name);
            project
                .mcp_servers
                .retain(|server| !is_replaced(&server.name));
            project.mcp_servers.extend(added);
        }
        let wanted = asking.servers(&project, granted.project);
        let mut notices = asking.notices;
        notices.extend(project.hooks.notices.iter().map(ToString::to_string));
        let mut further = wishes.further;
        let opened = project.additional_directories.iter();
        further.extend(opened.filter_map(|folder| longhaul_store::real_path(folder).ok()));
        let place = SessionPaths {
            cwd: cwd.to_owned(),
            more: further.clone(),
            // Servers are shared by all sessions of the folder; their logs and long outputs are stored next to the
            // sessions.
            transcript: match &home {
                Some(home) => home.project_folder(cwd).join("servers.jsonl"),
                None => cwd.join("servers.jsonl"),
            },
        };
        let permissions = project.permissions(&place).with_keeper(AgreedRules {
            root: project.root.clone(),
            answers: Mutex::new(ledger),
        });
        for rule in wishes.allow {
            let allowed = permissions.allow_for_session(&rule);
            allowed.map_err(|source| ProjectSetupError::Rule { rule, source })?;
        }
        for rule in wishes.deny {
            let denied = permissions.deny_for_session(&rule);
            denied.map_err(|source| ProjectSetupError::Rule { rule, source })?;
        }
        if let Some(mode) = wishes.mode {
            permissions.set_mode(mode);
        }
        let permissions = Arc::new(permissions);
        let judges = permissions.clone();
        let reads = ReadPolicy::default()
            .denying(move |path| judges.denies_reading(path))
            .agreeing(move |real| is_agreed(&granted.outside, real));
        let bell = Arc::new(Notifications::default());
        let servers = if wanted.is_empty() {
            None
        } else {
            permissions.show(&place.session_folder());
            let rings = bell.clone();
            let limits = McpLimits::from_env(variable);
            let changes = bell.clone();
            let news = McpNews {
                notice: Arc::new(move |sentence| rings.notice(sentence)),
                changed: Arc::new(move || changes.offer_changed()),
            };
            Some(Arc::new(McpServers::start(wanted, &place, limits, &news)))
        };
        let fitter = ToolProvisioner {
            permissions: permissions.clone(),
            home,
            skills: project.skills.iter().map(skill).collect(),
            web: web_fetch::WebFetchOptions {
                proxy: wishes.proxy,
                ..web_fetch::WebFetchOptions::default()
            },
            servers,
            variables: project.env.clone(),
            passed: project.passed.clone(),
            notifications: bell,
            main: Mutex::default(),
        };
        Ok(Self {
            permissions,
            tool_provisioner: Arc::new(fitter),
            project,
            notices,
            reads,
            further,
        })
    }

    /// Provides an agent with this setup.
    #[must_use]
    pub fn equip(&self, builder: AgentBuilder) -> AgentBuilder {
        let fitter = self.tool_provisioner.clone();
        let presence = builder.presence();
        let mut commands = CommandHooks::new(self.project.hooks.clone(), &self.project.root)
            .passing(self.project.passed.clone());
        for (name, value) in &self.project.env {
            commands = commands.with_env(name, value);
        }
        builder
            .effort(self.project.effort.unwrap_or_default())
            .language(self.project.language.clone())
            .output_style(self.project.output_style.clone())
            .further(self.further.clone())
            .read_policy(self.reads.clone())
            .kinds(self.project.agents.clone())
            .session(|session| session.hooks(HookSet::new().with_commands(commands)))
            .shared_gate(self.permissions.clone())
            .outfit(Arc::new(move |place, seat, tell| {
                fitter.equip(place, seat, presence, tell)
            }))
    }

    /// Applies project settings that are also settings of Longhaul. What the user set for Longhaul itself wins.
    pub fn adjust(&self, config: &mut Config) {
        if self.project.auto_compact == Some(false) {
            config.switches.auto_compact_enabled = false;
        }
    }

    /// Which calls may run without asking.
    pub fn mode(&self) -> ApprovalMode {
        self.permissions.mode()
    }

    /// The rules about what may run that hold now.
    pub(crate) fn current_rules(&self) -> CurrentRules {
        self.permissions.current()
    }

    /// The MCP servers that were to be started, and what has become of them.
    pub fn servers(&self) -> Vec<(String, McpServerStatus)> {
        let servers = self.tool_provisioner.servers.as_ref();
        servers.map_or_else(Vec::new, |servers| servers.statuses())
    }

    /// What prompts can mention of servers, as `server:uri`, and what it is.
    pub fn resources(&self) -> Vec<(String, String)> {
        let servers = self.tool_provisioner.servers.iter();
        let resources = servers.flat_map(|servers| servers.resources());
        resources.map(|it| (it.mention, it.name)).collect()
    }

    /// Counts a picture of the user in the main conversation, if requests with it will be accepted.
    pub(crate) fn admits_picture(&self, picture: &Picture) -> bool {
        self.tool_provisioner.admits_picture(picture.longer_side())
    }

    /// The hooks that run.
    pub fn hooks(&self) -> Vec<ListedHook> {
        self.project.hooks.listed()
    }

    /// What the user can type as `/name`, and its description: the user's commands, then skills, then the prompts of
    /// servers.
    pub fn commands(&self) -> Vec<(String, String)> {
        let commands = self.project.commands.iter();
        let commands = commands.map(|it| {
            let about = match &it.argument_hint {
                Some(hint) => format!("{hint} · {}", it.description),
                None => it.description.clone(),
            };
            (it.name.clone(), about)
        });
        let mut all: Vec<(String, String)> = commands.collect();
        let skills = self.project.skills.iter().filter(|it| it.user_may_invoke);
        let skills = skills.map(|it| (it.name.clone(), it.description.clone()));
        let servers = self.tool_provisioner.servers.iter();
        let prompts = servers.flat_map(|servers| servers.prompts());
        let prompts = prompts.map(|prompt| {
            let about = format!("{} {}", prompt.usage(), prompt.description);
            (prompt.command, about.trim_start().to_owned())
        });
        for (name, about) in skills.chain(prompts) {
            if !all.iter().any(|(taken, _)| *taken == name) {
                all.push((name, about));
            }
        }
        all
    }

    /// The command, the skill or the server's prompt with this name. An error says why there is none.
    pub async fn command(&self, name: &str, arguments: &str) -> Result<InvokedCommand, String> {
        let typed = format!("/{name} {arguments}").trim_end().to_owned();
        if let Some(command) = self.project.command(name) {
            let command = command.invoke(arguments)?;
            return Ok(InvokedCommand::Own(OwnCommand { typed, ..command }));
        }
        if let Some(servers) = &self.tool_provisioner.servers
            && let Some(asked) = servers.prompt(name, arguments).await
        {
            let McpPromptText { text, pictures } = asked?;
            return Ok(InvokedCommand::Prompt(UserPrompt {
                // What the user said is what they typed; the rest is the server's.
                text: typed,
                blocks: pictures,
                notes: vec![text],
                ..UserPrompt::default()
            }));
        }
        let invoked = self.tool_provisioner.invoke(name, arguments).await;
        let skill = invoked.map_err(|error| error.to_string())?;
        Ok(InvokedCommand::Own(OwnCommand { typed, ..skill }))
    }
}

fn skill(skill: &crate::settings::SkillDefinition) -> Skill {
    Skill {
        name: skill.name.clone(),
        description: skill.description.clone(),
        folder: skill.folder().to_owned(),
        file: skill.path.clone(),
        real: skill.real.clone(),
        by: if skill.model_may_invoke {
            SkillInvoker::Model
        } else {
            SkillInvoker::User
        },
        allowed_tools: skill.allowed_tools.clone(),
    }
}
