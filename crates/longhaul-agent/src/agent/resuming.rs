//! How a session is gone on with: what is done where another process has it open, whether in a copy, and on which branch. What
//! was said on branches that were left is told.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul::branches;
use longhaul::hooks::StartSource;
use longhaul_store::SessionInUse;

use super::agent_spec::AgentSpec;
use super::error::AgentError;
use super::start::{ChosenSession, SessionChoice};

/// Between two looks whether a session is free.
const BETWEEN: Duration = Duration::from_millis(200);
/// Characters of a prompt in a notice.
const SHOWN: usize = 60;

/// How a session is gone on with.
#[derive(Clone, Default)]
pub struct ResumeOptions {
    /// What is done where another process has it open.
    pub in_use: InUsePolicy,
    /// Whether the session itself goes on or a copy.
    pub copy: CopyPolicy,
    /// The branch to go on with, by the beginning of the id of a prompt on it.
    pub branch: Option<String>,
}

/// What is done about a session that another process has open.
#[derive(Clone, Default)]
pub enum InUsePolicy {
    /// It is refused.
    #[default]
    Refuse,
    /// It is waited for; this hears once for whom.
    Wait(Arc<dyn Fn(&SessionInUse) + Send + Sync>),
    /// The user is asked.
    Ask(Arc<dyn Fn(&SessionInUse) -> InUseChoice + Send + Sync>),
}

/// What the user wants in place of a session that is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InUseChoice {
    /// A copy of it.
    Copy,
    /// Nothing.
    Nothing,
}

/// What goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CopyPolicy {
    /// The session itself.
    #[default]
    Never,
    /// A copy of it; the session stays as it is, and may be in use.
    Always,
}

impl ResumeOptions {
    /// Settles on a session.
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
                    InUseChoice::Nothing => return Err(in_use.into()),
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

/// What the user should know of prompts that are not part of the conversation. A session that cannot be read says so itself.
pub(super) fn branches_left(id: &str, transcript: &Path) -> Vec<String> {
    let left = branches::abandoned(transcript).unwrap_or_default();
    let sentence = |branch: &branches::LeftBranch| {
        let prompts = match branch.prompts {
            1 => "1 prompt".to_owned(),
            number => format!("{number} prompts"),
        };
        let mut newest: String = branch.newest.chars().take(SHOWN).collect();
        if newest.len() < branch.newest.len() {
            newest.push('…');
        }
        let short = |id: &str| id.get(..8).unwrap_or(id).to_owned();
        format!(
            "A branch of this session with {prompts} is not part of this conversation: another process wrote it at the same time, or it was gone back from. Its newest prompt: {newest:?}. To go on with it: longhaul chat --resume {} --branch {}",
            short(id),
            short(&branch.uuid)
        )
    };
    left.iter().map(sentence).collect()
}
