//! Finds again what has left the window: an archive keeps it, and the model may search the archive with a tool.
//!
//! `cargo run -p longhaul --example recall`. Without `ANTHROPIC_API_KEY` the simulator answers.

mod support;

use std::error::Error;
use std::io::Write;

use longhaul::archive::{Archive, RECALL_TOOL_NAME, answer_recall, recall_tool};
use longhaul::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    #[serde(rename = "file_path")]
    _file_path: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(std::io::stdout()).await
}

pub(crate) async fn run(mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let (client, _simulator) = support::connect().await?;
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("archive.db");
    let tools = Toolbox::new().with_fn("Read", "Reads a file.", |_: ReadInput| async {
        let log = "10:00 all is well, the pressure is normal\n".repeat(400);
        Ok(format!("09:59 the pump Marigold starts\n{log}").into())
    });
    let mut definitions = tools.definitions();
    definitions.push(recall_tool());
    let mut session = Session::builder()
        .model(client)
        .prompt(Prompt::new(support::MODEL, "You help.").with_tools(definitions))
        .recall_tool(RECALL_TOOL_NAME)
        .transcript(folder.path().join("session.jsonl"))
        .archive(&database)
        .open_async()
        .await?;

    session
        .say("Read pump.log and tell me what it says.")
        .await?;
    loop {
        let reply = session.turn().await?;
        let mut results = Vec::new();
        for call in reply.tool_calls() {
            results.push(if call.name == RECALL_TOOL_NAME {
                let archive = Archive::open(&database)?;
                ToolOutput::text(
                    &*call.id,
                    answer_recall(&archive, &call.input().to_string()),
                )
            } else {
                tools.call(&call).await
            });
        }
        if results.is_empty() {
            break;
        }
        session.results(results).await?;
    }

    // Extracts make a summary without asking a model; then the whole conversation is in the archive.
    let local = CompactRequest {
        local: true,
        ..CompactRequest::default()
    };
    session.compact(local).await?;
    writeln!(out, "compactions: {}", session.compactions())?;

    // What the model gets when it calls the tool with these words.
    let archive = Archive::open(&database)?;
    let found = answer_recall(&archive, r#"{"query": "Marigold"}"#);
    writeln!(out, "{found}")?;
    Ok(())
}
