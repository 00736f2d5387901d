//! The place where an agent works, put together from what the user and the project have set: permissions, tools, servers,
//! skills, hooks. An [`AgentBuilder`] is equipped with it.
//!
//! `gate.rs` lets permissions answer the loop, `outfit.rs` makes the tools of a conversation, `refill.rs` finds in a
//! conversation what they held before, `trust.rs` knows which projects the user trusts.

mod bell;
mod gate;
mod outfit;
mod refill;
mod trust;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use longhaul::hooks::{CommandHooks, HookSet, HookSettings, Listed};
use longhaul_core::config::Config;
use longhaul_provider::Proxy;
use longhaul_store::{Env, Home};

use crate::agent::AgentBuilder;
use crate::event::Mode;
use crate::permission::{Permissions, RuleError};
use crate::place::Place;
use crate::settings::{McpServer, Origin, Project, Trust, Want};
use crate::tools::mcp::{Limits, ServerConfig, Servers};
use crate::tools::skill::{By, Skill};
use crate::tools::web_fetch;
use bell::Bell;
use gate::ProjectGate;
use outfit::Fitter;
use trust::Ledger;

/// What the user wants of a session, beside what is set.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// The mode; none: the one that is set.
    pub mode: Option<Mode>,
    /// Rules that allow, as settings write them.
    pub allow: Vec<String>,
    /// Rules that forbid.
    pub deny: Vec<String>,
    /// Further folders, absolute, links resolved.
    pub further: Vec<PathBuf>,
    /// Trust the project without a question.
    pub trust: bool,
    /// The way out for pages that are fetched.
    pub proxy: Option<Proxy>,
}

/// Who is asked before a project's own programs run.
pub trait Consent {
    /// Whether a project is trusted that wants this.
    fn trusts(&mut self, project: &Path, wants: &[Want]) -> bool;

    /// Whether a project's server may be started.
    fn starts(&mut self, server: &McpServer) -> bool;
}

/// Why there is no place to work.
#[derive(Debug, thiserror::Error)]
pub enum WorkplaceError {
    /// A rule that was given is none.
    #[error("{rule:?} is no rule: {source}")]
    Rule {
        /// As it was given.
        rule: String,
        /// Why.
        source: RuleError,
    },
}

/// The place where an agent works.
pub struct Workplace {
    /// All that is set.
    pub project: Project,
    /// What people should know before the work begins.
    pub notices: Vec<String>,
    fitter: Arc<Fitter>,
    gate: Arc<ProjectGate>,
    hooks: HookSettings,
    further: Vec<PathBuf>,
}

impl Workplace {
    /// Reads what is set for a folder and starts its servers. Nobody to ask: what needs a yes is left out, and said.
    pub async fn open(
        env: &Env,
        cwd: &Path,
        wishes: Wishes,
        mut consent: Option<&mut (dyn Consent + Send)>,
    ) -> Result<Self, WorkplaceError> {
        let home = Home::longhaul(env).ok();
        let mut ledger = Ledger::load(home.as_ref().map(Home::root));
        let mut notices = Vec::new();
        let variable = |name: &str| std::env::var(name).ok();
        let mut project = Project::load_as(env, cwd, Trust::Trusted, &variable);
        let trust = trust(&project, &wishes, &mut ledger, &mut consent, &mut notices);
        if trust == Trust::Untrusted {
            project = Project::load_as(env, cwd, trust, &variable);
        }
        notices.append(&mut project.notices);
        let wanted = servers(&project, trust, &mut ledger, &mut consent, &mut notices);
        let hooks = HookSettings::load(&project.settings_files);
        notices.extend(hooks.notices.iter().map(ToString::to_string));
        let mut further = wishes.further;
        let opened = project.additional_directories.iter();
        further.extend(opened.filter_map(|folder| std::fs::canonicalize(folder).ok()));
        let place = Place {
            cwd: cwd.to_owned(),
            more: further.clone(),
            // Servers serve all sessions of the folder; their logs and long outputs lie beside them.
            transcript: match &home {
                Some(home) => home.project_folder(cwd).join("servers.jsonl"),
                None => cwd.join("servers.jsonl"),
            },
        };
        let permissions = Permissions::of(&project, &place);
        for rule in wishes.allow {
            let allowed = permissions.allow_for_session(&rule);
            allowed.map_err(|source| WorkplaceError::Rule { rule, source })?;
        }
        for rule in wishes.deny {
            let denied = permissions.deny_for_session(&rule);
            denied.map_err(|source| WorkplaceError::Rule { rule, source })?;
        }
        if let Some(mode) = wishes.mode {
            permissions.set_mode(mode);
        }
        let permissions = Arc::new(permissions);
        let bell = Arc::new(Bell::default());
        let servers = match wanted.is_empty() {
            true => None,
            false => {
                permissions.show(&place.session_folder());
                let rings = bell.clone();
                let limits = Limits::from_env(variable);
                let heard = Arc::new(move |sentence| rings.notice(sentence));
                Some(Arc::new(
                    Servers::start(wanted, &place, limits, heard).await,
                ))
            }
        };
        let fitter = Fitter {
            permissions: permissions.clone(),
            home,
            skills: project.skills.iter().map(skill).collect(),
            web: web_fetch::Options {
                proxy: wishes.proxy,
                ..web_fetch::Options::default()
            },
            servers,
            variables: project.env.clone(),
            bell,
            main: Mutex::default(),
        };
        Ok(Self {
            gate: Arc::new(ProjectGate {
                permissions,
                root: project.root.clone(),
                trust,
                ledger: Mutex::new(ledger),
            }),
            fitter: Arc::new(fitter),
            project,
            notices,
            hooks,
            further,
        })
    }

