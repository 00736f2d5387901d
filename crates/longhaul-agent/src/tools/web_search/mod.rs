//! WebSearch: searches the web with the provider's own tool.
//!
//! That tool runs in the middle of a reply, so it cannot be called like one of ours. A call of WebSearch is a small
//! request of its own that carries the provider's tool: the tools of the conversation and with them its cache stay as
//! they are, and the result is one that can be cleared like any other (U1). Who sends the request is decided elsewhere
//! ([`WebSearcher`]); `found` reads the replies, `domains` keeps the search to what the user's rules allow.

mod domains;
mod found;

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::figures::counted;
use longhaul_core::normalize::fragment::fill;
use longhaul_core::quoting::inline;
use longhaul_provider::Reply;
use serde_json::{Value, json};

use super::definition::{one_line, stopped, text_field};
use super::typed::TypedTool;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};
use domains::SearchDomains;
use found::FoundPages;

/// The tool's name.
pub(crate) const NAME: &str = "WebSearch";
/// The system prompt of the request that searches.
pub(crate) const SYSTEM: &str = include_str!("fragments/system.md");
/// The version of the provider's tool. The oldest is served wherever there is one, and needs no code execution.
const VERSION: &str = "web_search_20250305";
/// The most searches of one call.
const MOST_SEARCHES: u64 = 5;

/// A search to be made: what the request says, and the tool that it carries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SearchOrder {
    /// The user message of the request.
    pub(crate) request: String,
    /// The definition of the provider's tool.
    pub(crate) tool: Value,
}

/// Sends the request that searches.
pub(crate) trait WebSearcher: Send + Sync {
    /// The reply to the request. An error is a sentence for the model.
    fn search<'a>(
        &'a self,
        order: SearchOrder,
        call: &'a CallContext,
    ) -> Boxed<'a, Result<Reply, String>>;

    /// The hosts that the user's rules forbid, each as in the rule.
    fn forbidden_hosts(&self) -> Vec<String>;
}

/// The web search tool.
pub(crate) struct WebSearchTool(pub(crate) Arc<dyn WebSearcher>);

impl WebSearchTool {
    fn order(&self, input: &Value) -> Result<(String, SearchOrder), String> {
        let query = one_line(text_field(input, "query"), 400);
        if query.is_empty() {
            return Err(include_str!("fragments/no_query.md").trim_end().to_owned());
        }
        let domains = SearchDomains::of(input)?.without(&self.0.forbidden_hosts())?;
        let mut tool = json!({ "type": VERSION, "name": "web_search", "max_uses": MOST_SEARCHES });
        if let Some((field, list)) = domains.field() {
            tool[field] = json!(list);
        }
        let request = fill(include_str!("fragments/request.md"), &[("query", &query)]);
        Ok((query, SearchOrder { request, tool }))
    }

    async fn answer(&self, query: &str, order: SearchOrder, call: &CallContext) -> ToolCallOutput {
        let reply = match self.0.search(order, call).await {
            Ok(reply) => reply,
            Err(why) => {
                let text = fill(include_str!("fragments/not_sent.md"), &[("why", &why)]);
                return ToolCallOutput::error(text);
            }
        };
        let found = FoundPages::of(&reply);
        let query = inline(query);
        if found.pages.is_empty() {
            let (text, line) = found.why_empty(&query);
            return ToolCallOutput::error(text).with_line(line);
        }
        let gaps = [
            ("query", &*query),
            ("pages", &found.listed()),
            ("text", &found.quoted()),
        ];
        let text = fill(include_str!("fragments/results.md"), &gaps);
        let mut line = counted(found.pages.len() as u64, "page");
        if found.searches != 1 {
            line = format!("{line} from {}", counted_searches(found.searches));
        }
        ToolCallOutput::text(text, line)
    }
}

fn counted_searches(searches: u64) -> String {
    match searches {
        1 => "1 search".to_owned(),
        many => format!("{many} searches"),
    }
}

impl TypedTool for WebSearchTool {
    const NAME: &'static str = NAME;
    const DESCRIPTION: &'static str = include_str!("fragments/description.md");
    const SCHEMA: &'static str = include_str!("fragments/schema.json");
    type Input = Value;

    fn access(&self, input: &Value) -> ToolAccess {
        match SearchDomains::of(input) {
            Ok(domains) => ToolAccess::SearchesWeb(domains.allowed_hosts()),
            // Nothing is searched, so nobody needs to be asked.
            Err(_) => ToolAccess::Nothing,
        }
    }

    fn line(&self, input: &Value) -> String {
        one_line(text_field(input, "query"), 120)
    }

    fn detail(&self, input: &Value) -> String {
        let limit = SearchDomains::of(input).ok();
        match limit.as_ref().and_then(SearchDomains::field) {
            Some(("allowed_domains", list)) => format!("only in {}", list.join(", ")),
            Some((_, list)) => format!("without {}", list.join(", ")),
            // The query is in the line.
            None => text_field(input, "query").to_owned(),
        }
    }

    async fn run(&self, input: Value, call: &CallContext) -> Result<ToolCallOutput, String> {
        let (query, order) = self.order(&input)?;
        let answered = call
            .cancel
            .run_until_cancelled(self.answer(&query, order, call))
            .await;
        Ok(answered.unwrap_or_else(stopped))
    }
}
