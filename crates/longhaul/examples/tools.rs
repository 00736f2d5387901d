//! An agent with two tools: one that is a type, and one that is a closure. Their schemas are made from Rust types, and
//! whatever goes wrong in a call is told to the model.
//!
//! `cargo run -p longhaul --example tools`. Without `ANTHROPIC_API_KEY` the simulator answers.

mod support;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use longhaul::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    /// The path of the file, relative to the project.
    file_path: String,
}

struct Read {
    project: PathBuf,
}

impl Tool for Read {
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = "Reads a text file of the project.";
    type Input = ReadInput;

    async fn call(&self, input: ReadInput) -> Result<ToolContent, ToolError> {
        let path = self.project.join(&input.file_path).canonicalize()?;
        if !path.starts_with(self.project.canonicalize()?) {
            return Err(ToolError::new("only files of the project can be read"));
        }
        Ok(std::fs::read_to_string(path)?.into())
    }
}

#[derive(Deserialize, JsonSchema)]
struct NoInput {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(std::io::stdout()).await
}

pub(crate) async fn run(mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let (client, _simulator) = support::connect().await?;
    let project = tempfile::tempdir()?;
    std::fs::write(project.path().join("answer.txt"), "The answer is 42.\n")?;
    let tools = Toolbox::new()
        .with(Read {
            project: project.path().to_owned(),
        })
        .with_fn("Time", "Tells the time.", |_: NoInput| async {
            Ok(jiff::Timestamp::now().to_string().into())
        });
    let mut session = Session::builder()
        .model(client)
        .prompt(Prompt::new(support::MODEL, "You read files.").with_tools(tools.definitions()))
        .open()?;

    session
        .say("Read answer.txt and tell me what it says.")
        .await?;
    loop {
        let reply = session.turn().await?;
        for call in reply.tool_calls() {
            writeln!(out, "call: {} {}", call.name, call.input())?;
        }
        let results = tools.run(&reply).await;
        if results.is_empty() {
            writeln!(out, "model: {}", reply.text())?;
            return Ok(());
        }
        for result in &results {
            writeln!(out, "result: {}", result.content)?;
        }
        session.results(results).await?;
    }
}
