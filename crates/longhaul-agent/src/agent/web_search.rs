//! Searches the web for a conversation: a small session of its own, whose one tool is the provider's search. Its
//! transcript is kept beside those of sub-agents, so that what it cost is known when the conversation is resumed.

use std::sync::Arc;

use longhaul::session::{Observer, RetryWait};
use longhaul::{Boxed, Prompt};
use longhaul_core::engine::{Event, ReplyDelivery};
use longhaul_core::window::QuerySource;
use longhaul_provider::Reply;

use super::assembly::Shared;
use super::usage_log::{EventOrigin, SessionUsageLog};
use crate::effort::EffortSetting;
use crate::retry_words;
use crate::session_paths::SessionPaths;
use crate::tool::{CallContext, Toolbox};
use crate::tools::web_search::{SYSTEM, SearchOrder, WebSearchTool, WebSearcher};

/// The most tokens of a report.
const MOST_TOKENS: u64 = 4_000;

/// Searches the web with the model of a conversation.
pub(crate) struct SearchSessions {
    pub(crate) shared: Shared,
    /// Where the session that the searches are for is stored.
    pub(crate) of: SessionPaths,
    pub(crate) session_id: String,
    pub(crate) model: String,
    pub(crate) account: Arc<SessionUsageLog>,
}

impl SearchSessions {
    /// Adds the tool, where the provider has a search for this model.
    pub(crate) fn offer(self, toolbox: Toolbox) -> Toolbox {
        let recipe = &self.shared.recipe;
        let spec = recipe.options().models.resolve(&self.model).spec;
        if recipe.session.runs_web_searches() && spec.web_search_price().is_some() {
            toolbox.with(WebSearchTool(Arc::new(self)))
        } else {
            toolbox
        }
    }

    async fn reply(&self, order: SearchOrder, call: &CallContext) -> Result<Reply, String> {
        let recipe = &self.shared.recipe;
        let spec = recipe.options().models.resolve(&self.model).spec;
        let (id, transcript) = self.of.new_sub_agent();
        let (think, effort) = EffortSetting::Off.parameters(&spec);
        let prompt = Prompt {
            max_tokens: MOST_TOKENS,
            think,
            effort,
            // A single request: nothing would read what it writes to the cache.
            ttl: None,
            ..Prompt::new(&self.model, SYSTEM.trim_end())
        };
        let opened = (recipe.session.clone())
            .prompt(prompt.with_tools(vec![order.tool]))
            .cancellation(call.cancel.clone().into())
            .transcript(transcript)
            .session_id(&self.session_id)
            .agent(&id)
            .cwd(&self.of.cwd)
            .source(QuerySource::agent("web-search"))
            .autonomous()
            .delivery(ReplyDelivery::Whole)
            .observer(SearchObserver {
                account: self.account.clone(),
                progress: call.progress.clone(),
            })
            .open();
        let mut session = opened.map_err(|error| error.to_string())?;
        let failed = |error: longhaul::session::TurnError| error.to_string();
        session.say(order.request).await.map_err(failed)?;
        // The tool allows fewer searches than those after which the provider pauses, so there is one reply.
        session.turn().await.map_err(failed)
    }
}

impl WebSearcher for SearchSessions {
    fn search<'a>(
        &'a self,
        order: SearchOrder,
        call: &'a CallContext,
    ) -> Boxed<'a, Result<Reply, String>> {
        Box::pin(self.reply(order, call))
    }

    fn forbidden_hosts(&self) -> Vec<String> {
        self.shared.recipe.gate.forbidden_hosts()
    }
}

/// Observes a search: its cost, and its waits for a provider that fails.
struct SearchObserver {
    account: Arc<SessionUsageLog>,
    progress: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Observer for SearchObserver {
    fn event(&self, event: &Event) {
        self.account.event(event, EventOrigin::WebSearch);
    }

    fn retrying(&self, wait: &RetryWait) {
        (self.progress)(&retry_words::line(wait, wait.wait));
    }
}
