//! The library's session of a conversation: the options that every conversation has, and those of only the user's own
//! or a sub-agent's conversation.

use std::sync::Arc;

use longhaul::session::SessionBuilder;
use longhaul_core::engine::ReplyDelivery;
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::UserPresence;
use longhaul_store::Home;
use longhaul_store::archive::archive_path;

use super::{Conversation, HOOK_OUTPUT, SubAgentRole, User};
use crate::agent::error::AgentError;
use crate::agent::event_sink::{MainObserver, SubAgentObserver};
use crate::agent::hook_runner::HookRunner;
use crate::agent::rehydrate::{AgentWorkspace, SubAgentWorkspace};
use crate::agent::request_prefix::{BuiltPrefix, PrefixBuilder};
use crate::agent::restore::FileRestorer;
use crate::tool::LateTools;
use crate::tools::{ask_user, web_search};

impl Conversation {
    /// The options of the library's session that do not depend on who holds the conversation.
    pub(super) fn session(
        &self,
        made: &BuiltPrefix,
        heads: &PrefixBuilder,
    ) -> Result<SessionBuilder, AgentError> {
        let recipe = &self.shared.recipe;
        let home = Home::longhaul(&recipe.env)?;
        let folder = self.session_place().session_folder();
        let breaks = recipe.options().cache_breaks.clone();
        let late = self.sources.late_tools.clone();
        let mut builder = (recipe.session.clone())
            .cancellation(self.cancellation.clone())
            .prompt(made.prompt.clone())
            .transcript(&self.place.transcript)
            .archive(archive_path(&home, &self.place.transcript))
            // The date, the branch and similar values have changed since: that alone is not worth losing the cache.
            .keep_prefix_until_compaction()
            // The same session is worked on with a user and without one, servers may still be starting, and not every
            // provider searches the web.
            .optional_tools(move |name| {
                let may_come = |late: &Arc<dyn LateTools>| late.expects(name);
                [ask_user::NAME, web_search::NAME].contains(&name)
                    || late.as_ref().is_some_and(may_come)
            })
            .session_id(&self.session_id)
            .cwd(&self.place.cwd)
            .git_branch(self.shared.surroundings.branch())
            .source(self.source())
            .hook_overflow(folder.join(HOOK_OUTPUT))
            .cache_breaks(breaks.unwrap_or(folder));
        if self.presence() == UserPresence::Unattended {
            // Nobody reads along, and nobody answers a question.
            builder = builder.autonomous().delivery(ReplyDelivery::Whole);
        }
        if let Some(tool) = heads.recall_tool() {
            builder = builder.recall_tool(tool);
        }
        if let Some(text) = &made.compact_instructions {
            builder = builder.compact_instructions(text);
        }
        Ok(builder)
    }

    /// Adds the options of the user's own conversation.
    pub(super) fn for_user(
        &self,
        user: &User,
        builder: SessionBuilder,
        heads: &Arc<PrefixBuilder>,
        spec: Arc<ModelSpec>,
        ringer: &HookRunner,
    ) -> SessionBuilder {
        let recipe = &self.shared.recipe;
        builder
            .workspace(AgentWorkspace {
                prefixes: heads.clone(),
                spec,
                sources: self.sources.clone(),
                hook_runner: ringer.clone(),
                agents: user.uncollected.clone(),
                kinds: Some(user.kinds.clone()),
            })
            .observer(MainObserver {
                event_sink: self.shared.event_sink.clone(),
                account: self.account.clone(),
                heard: self.sources.heard.clone(),
                gate: recipe.gate.clone(),
            })
    }

    /// Adds the options of a sub-agent's conversation.
    pub(super) fn for_sub_agent(
        &self,
        agent: &SubAgentRole,
        builder: SessionBuilder,
        heads: &Arc<PrefixBuilder>,
    ) -> SessionBuilder {
        let recipe = &self.shared.recipe;
        builder
            .agent(&agent.id)
            .workspace(SubAgentWorkspace {
                heads: heads.clone(),
                restorer: FileRestorer {
                    place: self.place.clone(),
                    reads: recipe.reads.clone(),
                    sources: self.sources.clone(),
                },
            })
            .observer(SubAgentObserver {
                account: self.account.clone(),
                heard: self.sources.heard.clone(),
                progress: agent.progress.clone(),
            })
    }
}
