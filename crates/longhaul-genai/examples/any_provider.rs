//! An agent with one tool on any provider that genai speaks to: the model's name says which.
//!
//! `LONGHAUL_MODEL=gpt-5.2 OPENAI_API_KEY=… cargo run --example any_provider`, or another model and the key of its
//! provider. Without `LONGHAUL_MODEL` the simulator answers, as a server with OpenAI's interface.

use std::error::Error;
use std::io::Write;

use longhaul::prelude::*;
use longhaul_genai::GenaiModel;
use longhaul_genai::genai::adapter::AdapterKind;
use longhaul_genai::genai::resolver::{AuthData, Endpoint};
use longhaul_sim::model::agent::AgentBehavior;
use longhaul_sim::model::{SimModel, SimModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{World, WorldOptions};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    /// The path of the file.
    file_path: String,
}

/// The model's name, a client for it, and the simulator if that is what the client talks to.
async fn connect() -> Result<(String, GenaiModel, Option<SimServer>), Box<dyn Error>> {
    let builder = longhaul_genai::client_builder()?;
    // The tests run this example, too, and never ask a real provider.
    if let (Ok(name), false) = (std::env::var("LONGHAUL_MODEL"), cfg!(test)) {
        return Ok((name, GenaiModel::new(builder.build()?), None));
    }
    let model = SimModel::new(SimModelOptions {
        pace: AgentBehavior::obedient(),
        ..SimModelOptions::default()
    });
    let world = World::new(WorldOptions::new(1, Box::new(model)));
    let server =
        SimServer::start("127.0.0.1:0".parse()?, world, SimServerOptions::default()).await?;
    let endpoint = Endpoint::from_owned(format!("{}/v1/", server.url()));
    let key = AuthData::from_single("any key");
    let client = builder
        .with_adapter_kind(AdapterKind::OpenAI)
        .append_provider_config(AdapterKind::OpenAI, (endpoint, key))
        .build()?;
    let name = "claude-sonnet-4-6".to_owned();
    Ok((name, GenaiModel::new(client), Some(server)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(std::io::stdout()).await
}

pub(crate) async fn run(mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let (name, model, _simulator) = connect().await?;
    let tools = Toolbox::new().with_fn("Read", "Reads a file.", |input: ReadInput| async move {
        Ok(format!("{}: The answer is 42.", input.file_path).into())
    });
    let mut session = Session::builder()
        .model(model)
        .prompt(Prompt::new(&name, "You read files.").with_tools(tools.definitions()))
        .open()?;
    session
        .say("Read answer.txt and tell me what it says.")
        .await?;
    loop {
        let reply = session.turn().await?;
        let results = tools.run(&reply).await;
        for result in &results {
            writeln!(out, "result: {}", result.content)?;
        }
        if results.is_empty() {
            writeln!(out, "model: {}", reply.text())?;
            return Ok(());
        }
        session.results(results).await?;
    }
}
