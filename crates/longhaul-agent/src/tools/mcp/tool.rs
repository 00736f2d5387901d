//! A server's tool as one of ours.

use std::sync::Arc;

use longhaul::Boxed;
use serde_json::{Value, json};

use super::server::McpServerHandle;
use super::{output, schema};
use crate::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};
use crate::tools::definition::{one_line, stopped};

/// The maximum length of a description, in characters. It is paid for in every request.
const LONGEST: usize = 2_048;

/// A tool of a server.
pub(super) struct McpTool {
    server: Arc<McpServerHandle>,
    name: String,
    its_name: String,
    definition: Value,
}

impl McpTool {
    pub(super) fn new(
        server: Arc<McpServerHandle>,
        name: String,
        tool: &rmcp::model::Tool,
    ) -> Self {
        let said = tool.description.as_deref().or(tool.title.as_deref());
        let said = said.unwrap_or_default().trim();
        let description = match crate::tools::definition::beginning(said, LONGEST) {
            Some(short) => format!("{short}…"),
            None => said.to_owned(),
        };
        let definition = json!({
            "name": name,
            "description": description,
            "input_schema": schema::accepted(&tool.input_schema),
        });
        Self {
            server,
            its_name: tool.name.to_string(),
            name,
            definition,
        }
    }
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn definition(&self) -> Value {
        self.definition.clone()
    }

    /// Always `Other`: a server's claim that its tools only read is not trusted.
    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Other
    }

    fn line(&self, input: &Value) -> String {
        one_line(&input.to_string(), 120)
    }

    fn detail(&self, input: &Value) -> String {
        serde_json::to_string_pretty(input).unwrap_or_default()
    }

    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput> {
        Box::pin(async move {
            let arguments = match input {
                Value::Object(arguments) => arguments,
                Value::Null => serde_json::Map::new(),
                _ => {
                    return ToolCallOutput::error(
                        include_str!("fragments/not_an_object.md").trim_end(),
                    );
                }
            };
            let called = self
                .server
                .call(&self.its_name, arguments, call.progress.clone());
            match call.cancel.run_until_cancelled(called).await {
                None => stopped(),
                Some(Err(why)) => ToolCallOutput::error(why),
                Some(Ok(answer)) => {
                    let most = self.server.limits().output;
                    output::shown(answer, most, &self.server.outputs(), &call.id).await
                }
            }
        })
    }
}
