//! Speaks MCP: lists the tools, and answers calls on blocking threads, because all of them read files.

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::mcp_tool_error::McpToolError;
use super::session_scope::SessionScope;
use super::{context_tool, recall_tool, sessions_tool};
use crate::inspect::ReportBasis;

const INSTRUCTIONS: &str = include_str!("fragments/instructions.md");

/// The names, descriptions and input schemas of the tools.
const TOOLS: [(&str, &str, &str); 3] = [
    (
        recall_tool::NAME,
        recall_tool::DESCRIPTION,
        recall_tool::SCHEMA,
    ),
    (
        sessions_tool::NAME,
        sessions_tool::DESCRIPTION,
        sessions_tool::SCHEMA,
    ),
    (
        context_tool::NAME,
        context_tool::DESCRIPTION,
        context_tool::SCHEMA,
    ),
];

/// The server of one client.
#[derive(Clone)]
pub(super) struct SessionServer {
    shared: Arc<SharedState>,
}

struct SharedState {
    scope: SessionScope,
    basis: ReportBasis,
}

impl SessionServer {
    pub(super) fn new(scope: SessionScope, basis: ReportBasis) -> Self {
        Self {
            shared: Arc::new(SharedState { scope, basis }),
        }
    }
}

impl ServerHandler for SessionServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("longhaul", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS.trim_end())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.map(tool).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.into_owned();
        if !TOOLS.iter().any(|(known, _, _)| *known == name) {
            return Err(ErrorData::invalid_params(
                "there is no such tool: the tools are recall, sessions and context",
                None,
            ));
        }
        let shared = self.shared.clone();
        let arguments = request.arguments.unwrap_or_default();
        let answered =
            tokio::task::spawn_blocking(move || shared.answer(&name, arguments, &context.ct));
        let answered = answered
            .await
            .unwrap_or_else(|error| Err(McpToolError::Interrupted(error.to_string())));
        let result = match answered {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        Ok(result.into())
    }
}

impl SharedState {
    fn answer(
        &self,
        name: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Result<String, McpToolError> {
        let scope = &self.scope;
        match name {
            recall_tool::NAME => {
                let input = read(recall_tool::NAME, recall_tool::USAGE, arguments)?;
                recall_tool::answer(scope, &input, cancel)
            }
            sessions_tool::NAME => {
                let input = read(sessions_tool::NAME, sessions_tool::USAGE, arguments)?;
                sessions_tool::answer(scope, &input)
            }
            _ => {
                let input = read(context_tool::NAME, context_tool::USAGE, arguments)?;
                context_tool::answer(scope, &self.basis, &input)
            }
        }
    }
}

/// Reads the arguments of a call.
fn read<T: DeserializeOwned>(
    tool: &'static str,
    usage: &'static str,
    arguments: JsonObject,
) -> Result<T, McpToolError> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| McpToolError::Input {
        tool,
        problem: error.to_string(),
        usage,
    })
}

fn tool((name, description, schema): (&'static str, &'static str, &'static str)) -> Tool {
    // The schemas are our own fragments; a test checks that they parse.
    let schema: JsonObject = serde_json::from_str(schema).unwrap_or_default();
    let annotations = ToolAnnotations::new()
        .read_only(true)
        .idempotent(true)
        .open_world(false);
    Tool::new(name, description.trim_end(), schema).with_annotations(annotations)
}
