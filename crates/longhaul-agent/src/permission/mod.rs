//! Which calls may run: rules in Claude Code's syntax, modes, and sensible defaults without either.
//!
//! A call is decided by what its tool says it touches ([`ToolAccess`](crate::tool::ToolAccess)) and by its name. Rules
//! that forbid win over rules that ask, and these over rules that allow. This file holds the permissions of a session
//! and changes them; `state.rs` is what holds at a moment, `judge.rs` decides by that, about commands with
//! `command.rs`, and `shell` parses these. docs/permissions.md is for users. The loop asks the user and runs the call.

mod approvals;
mod command;
mod decision;
mod denied;
mod folders;
mod gate;
mod git_contents;
mod judge;
mod path_pattern;
mod paths;
mod read_only;
mod recursion;
mod remember;
mod rule;
mod shell;
mod spelling;
mod state;
mod suggest;
mod text_pattern;
mod wildcard;
mod workspace;

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use decision::PermissionDecision;
pub(crate) use gate::OpenGate;
pub use gate::{Gate, RuleLifetime};
pub use path_pattern::RulePathBases;
pub use remember::RememberError;
pub use rule::{PermissionRule, PermissionRuleError};
pub use workspace::ReadableWorkspace;

use crate::event::ApprovalMode;
use crate::session_paths::SessionPaths;
use paths::LocatedPath;
use state::PermissionState;

/// Parsed rules, by their effect.
#[derive(Debug, Clone, Default)]
pub struct PermissionRules {
    /// Rules for calls that may run.
    pub allow: Vec<PermissionRule>,
    /// Rules for calls that the user is asked about each time.
    pub ask: Vec<PermissionRule>,
    /// Rules for calls that may not run.
    pub deny: Vec<PermissionRule>,
}

/// The rules that hold at a moment, as people read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CurrentRules {
    pub(crate) allow: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) deny: Vec<String>,
}

/// The permissions of a session. The loop, the screen and sub-agents share one in an `Arc`, so a change applies to all
/// of them.
#[derive(Debug)]
pub struct Permissions {
    state: RwLock<PermissionState>,
    local_settings: PathBuf,
    keeper: Option<Box<dyn ConsentKeeper>>,
}

/// Notes that the user agreed to a rule which is now in the project's settings.
pub(crate) trait ConsentKeeper: std::fmt::Debug + Send + Sync {
    /// Notes it, so that nobody is asked about the rule when the settings are read again.
    fn agreed(&self, rule: &str);
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
                allowed_in_turn: Vec::new(),
                plan_file: None,
                scratchpad: None,
            }),
            local_settings,
            keeper: None,
        }
    }

    /// The same permissions, which tell this keeper about rules that the user agreed to for the project.
    pub(crate) fn with_keeper(mut self, keeper: impl ConsentKeeper + 'static) -> Self {
        self.keeper = Some(Box::new(keeper));
        self
    }

    /// Whether a rule forbids reading this file: for tools that come across files, such as searches.
    pub fn denies_reading(&self, path: &Path) -> bool {
        let state = self.read();
        let path = LocatedPath::find(&state.workspace.cwd.join(path));
        state.denies_path("Read", &path).is_some()
    }

    /// Which calls may run without asking.
    pub fn mode(&self) -> ApprovalMode {
        self.read().mode
    }

    /// Changes the mode, for everyone who shares these permissions.
    pub fn set_mode(&self, mode: ApprovalMode) {
        self.write().mode = mode;
    }

    /// Sets the file that may be written in plan mode.
    pub fn set_plan_file(&self, path: Option<PathBuf>) {
        self.write().plan_file = path.map(|path| LocatedPath::find(&path).real);
    }

    /// Sets the session's folder for temporary files: files in it may be read and written without asking, except in
    /// plan mode.
    pub(crate) fn set_scratchpad(&self, folder: Option<PathBuf>) {
        self.write().scratchpad = folder.map(|folder| LocatedPath::find(&folder).real);
    }

    /// Sets where the session is stored from now on: its own files may be read without asking.
    pub(crate) fn keep_in(&self, place: &SessionPaths) {
        self.write().workspace.keep_in(place);
    }

    /// Lets the files in this folder be read without asking, like the session's own files.
    pub(crate) fn show(&self, folder: &Path) {
        self.write().workspace.show(folder);
    }

    /// Adds a rule that forbids for the rest of the session.
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

    /// Adds a rule that allows for the rest of the session.
    pub fn allow_for_session(&self, rule: &str) -> Result<(), PermissionRuleError> {
        let mut state = self.write();
        let rule = state.parse(rule)?;
        state.allowed_in_session.push(rule);
        Ok(())
    }

    /// Adds a rule that allows from now on: it applies at once and is written to the project's local settings. If it
    /// cannot be written, it does not apply at all.
    pub fn allow_in_project(&self, rule: &str) -> Result<(), RememberError> {
        let parsed = self.read().parse(rule)?;
        remember::append(&self.local_settings, parsed.text())?;
        self.write().allowed_by_settings.push(parsed);
        if let Some(keeper) = &self.keeper {
            keeper.agreed(rule);
        }
        Ok(())
    }

    /// The rules that hold now.
    pub(crate) fn current(&self) -> CurrentRules {
        let state = self.read();
        let text = |rule: &PermissionRule| rule.text().to_owned();
        let lasting = state.allowed_by_settings.iter();
        let lasting = lasting.chain(&state.allowed_in_session).map(text);
        let session = state
            .approved
            .iter()
            .map(|rule| format!("{}  (for this session, until it is compacted)", rule.text()));
        let turn = state
            .allowed_in_turn
            .iter()
            .map(|rule| format!("{}  (until the work on this prompt ends)", rule.text()));
        CurrentRules {
            allow: lasting.chain(session).chain(turn).collect(),
            ask: state.ask.iter().map(text).collect(),
            deny: state.deny.iter().map(text).collect(),
        }
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
