//! What a server offers, listed within bounds: a server that never ends its lists is cut off. The tools are in
//! `tool_list.rs`.

use rmcp::model::{PaginatedRequestParams, Prompt, Resource};

use super::listener::McpService;
use super::tool_list::ToolList;

/// The maximum number of prompts and of resources of a server.
const MOST_PROMPTS: usize = 200;
const MOST_RESOURCES: usize = 2_000;
/// The maximum number of pages of a list.
const MOST_PAGES: usize = 100;

/// What a server offers.
#[derive(Default)]
pub(super) struct McpOffer {
    pub(super) tools: ToolList,
    pub(super) instructions: String,
    pub(super) prompts: Vec<Prompt>,
    pub(super) resources: Vec<Resource>,
}

/// Lists one kind of thing, page by page.
macro_rules! listed {
    ($service:expr, $list:ident, $field:ident, $most:expr) => {{
        let mut all = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let listed = $service.$list(Some(page)).await;
            let listed = listed.map_err(|error| error.to_string())?;
            let room = $most - all.len();
            all.extend(listed.$field.into_iter().take(room));
            cursor = listed.next_cursor;
            if cursor.is_none() || all.len() == $most {
                break;
            }
        }
        Ok::<_, String>(all)
    }};
}

impl McpOffer {
    /// Asks a server for what it says it has. Only its tools must be there.
    pub(super) async fn of(service: &McpService) -> Result<Self, String> {
        let info = service.peer().peer_info();
        let has = |has: fn(&rmcp::model::ServerCapabilities) -> bool| {
            info.as_ref().is_some_and(|info| has(&info.capabilities))
        };
        let mut offer = Self::default();
        if has(|it| it.tools.is_some()) {
            offer.tools = ToolList::of(service.peer()).await?;
        }
        if has(|it| it.prompts.is_some()) {
            offer.prompts = unless_failed("prompts", prompts(service).await);
        }
        if has(|it| it.resources.is_some()) {
            offer.resources = unless_failed("resources", resources(service).await);
        }
        let instructions = info.and_then(|info| info.instructions.clone());
        offer.instructions = instructions.unwrap_or_default();
        Ok(offer)
    }
}

async fn prompts(service: &McpService) -> Result<Vec<Prompt>, String> {
    listed!(service, list_prompts, prompts, MOST_PROMPTS)
}

async fn resources(service: &McpService) -> Result<Vec<Resource>, String> {
    listed!(service, list_resources, resources, MOST_RESOURCES)
}

/// A server that cannot list its prompts may still have useful tools.
fn unless_failed<T>(what: &str, listed: Result<Vec<T>, String>) -> Vec<T> {
    listed.unwrap_or_else(|error| {
        tracing::warn!(%error, "an MCP server does not list its {what}");
        Vec::new()
    })
}
