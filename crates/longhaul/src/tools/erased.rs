//! Tools of any input type as one kind of trait object, so that a toolbox can hold them together.

use std::future::Future;
use std::marker::PhantomData;

use longhaul_provider::{ToolCall, ToolInputError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::definition::definition;
use super::{Tool, ToolContent, ToolError};
use crate::model::Boxed;

/// A running call; an error if the input does not fit.
type StartedCall<'a> = Result<Boxed<'a, Result<ToolContent, ToolError>>, ToolInputError>;

/// A tool whose input type is hidden.
pub(super) trait ErasedTool: Send + Sync {
    fn name(&self) -> &str;

    fn definition(&self) -> Value;

    /// Reads the input and starts the call.
    fn start<'a>(&'a self, call: &ToolCall<'_>) -> StartedCall<'a>;
}

/// A tool that is a type.
pub(super) struct StaticTool<T>(pub(super) T);

impl<T: Tool> ErasedTool for StaticTool<T> {
    fn name(&self) -> &str {
        T::NAME
    }

    fn definition(&self) -> Value {
        definition::<T::Input>(T::NAME, T::DESCRIPTION)
    }

    fn start<'a>(&'a self, call: &ToolCall<'_>) -> StartedCall<'a> {
        let input = call.parse_input()?;
        Ok(Box::pin(self.0.call(input)))
    }
}

/// A tool that is a function.
pub(super) struct FunctionTool<Input, F> {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) function: F,
    pub(super) input: PhantomData<fn(Input)>,
}

impl<Input, F, Answer> ErasedTool for FunctionTool<Input, F>
where
    Input: DeserializeOwned + JsonSchema + Send,
    F: Fn(Input) -> Answer + Send + Sync,
    Answer: Future<Output = Result<ToolContent, ToolError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn definition(&self) -> Value {
        definition::<Input>(&self.name, &self.description)
    }

    fn start<'a>(&'a self, call: &ToolCall<'_>) -> StartedCall<'a> {
        let input = call.parse_input()?;
        Ok(Box::pin((self.function)(input)))
    }
}