    /// An agent that works here.
    #[must_use]
    pub fn equip(&self, builder: AgentBuilder) -> AgentBuilder {
        let fitter = self.fitter.clone();
        let mut commands = CommandHooks::new(self.hooks.clone(), &self.project.root);
        for (name, value) in &self.project.env {
            commands = commands.with_env(name, value);
        }
        builder
            .language(self.project.language.clone())
            .output_style(self.project.output_style.clone())
            .further(self.further.clone())
            .kinds(self.project.agents.clone())
            .hooks(HookSet::new().with_commands(commands))
            .shared_gate(self.gate.clone())
            .outfit(Arc::new(move |place, seat, tell| {
                fitter.equip(place, seat, tell)
            }))
    }

    /// Settings of the project that are settings of Longhaul's, too. What the user set for Longhaul itself wins.
    pub fn adjust(&self, config: &mut Config) {
        if self.project.auto_compact == Some(false) {
            config.switches.auto_compact_enabled = false;
        }
    }

    /// What may run unasked.
    pub fn mode(&self) -> Mode {
        self.gate.permissions.mode()
    }

    /// The hooks that run.
    pub fn hooks(&self) -> Vec<Listed> {
        self.hooks.listed()
    }

    /// What the user can type as `/name`, and what it does: own commands, then skills.
    pub fn commands(&self) -> Vec<(String, String)> {
        let commands = self.project.commands.iter();
        let commands = commands.map(|it| (it.name.clone(), it.description.clone()));
        let mut all: Vec<(String, String)> = commands.collect();
        let skills = self.project.skills.iter().filter(|it| it.user_may_invoke);
        for skill in skills {
            if !all.iter().any(|(name, _)| *name == skill.name) {
                all.push((skill.name.clone(), skill.description.clone()));
            }
        }
        all
    }

    /// The prompt that a command stands for. An error says why there is none.
    pub async fn command(&self, name: &str, arguments: &str) -> Result<String, String> {
        match self.project.command(name) {
            Some(command) => command.invoke(arguments),
            None => {
                let invoked = self.fitter.invoke(name, arguments).await;
                invoked.map_err(|error| error.to_string())
            }
        }
    }
}

/// Whether what came with the project counts.
fn trust(
    project: &Project,
    wishes: &Wishes,
    ledger: &mut Ledger,
    consent: &mut Option<&mut (dyn Consent + Send)>,
    notices: &mut Vec<String>,
) -> Trust {
    if project.wants.is_empty() || wishes.trust || ledger.trusts(&project.root) {
        return Trust::Trusted;
    }
    let agreed = consent
        .as_mut()
        .is_some_and(|consent| consent.trusts(&project.root, &project.wants));
    if agreed {
        if let Err(error) = ledger.trust(&project.root) {
            notices.push(format!(
                "That this project is trusted could not be kept: {error}"
            ));
        }
        return Trust::Trusted;
    }
    let wants: Vec<&str> = project.wants.iter().map(|want| want.words()).collect();
    notices.push(format!(
        "{} is not trusted, so these of its settings do not count: {}. What it forbids does. --trust lets all count",
        project.root.display(),
        wants.join("; ")
    ));
    Trust::Untrusted
}

/// The servers to start.
fn servers(
    project: &Project,
    trust: Trust,
    ledger: &mut Ledger,
    consent: &mut Option<&mut (dyn Consent + Send)>,
    notices: &mut Vec<String>,
) -> Vec<ServerConfig> {
    let mut wanted = Vec::new();
    for server in &project.mcp_servers {
        let starts = match (server.origin, server.approved, trust) {
            (Origin::User, ..) | (Origin::Local, _, Trust::Trusted) => true,
            (_, _, Trust::Untrusted) => continue,
            (Origin::Project, true, Trust::Trusted) => true,
            (Origin::Project, false, Trust::Trusted) => {
                let known = ledger.starts(&project.root, server);
                match (known, consent.as_mut()) {
                    (Some(starts), _) => starts,
                    (None, Some(consent)) => {
                        let starts = consent.starts(server);
                        if let Err(error) = ledger.answer(&project.root, server, starts) {
                            notices.push(format!("The answer could not be kept: {error}"));
                        }
                        starts
                    }
                    (None, None) => {
                        notices.push(format!(
                            "The project's MCP server `{}` is not started: nobody has agreed to it. Start `longhaul chat` in a terminal once, or name it under enabledMcpjsonServers in .claude/settings.local.json",
                            server.name
                        ));
                        false
                    }
                }
            }
        };
        if starts {
            wanted.push(ServerConfig {
                name: server.name.clone(),
                command: server.command.clone(),
                args: server.args.clone(),
                env: server.env.clone().into_iter().collect(),
                cwd: server.cwd.clone(),
            });
        }
    }
    wanted
}

fn skill(skill: &crate::settings::Skill) -> Skill {
    Skill {
        name: skill.name.clone(),
        description: skill.description.clone(),
        folder: skill.folder().to_owned(),
        file: skill.path.clone(),
        by: match skill.model_may_invoke {
            true => By::Model,
            false => By::User,
        },
    }
}
