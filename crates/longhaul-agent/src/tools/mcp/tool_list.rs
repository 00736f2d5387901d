//! The tools of a server, page by page. The SDK rejects a list in which one tool is malformed; such a list is read tool by
//! tool, so that the others can be used.

use std::collections::BTreeSet;

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, Tool};
use rmcp::service::{Peer, ServiceError};
use serde_json::Value;

use super::one_line;

/// The maximum number of tools of a server, and of pages of its list.
const MOST_TOOLS: usize = 500;
const MOST_PAGES: usize = 100;

/// What a server says that its tools are.
#[derive(Default)]
pub(super) struct ToolList {
    /// The tools, each name once.
    pub(super) tools: Vec<Tool>,
    /// Why tools are left out, by name.
    pub(super) unreadable: Vec<String>,
    names: BTreeSet<String>,
}

impl ToolList {
    /// Asks for the tools. An error is half a sentence.
    pub(super) async fn of(peer: &Peer<RoleClient>) -> Result<Self, String> {
        let mut list = Self::default();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            cursor = match peer.list_tools(Some(page.clone())).await {
                Ok(listed) => {
                    listed.tools.into_iter().for_each(|tool| list.add(tool));
                    listed.next_cursor
                }
                Err(ServiceError::UnexpectedResponse) => list.add_readable(peer, page).await?,
                Err(error) => return Err(error.to_string()),
            };
            if cursor.is_none() || list.tools.len() >= MOST_TOOLS {
                break;
            }
        }
        Ok(list)
    }

    /// Adds a tool, unless it was listed before.
    fn add(&mut self, tool: Tool) {
        if self.tools.len() < MOST_TOOLS && self.names.insert(tool.name.to_string()) {
            self.tools.push(tool);
        }
    }

    /// Asks for a page again, adds the tools in it that can be read, and returns where the next page begins.
    async fn add_readable(
        &mut self,
        peer: &Peer<RoleClient>,
        page: PaginatedRequestParams,
    ) -> Result<Option<String>, String> {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
        let answer = peer.send_request(request).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let answer = serde_json::to_value(answer).unwrap_or_default();
        let Some(listed) = answer["tools"].as_array() else {
            return Err(
                "its list of tools cannot be read: the answer has no list in it".to_owned(),
            );
        };
        for tool in listed.iter().take(MOST_TOOLS) {
            match serde_json::from_value(tool.clone()) {
                Ok(tool) => self.add(tool),
                Err(error) => self.leave_out(tool, &error),
            }
        }
        Ok(answer["nextCursor"].as_str().map(str::to_owned))
    }

    fn leave_out(&mut self, tool: &Value, error: &serde_json::Error) {
        let name = tool["name"].as_str().unwrap_or("one without a name");
        let why = one_line(&error.to_string(), 100);
        let reason = format!("{} ({why})", one_line(name, 64));
        if !self.unreadable.contains(&reason) {
            self.unreadable.push(reason);
        }
    }

    /// What to tell the user of the tools that are left out.
    pub(super) fn notice(&self) -> Option<String> {
        const NAMED: usize = 3;
        let first = self.unreadable.get(..NAMED).unwrap_or(&self.unreadable);
        let more = match self.unreadable.len() - first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!first.is_empty()).then(|| {
            format!(
                "its list of tools cannot be read completely; left out: {}{more}",
                first.join(", ")
            )
        })
    }
}
