//! How a session is resumed: what happens if another process has it open, whether it is copied, and which branch is
//! used. The user is told about prompts on abandoned branches.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul::branches;
use longhaul::hooks::StartSource;
use longhaul_core::figures::counted;
use longhaul_store::SessionInUse;

use super::agent_spec::AgentSpec;
use super::error::AgentError;
use super::start::{ChosenSession, SessionChoice};

/// The pause between two checks whether a session is free.
const BETWEEN: Duration = Duration::from_millis(200);
/// The maximum number of characters of a prompt in a notice.
const SHOWN: usize = 60;

/// How a session is resumed.
#[derive(Clone, Default)]
pub struct ResumeOptions {
    /// What happens if another process has it open.
    pub in_use: InUsePolicy,
    /// Whether the session itself or a copy is resumed.
    pub copy: CopyPolicy,
    /// The branch to resume, given by the beginning of the id of a prompt on it.
    pub branch: Option<String>,
}

/// What happens if another process has the session open.
#[derive(Clone, Default)]
pub enum InUsePolicy {
    /// The session is refused.
    #[default]
    Refuse,
    /// The agent waits for the session; the callback is called once with its current user.
    Wait(Arc<dyn Fn(&SessionInUse) + Send + Sync>),
    /// The user is asked.
    Ask(Arc<dyn Fn(&SessionInUse) -> InUseChoice + Send + Sync>),
}

/// What the user wants in place of a session that is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InUseChoice {
    /// Resume a copy of it.
    Copy,
    /// Resume nothing.
    Nothing,
}

/// Whether a session is copied before it is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CopyPolicy {
    /// The session itself is resumed.
    #[default]
    Never,
    /// A copy is resumed; the session stays as it is, and may be in use.
    Always,
}

impl ResumeOptions {
    /// Chooses the session, waiting, asking or copying as the options say.
    pub(super) async fn settle(
        &self,
        recipe: &AgentSpec,
        start: &SessionChoice,
    ) -> Result<ChosenSession, AgentError> {
        let mut is_told = false;
        let settled = loop {
            let settled = ChosenSession::on(recipe, start);
            match (settled, &self.in_use) {
                (Err(AgentError::InUse(in_use)), _) if self.copy == CopyPolicy::Always => {
                    break copy_in_use(recipe, &in_use)?;
                }
                (Err(AgentError::InUse(in_use)), InUsePolicy::Wait(tell)) => {
                    if !std::mem::replace(&mut is_told, true) {
                        tell(&in_use);
                    }
                    tokio::time::sleep(BETWEEN).await;
                }
                (Err(AgentError::InUse(in_use)), InUsePolicy::Ask(ask)) => match ask(&in_use) {
                    InUseChoice::Copy => break copy_in_use(recipe, &in_use)?,
                    InUseChoice::Nothing => return Err(AgentError::NotCopied),
                },
                (settled, _) => break settled?,
            }
        };
        let settled = match (self.copy, settled.source) {
            (CopyPolicy::Always, StartSource::Resume) => {
                let why = format!("Session {} stays as it is", settled.id);
                ChosenSession::copy_of(recipe, &settled.transcript, &why)?
            }
            _ => settled,
        };
        if let Some(branch) = &self.branch {
            branches::resume_branch(&settled.transcript, branch, recipe.options().clock.now())?;
        }
        Ok(settled)
    }
}

fn copy_in_use(recipe: &AgentSpec, in_use: &SessionInUse) -> Result<ChosenSession, AgentError> {
    ChosenSession::copy_of(recipe, &in_use.transcript, &in_use.to_string())
}

/// Notices about prompts that are not part of the conversation. None if the transcript cannot be read: opening it
/// reports that.
pub(super) fn branches_left(id: &str, transcript: &Path) -> Vec<String> {
    let left = branches::abandoned(transcript).unwrap_or_default();
    let sentence = |branch: &branches::LeftBranch| {
        let prompts = counted(branch.prompts as u64, "prompt");
        let mut newest: String = branch.newest.chars().take(SHOWN).collect();
        if newest.len() < branch.newest.len() {
            newest.push('…');
        }
        let short = |id: &str| id.get(..8).unwrap_or(id).to_owned();
        format!(
            "A branch of this session with {prompts} is not part of this conversation: another process wrote it at the same time, or you went back from it. Its newest prompt: {newest:?}. To resume it: longhaul chat --resume {} --branch {}",
            short(id),
            short(&branch.uuid)
        )
    };
    left.iter().map(sentence).collect()
}
