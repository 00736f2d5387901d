//! The library's session of a conversation: what every one of them is opened with, and what only the user's own or a
//! sub-agent's has.

use std::sync::Arc;

use longhaul::session::SessionBuilder;
use longhaul_core::engine::Delivery;
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::Presence;
use longhaul_store::Home;
use longhaul_store::archive::archive_path;

use super::{Conversation, HOOK_OUTPUT, SubAgent, User};
use crate::agent::error::AgentError;
use crate::agent::head::{Heads, Made};
use crate::agent::rehydrate::{AgentWorkspace, SubAgentWorkspace};
use crate::agent::restore::Restoring;
use crate::agent::ring::Ringer;
use crate::agent::tell::{MainWatcher, SubWatcher};

impl Conversation {
    /// The library's session, as far as it is the same whoever holds the conversation.
    pub(super) fn session(&self, made: &Made, heads: &Heads) -> Result<SessionBuilder, AgentError> {
        let recipe = &self.shared.recipe;
        let home = Home::longhaul(&recipe.env)?;
        let folder = self.session_place().session_folder();
        let breaks = recipe.options().cache_breaks.clone();
        let mut builder = (recipe.session.clone())
            .cancellation(self.cancellation.clone())
            .prompt(made.prompt.clone())
            .transcript(&self.place.transcript)
            .archive(archive_path(&home, &self.place.transcript))
            // The date, the branch and the like have changed since: that alone is not worth the cache.
            .keep_prefix_until_compaction()
            .session_id(&self.session_id)
            .cwd(&self.place.cwd)
            .git_branch(self.shared.surroundings.branch())
            .source(self.source())
            .hook_overflow(folder.join(HOOK_OUTPUT))
            .cache_breaks(breaks.unwrap_or(folder));
        if self.presence() == Presence::Unattended {
            // Nobody reads along, and nobody answers a question.
            builder = builder.autonomous().delivery(Delivery::Whole);
        }
        if let Some(tool) = heads.recall_tool() {
            builder = builder.recall_tool(tool);
        }
        if let Some(text) = &made.compact_instructions {
            builder = builder.compact_instructions(text);
        }
        Ok(builder)
    }

    /// What the user's own conversation has beside that.
    pub(super) fn for_user(
        &self,
        user: &User,
        builder: SessionBuilder,
        heads: &Arc<Heads>,
        spec: Arc<ModelSpec>,
        ringer: &Ringer,
    ) -> SessionBuilder {
        let recipe = &self.shared.recipe;
        builder
            .workspace(AgentWorkspace {
                heads: heads.clone(),
                spec,
                sources: self.sources.clone(),
                ringer: ringer.clone(),
                agents: user.uncollected.clone(),
                kinds: Some(user.kinds.clone()),
            })
            .observer(MainWatcher {
                teller: self.shared.teller.clone(),
                account: self.account.clone(),
                heard: self.sources.heard.clone(),
                gate: recipe.gate.clone(),
            })
    }

    /// What a sub-agent's conversation has beside it.
    pub(super) fn for_sub_agent(
        &self,
        agent: &SubAgent,
        builder: SessionBuilder,
        heads: &Arc<Heads>,
    ) -> SessionBuilder {
        let recipe = &self.shared.recipe;
        builder
            .agent(&agent.id)
            .workspace(SubAgentWorkspace {
                heads: heads.clone(),
                restoring: Restoring {
                    place: self.place.clone(),
                    reads: recipe.reads.clone(),
                    sources: self.sources.clone(),
                },
            })
            .observer(SubWatcher {
                account: self.account.clone(),
                heard: self.sources.heard.clone(),
                progress: agent.progress.clone(),
            })
    }
}
