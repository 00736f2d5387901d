//! The tools of an agent together: their definitions for the prompt, and answers to the model's calls.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use longhaul_core::prompt::ToolOutput;
use longhaul_provider::{Reply, ToolCall};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::erased::{ErasedTool, FunctionTool, StaticTool};
use super::{Tool, ToolContent, ToolError};

/// The tools that a model may call. Clones share the tools.
///
/// ```
/// use longhaul::{Prompt, Reply, Session, Toolbox, model_fn};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum {
///     numbers: Vec<f64>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Toolbox::new().with_fn("Sum", "Adds numbers.", |input: Sum| async move {
///     Ok(input.numbers.iter().sum::<f64>().to_string().into())
/// });
/// # let model = model_fn(|request| async move {
/// #     let asked = request.body_value().unwrap_or_default()["messages"].to_string();
/// #     Ok(match asked.contains("tool_result") {
/// #         true => Reply::from_text("It is 42."),
/// #         false => Reply::builder().tool_call("1", "Sum", json!({"numbers": [40, 2]})).build(),
/// #     })
/// # });
/// let mut session = Session::builder()
///     .model(model)
///     .prompt(Prompt::new("claude-sonnet-4-6", "You calculate.").with_tools(tools.definitions()))
///     .open()?;
/// session.say("What is 40 plus 2?").await?;
/// let answer = loop {
///     let reply = session.turn().await?;
///     let results = tools.run(&reply).await;
///     if results.is_empty() {
///         break reply.text();
///     }
///     session.results(results).await?;
/// };
/// assert_eq!(answer, "It is 42.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn ErasedTool>>,
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tools.iter().map(|tool| tool.name());
        f.debug_list().entries(names).finish()
    }
}

impl Toolbox {
    /// Creates an empty toolbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. It replaces one with the same name.
    #[must_use]
    pub fn with(self, tool: impl Tool + 'static) -> Self {
        self.add(Arc::new(StaticTool(tool)))
    }

    /// Adds a function as a tool. It replaces a tool with the same name.
    #[must_use]
    pub fn with_fn<Input, F, Answer>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        Input: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(Input) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<ToolContent, ToolError>> + Send + 'static,
    {
        self.add(Arc::new(FunctionTool {
            name: name.into(),
            description: description.into(),
            function,
            input: PhantomData,
        }))
    }

    fn add(mut self, tool: Arc<dyn ErasedTool>) -> Self {
        let mut before = self.tools.iter_mut();
        match before.find(|before| before.name() == tool.name()) {
            Some(before) => *before = tool,
            None => self.tools.push(tool),
        }
        self
    }

    /// The tools' definitions, for [`Prompt::with_tools`](crate::Prompt::with_tools).
    pub fn definitions(&self) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.definition()).collect()
    }

    /// Runs all calls of a reply, one after the other, in the model's order; empty if there are none. The results are
    /// for [`Session::results`](crate::Session::results).
    ///
    /// A host that wants to run calls at the same time, or to ask its user first, uses [`Toolbox::call`] for each.
    pub async fn run(&self, reply: &Reply) -> Vec<ToolOutput> {
        let mut results = Vec::new();
        for call in reply.tool_calls() {
            results.push(self.call(&call).await);
        }
        results
    }

    /// Runs one call. There is a result in any case: the model is told about an unknown tool, an input that does not fit
    /// and a tool that fails.
    pub async fn call(&self, call: &ToolCall<'_>) -> ToolOutput {
        let mut tools = self.tools.iter();
        let Some(tool) = tools.find(|tool| tool.name() == call.name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
            let known = if names.is_empty() {
                "there are no tools".to_owned()
            } else {
                format!("the tools are {}", names.join(", "))
            };
            let message = format!("there is no tool {}: {known}", call.name);
            return ToolOutput::error(&*call.id, message);
        };
        let started = match tool.start(call) {
            Ok(started) => started,
            Err(error) => return ToolOutput::error(&*call.id, error.to_string()),
        };
        match started.await {
            Ok(content) => ToolOutput {
                tool_use_id: call.id.to_string(),
                content: content.into_value(),
                is_error: false,
            },
            Err(error) => ToolOutput::error(&*call.id, error.to_string()),
        }
    }
}
