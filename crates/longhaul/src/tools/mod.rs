//! Tools of an agent, by their types: the model's input is a Rust type, and its schema is made from that type.

mod content;
mod definition;
mod erased;
mod toolbox;

use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub use content::{ToolContent, ToolError};
pub use toolbox::Toolbox;

/// Something that the model may call.
///
/// The documentation comments of the input's fields become the descriptions that the model reads. The input is a struct,
/// because providers accept only objects; a tool without input has a struct without fields.
///
/// ```
/// use longhaul::{Tool, ToolContent, ToolError, Toolbox};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct ReadInput {
///     /// The path of the file, relative to the project.
///     path: String,
/// }
///
/// struct Read;
///
/// impl Tool for Read {
///     const NAME: &'static str = "Read";
///     const DESCRIPTION: &'static str = "Reads a text file.";
///     type Input = ReadInput;
///
///     async fn call(&self, input: ReadInput) -> Result<ToolContent, ToolError> {
///         Ok(std::fs::read_to_string(input.path)?.into())
///     }
/// }
///
/// let tools = Toolbox::new().with(Read);
/// assert_eq!(tools.definitions()[0]["input_schema"]["required"][0], "path");
/// ```
pub trait Tool: Send + Sync {
    /// The name by which the model calls it.
    const NAME: &'static str;
    /// What the model is told about it.
    const DESCRIPTION: &'static str;
    /// The input that the model gives.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// Runs a call. An error is told to the model, which can try something else; it ends neither the turn nor the
    /// session. An implementer keeps secrets out of both.
    fn call(
        &self,
        input: Self::Input,
    ) -> impl Future<Output = Result<ToolContent, ToolError>> + Send;
}
