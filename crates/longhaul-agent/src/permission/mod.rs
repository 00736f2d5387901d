//! Which calls may run: rules in Claude Code's syntax, modes, and what is sensible without either.
//!
//! A call is judged by what its tool says it touches ([`Access`]) and by its name. Rules that forbid win over rules that say
//! to ask, and these over rules that allow. How commands are read is in `shell`, what users should know in docs/permissions.md.
//! Asking the user and running the call are the loop's.

mod approvals;
mod command;
mod denied;
mod folders;
mod git_contents;
mod paths;
mod read_only;
mod recursion;
mod remember;
mod rule;
mod shell;
mod state;
mod suggest;
mod text_pattern;
mod wildcard;
mod workspace;

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::Value;

pub use remember::RememberError;
pub use rule::{PermissionRule, PermissionRuleError, RulePathBases};
pub use workspace::ReadableWorkspace;

use crate::event::ApprovalMode;
use crate::session_paths::SessionPaths;
use crate::tool::{CallGuard, ToolAccess};
use paths::LocatedPath;
use state::PermissionState;

const PLAN_MODE: &str = include_str!("plan_mode.md");
const NOBODY_TO_ASK: &str = include_str!("nobody_to_ask.md");

/// What a call may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionDecision {
    /// It may run.
    Allow,
    /// The user decides.
    Ask {
        /// Why, in a sentence for people.
        reason: String,
        /// A rule that would allow calls like this.
        rule: Option<String>,
    },
    /// It may not run.
    Deny {
        /// Why, in a sentence for the model.
        reason: String,
    },
}

/// Rules that were read, by what they say.
#[derive(Debug, Clone, Default)]
pub struct PermissionRules {
    /// May run.
    pub allow: Vec<PermissionRule>,
    /// Ask each time.
    pub ask: Vec<PermissionRule>,
    /// May not run.
    pub deny: Vec<PermissionRule>,
}

/// The permissions of a session. Loop, screen and sub-agents share one, behind an `Arc`: what one changes holds for all.
#[derive(Debug)]
pub struct Permissions {
    state: RwLock<PermissionState>,
    local_settings: PathBuf,
}

impl Permissions {
    /// The permissions of a session. [`Permissions::allow_in_project`] writes to `local_settings`.
    pub fn new(
        workspace: ReadableWorkspace,
        rules: PermissionRules,
        mode: ApprovalMode,
        local_settings: PathBuf,
    ) -> Self {
        Self {
            state: RwLock::new(PermissionState {
                workspace,
                mode,
                deny: rules.deny,
                ask: rules.ask,
                allowed_by_settings: rules.allow,
                allowed_in_session: Vec::new(),
                approved: Vec::new(),
                plan_file: None,
                scratchpad: None,
            }),
            local_settings,
        }
    }

    /// Judges a call.
    pub fn judge(&self, tool: &str, input: &Value, access: &ToolAccess) -> PermissionDecision {
        let state = self.read();
        match state.judge(tool, input, access) {
            PermissionDecision::Ask { reason, .. } if state.mode == ApprovalMode::DontAsk => {
                PermissionDecision::Deny {
                    reason: format!("{} ({reason})", NOBODY_TO_ASK.trim_end()),
                }
            }
            judgement => judgement,
        }
    }

    /// From what a call that runs unasked is guarded.
    pub(crate) fn guard(&self, access: &ToolAccess) -> CallGuard {
        let state = self.read();
        let ToolAccess::Runs { command, folder } = access else {
            return CallGuard::Nothing;
        };
        let folder = state.workspace.cwd.join(folder);
        if command::looks_with_git(command, &folder, &state) {
            CallGuard::Git
        } else {
            CallGuard::Nothing
        }
    }

    /// Whether a rule forbids to read this file: for tools that meet files on their way, as searches do.
    pub fn denies_reading(&self, path: &Path) -> bool {
        let state = self.read();
        let path = LocatedPath::find(&state.workspace.cwd.join(path));
        state.denies_path("Read", &path).is_some()
    }

    /// What may run unasked.
    pub fn mode(&self) -> ApprovalMode {
        self.read().mode
    }

    /// Changes it, for all who share this.
    pub fn set_mode(&self, mode: ApprovalMode) {
        self.write().mode = mode;
    }

    /// The file that may be written in plan mode.
    pub fn set_plan_file(&self, path: Option<PathBuf>) {
        self.write().plan_file = path.map(|path| LocatedPath::find(&path).real);
    }

    /// The session's folder for temporary files: what is below it may be read and written unasked, but in plan mode.
    pub(crate) fn set_scratchpad(&self, folder: Option<PathBuf>) {
        self.write().scratchpad = folder.map(|folder| LocatedPath::find(&folder).real);
    }

    /// The session is kept here from now on: its own files may be read unasked.
    pub(crate) fn keep_in(&self, place: &SessionPaths) {
        self.write().workspace.keep_in(place);
    }

    /// Lets what is below this be read unasked, as the session's own files.
    pub(crate) fn show(&self, folder: &Path) {
        self.write().workspace.show(folder);
    }

    /// Forbids by a rule for as long as the session lasts.
    pub(crate) fn deny_for_session(&self, rule: &str) -> Result<(), PermissionRuleError> {
        let mut state = self.write();
        let rule = state.parse(rule)?;
        state.deny.push(rule);
        Ok(())
    }

    /// Opens a further folder to the agent.
    pub fn add_folder(&self, folder: &Path) {
        self.write().workspace.add(folder);
    }

    /// Allows by a rule for as long as the session lasts.
    pub fn allow_for_session(&self, rule: &str) -> Result<(), PermissionRuleError> {
        let mut state = self.write();
        let rule = state.parse(rule)?;
        state.allowed_in_session.push(rule);
        Ok(())
    }

    /// Allows by a rule from now on: it holds at once and is written to the project's local settings. Nothing holds if it
    /// cannot be written.
    pub fn allow_in_project(&self, rule: &str) -> Result<(), RememberError> {
        let parsed = self.read().parse(rule)?;
        remember::append(&self.local_settings, parsed.text())?;
        self.write().allowed_in_session.push(parsed);
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, PermissionState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, PermissionState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether one of these rules forbids reading a file.
pub(crate) fn forbids_reading(rules: &[PermissionRule], path: &Path) -> bool {
    state::forbids_reading(rules, &LocatedPath::find(path))
}

fn not_in_plan_mode() -> PermissionDecision {
    PermissionDecision::Deny {
        reason: PLAN_MODE.trim_end().to_owned(),
    }
}
