//! Asks the user for what a project requires, and remembers the answers: the effects of its settings, its servers, and
//! files outside of it that its files import. What was agreed to before is not asked for again, unless it has changed
//! since.

use std::path::{Path, PathBuf};

use longhaul::{ReadPolicy, memory_files};
use longhaul_core::prompt::memory::MemoryFileNotice;
use longhaul_store::Env;

use super::trust::{ConsentStore, ServerTrust};
use super::{Consent, SessionOverrides};
use crate::permission::forbids_reading;
use crate::settings::{
    McpServer, OutsideFile, ProjectGrant, ProjectSettings, ProjectTrust, ServerOrigin,
    TrustRequirement,
};
use crate::tools::mcp::McpServerConfig;

/// How many levels of imports from approved files are followed.
const ROUNDS: usize = 6;

/// Where the answers come from and go to.
pub(super) struct ConsentContext<'a, 'c> {
    pub(super) env: &'a Env,
    pub(super) cwd: &'a Path,
    pub(super) wishes: &'a SessionOverrides,
    pub(super) ledger: &'a mut ConsentStore,
    pub(super) consent: Option<&'c mut (dyn Consent + Send)>,
    pub(super) notices: Vec<String>,
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl ConsentContext<'_, '_> {
    /// Loads a project as far as the user allows.
    pub(super) fn project(&mut self) -> (ProjectSettings, ProjectGrant) {
        let mut granted = ProjectGrant {
            deny: self.wishes.deny.clone(),
            ..ProjectGrant::default()
        };
        let mut project = self.load(&granted);
        granted.outside = self.ledger.outside(&project.root);
        granted.outside.extend(self.wishes.further.iter().cloned());
        for _ in 0..ROUNDS {
            project = self.load(&granted);
            let outside = self.outside(&project, &granted);
            if outside.is_empty() || !self.opens(&project, &outside, &mut granted) {
                break;
            }
        }
        self.trust(&project, &mut granted);
        if granted.project == ProjectTrust::Untrusted || granted.local == ProjectTrust::Untrusted {
            project = self.load(&granted);
        }
        (project, granted)
    }

    fn load(&self, granted: &ProjectGrant) -> ProjectSettings {
        ProjectSettings::load_as(self.env, self.cwd, granted, self.variable)
    }

    /// All files outside of the project that its files lead to and that nobody has agreed to.
    fn outside(&self, project: &ProjectSettings, granted: &ProjectGrant) -> Vec<OutsideFile> {
        let mut outside = project.outside.clone();
        let deny = project.rules.deny.clone();
        let agreed = granted.outside.clone();
        let policy = ReadPolicy::default()
            .denying(move |path| forbids_reading(&deny, path))
            .agreeing(move |real| is_agreed(&agreed, real));
        let places = memory_files::places(self.env, self.cwd);
        for notice in memory_files::load_with(&places, &policy).notices {
            if let MemoryFileNotice::NotAgreed {
                path,
                real,
                imported_by,
            } = notice
            {
                outside.push(OutsideFile {
                    path,
                    real,
                    imported_by,
                });
            }
        }
        outside
    }

    /// Whether the user agrees that the project's files lead to these files.
    fn opens(
        &mut self,
        project: &ProjectSettings,
        outside: &[OutsideFile],
        granted: &mut ProjectGrant,
    ) -> bool {
        let agreed = (self.consent.as_mut()).is_some_and(|it| it.reads(&project.root, outside));
        let real = || outside.iter().map(|file| file.real.clone());
        if agreed {
            granted.outside.extend(real());
            let kept = self.ledger.open(&project.root, real());
            self.told_if_lost(kept);
            return true;
        }
        let names: Vec<String> = real().map(|path| path.display().to_string()).collect();
        self.notices.push(format!(
            "Files of this project lead to these files outside of it, which are not read, because nobody has agreed to that: {}. Start `longhaul chat` in a terminal to be asked, or open their folder with --add-dir",
            names.join(", ")
        ));
        false
    }

    /// Decides how much of the project's own settings applies.
    fn trust(&mut self, project: &ProjectSettings, granted: &mut ProjectGrant) {
        if self.wishes.trust {
            return;
        }
        let root = &project.root;
        let is_new = |want: &&TrustRequirement| !self.ledger.agrees(root, want);
        let of_project: Vec<TrustRequirement> =
            project.wants.iter().filter(is_new).cloned().collect();
        let of_local: Vec<TrustRequirement> =
            project.local_wants.iter().filter(is_new).cloned().collect();
        let mut new = of_project.clone();
        new.extend(of_local.iter().cloned());
        new.sort();
        new.dedup();
        if new.is_empty() {
            return;
        }
        if (self.consent.as_mut()).is_some_and(|consent| consent.trusts(root, &new)) {
            let kept = self.ledger.agree(root, &new);
            self.told_if_lost(kept);
            return;
        }
        let or_all = |new: &[TrustRequirement]| {
            if new.is_empty() {
                ProjectTrust::Trusted
            } else {
                ProjectTrust::Untrusted
            }
        };
        granted.project = or_all(&of_project);
        granted.local = or_all(&of_local);
        let mut kinds: Vec<&str> = new.iter().map(TrustRequirement::kind).collect();
        kinds.dedup();
        self.notices.push(format!(
            "{} is not trusted, so these of its settings do not apply: {}. What it forbids still applies. --trust applies all of them",
            root.display(),
            kinds.join("; ")
        ));
    }

    /// The servers to start.
    pub(super) fn servers(
        &mut self,
        project: &ProjectSettings,
        trust: ProjectTrust,
    ) -> Vec<McpServerConfig> {
        let mut wanted = Vec::new();
        for server in &project.mcp_servers {
            let starts = match (server.origin, trust) {
                (ServerOrigin::User, _) | (ServerOrigin::Local, ProjectTrust::Trusted) => true,
                (_, ProjectTrust::Untrusted) => continue,
                (ServerOrigin::Project, ProjectTrust::Trusted) => {
                    self.starts(&project.root, server)
                }
            };
            if starts {
                wanted.push(McpServerConfig {
                    name: server.name.clone(),
                    command: server.command.clone(),
                    args: server.args.clone(),
                    env: server.env.clone().into_iter().collect(),
                    cwd: server.cwd.clone(),
                    passed: project.passed.clone(),
                });
            }
        }
        wanted
    }

    fn starts(&mut self, root: &Path, server: &McpServer) -> bool {
        match (self.ledger.known(root, server), server.approved) {
            (ServerTrust::Starts, _) | (ServerTrust::StaysOff, true) => return true,
            (ServerTrust::StaysOff, false) => return false,
            // The user named the server without saying what it must look like: from now on, it is this one.
            (ServerTrust::Never, true) => {
                let kept = self.ledger.answer(root, server, true);
                self.told_if_lost(kept);
                return true;
            }
            (ServerTrust::Changed, _) | (ServerTrust::Never, false) => {}
        }
        let Some(consent) = self.consent.as_mut() else {
            self.notices.push(format!(
                "The project's MCP server `{}` is not started: nobody has agreed to it as it is now. Start `longhaul chat` in a terminal once",
                server.name
            ));
            return false;
        };
        let starts = consent.starts(server);
        let kept = self.ledger.answer(root, server, starts);
        self.told_if_lost(kept);
        starts
    }

    fn told_if_lost(&mut self, kept: std::io::Result<()>) {
        if let Err(error) = kept {
            self.notices.push(format!(
                "The answer applies to this session only, because it could not be saved: {error}"
            ));
        }
    }
}

/// Whether a path is one of these, or lies inside one of them.
pub(super) fn is_agreed(agreed: &[PathBuf], real: &Path) -> bool {
    agreed.iter().any(|agreed| real.starts_with(agreed))
}
