//! The tool that calls tools of servers that came late: its definition is in the request prefix from the start, so nothing of
//! the prefix changes when they come (B5).
//!
//! The loop replaces a call of it by a call of the tool that it names, so hooks and permissions see that one. What is left
//! to do here is to tell the model what can be called.

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::normalize::fragment::fill;
use serde_json::Value;

use super::McpServers;
use crate::tool::{CALL_LATE_TOOL, CallContext, Tool, ToolAccess, ToolCallOutput};
use crate::tools::definition::{definition, one_line, text_field};

/// Calls tools of servers that came late.
pub struct CallServerTool(Arc<McpServers>);

impl CallServerTool {
    /// Calls tools of these servers.
    pub fn new(servers: Arc<McpServers>) -> Self {
        Self(servers)
    }
}

impl Tool for CallServerTool {
    fn name(&self) -> &str {
        CALL_LATE_TOOL
    }

    fn definition(&self) -> Value {
        let description = include_str!("fragments/late_tool.md");
        let schema = include_str!("fragments/late_tool.json");
        definition(CALL_LATE_TOOL, description, schema)
    }

    /// Nothing: a call that gets here only asks for a definition.
    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Nothing
    }

    fn line(&self, input: &Value) -> String {
        one_line(text_field(input, "name"), 120)
    }

    fn run<'a>(&'a self, input: Value, _: &'a CallContext) -> Boxed<'a, ToolCallOutput> {
        Box::pin(async move {
            let wanted = text_field(&input, "name");
            let tools = self.0.tools();
            match tools.iter().find(|tool| tool.name() == wanted) {
                Some(tool) => ToolCallOutput::text(tool.definition().to_string(), "its definition"),
                None => {
                    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
                    let gaps = [("names", &*names.join(", "))];
                    let message = fill(include_str!("fragments/no_late_tool.md"), &gaps);
                    ToolCallOutput::error(message).with_line("there is no such tool")
                }
            }
        })
    }
}
