//! What most tools begin with, written once: a definition made of fragments, and an input that is read into a type before
//! anything is done. A tool with a definition of its own making (MCP, skills, recall, agents) is a [`Tool`] directly.

use std::future::Future;

use longhaul::Boxed;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::definition::definition;
use super::input;
use crate::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};

/// A tool whose definition is fragments and whose input has a type. An input that stays a `Value` always fits.
pub(super) trait TypedTool: Send + Sync {
    /// The name that the model calls it by.
    const NAME: &'static str;
    /// The fragment that tells the model what it is for.
    const DESCRIPTION: &'static str;
    /// The fragment with the schema of its input.
    const SCHEMA: &'static str;

    /// What a call brings.
    type Input: DeserializeOwned + Send;

    /// See [`Tool::access`].
    fn access(&self, input: &Value) -> ToolAccess;

    /// See [`Tool::line`].
    fn line(&self, input: &Value) -> String;

    /// See [`Tool::detail`].
    fn detail(&self, _input: &Value) -> String {
        String::new()
    }

    /// Runs a call whose input fits. An error is told to the model.
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
