//! What most tools have in common: a definition made of fragments, and an input that is parsed into a type before
//! anything is done. A tool that builds its own definition (MCP, skills, recall, agents) implements [`Tool`] directly.

use std::future::Future;

use longhaul::Boxed;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::definition::definition;
use super::input;
use crate::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};

/// A tool whose definition is made of fragments and whose input has a type. An input of type `Value` is always valid.
pub(super) trait TypedTool: Send + Sync {
    /// The name that the model calls the tool by.
    const NAME: &'static str;
    /// The fragment that tells the model what the tool is for.
    const DESCRIPTION: &'static str;
    /// The fragment with the schema of the tool's input.
    const SCHEMA: &'static str;

    /// The parsed input of a call.
    type Input: DeserializeOwned + Send;

    /// What a call would touch; see [`Tool::access`].
    fn access(&self, input: &Value) -> ToolAccess;

    /// The call in one short line for people; see [`Tool::line`].
    fn line(&self, input: &Value) -> String;

    /// What people want to see before they agree; see [`Tool::detail`].
    fn detail(&self, _input: &Value) -> String {
        String::new()
    }

    /// Runs a call with valid input. An error is shown to the model.
    fn run(
        &self,
        input: Self::Input,
        call: &CallContext,
    ) -> impl Future<Output = Result<ToolCallOutput, String>> + Send;
}

impl<T: TypedTool> Tool for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn definition(&self) -> Value {
        definition(T::NAME, T::DESCRIPTION, T::SCHEMA)
    }

    fn access(&self, input: &Value) -> ToolAccess {
        TypedTool::access(self, input)
    }

    fn line(&self, input: &Value) -> String {
        TypedTool::line(self, input)
    }

    fn detail(&self, input: &Value) -> String {
        TypedTool::detail(self, input)
    }

    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput> {
        Box::pin(async move {
            let input = match input::read(T::NAME, input) {
                Ok(input) => input,
                Err(output) => return output,
            };
            let ran = TypedTool::run(self, input, call).await;
            ran.unwrap_or_else(ToolCallOutput::error)
        })
    }
}
