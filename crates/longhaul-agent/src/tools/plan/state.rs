//! The state of plan mode: whether it is on, which mode follows it, and the plan that was agreed to.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::rehydrate::{PlanFile, RestoreSourceResult};
use longhaul_store::create_private_file;

use crate::event::ApprovalMode;
use crate::session_paths::SessionPaths;

/// What the model is told while plan mode is on: with each prompt, and again after a compaction (R2).
pub const REMINDER: &str = include_str!("fragments/reminder.md");

/// The maximum size of a plan that is read: more than any window could hold.
const LONGEST: u64 = 1 << 20;

/// Holds the mode of a session.
pub trait ApprovalModeStore: Send + Sync {
    /// The current mode.
    fn mode(&self) -> ApprovalMode;

    /// Changes the mode, and updates whatever shows it.
    fn set_mode(&self, mode: ApprovalMode);
}

/// The plan mode of a session.
pub struct PlanState {
    modes: Arc<dyn ApprovalModeStore>,
    path: PathBuf,
    before: Mutex<ApprovalMode>,
}

impl PlanState {
    /// Stores the plan in the session's own folder.
    pub fn new(place: &SessionPaths, modes: Arc<dyn ApprovalModeStore>) -> Self {
        Self {
            path: place.session_folder().join("plan.md"),
            modes,
            before: Mutex::default(),
        }
    }

    /// The current mode.
    pub fn mode(&self) -> ApprovalMode {
        self.modes.mode()
    }

    /// Whether plan mode is on.
    pub fn is_on(&self) -> bool {
        self.mode() == ApprovalMode::Plan
    }

    /// Turns plan mode on, and remembers the mode before it. A screen turns it on this way, too.
    pub fn enter(&self) {
        let now = self.mode();
        if now != ApprovalMode::Plan {
            *self.before.lock().unwrap_or_else(PoisonError::into_inner) = now;
            self.modes.set_mode(ApprovalMode::Plan);
        }
    }

    /// Turns plan mode off and restores the mode before it.
    pub(crate) fn leave(&self) {
        if self.is_on() {
            let before = *self.before.lock().unwrap_or_else(PoisonError::into_inner);
            self.modes.set_mode(before);
        }
    }

    /// Where the plan is stored.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores a plan in place of the one before.
    ///
    /// # Errors
    /// If it cannot be written.
    pub async fn keep(&self, plan: &str) -> std::io::Result<()> {
        create_private_file(&self.path)?;
        tokio::fs::write(&self.path, format!("{plan}\n")).await
    }

    /// The reminder, while plan mode is on (R2).
    pub fn reminder(&self) -> Option<String> {
        self.is_on().then(|| REMINDER.trim_end().to_owned())
    }

    /// The content of the plan file. A link in its place is not followed.
    fn text(&self) -> std::io::Result<String> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let name = self.path.file_name().unwrap_or_default();
        let real = longhaul_store::real_path(folder)?.join(name);
        let mut text = String::new();
        let file = longhaul::resolved_file::open(&real)?;
        file.take(LONGEST).read_to_string(&mut text)?;
        Ok(text)
    }

    /// The plan for rehydration (R2); `None` if there never was one.
    pub fn gathered(&self) -> Option<RestoreSourceResult<PlanFile>> {
        match self.text() {
            Ok(text) => Some(RestoreSourceResult::Found(PlanFile {
                path: self.path.clone(),
                text,
            })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(RestoreSourceResult::Failed {
                what: "the plan".to_owned(),
                why: error.to_string(),
            }),
        }
    }
}
