//! The screen with a fake host: `cargo run -p longhaul-agent --example screen_demo`.
//!
//! Prompts it knows: hello, forever, stream, tool, ask, hostile, engine, full, measure.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../tests/it/screen/fake.rs"]
mod fake;
#[path = "../tests/it/screen/fake_data.rs"]
mod fake_data;

use longhaul_agent::screen::{ScreenOptions, run};
use tokio::sync::mpsc::unbounded_channel;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (tell, events) = unbounded_channel();
    let mut options =
        ScreenOptions::from_env(std::env::current_dir()?, |name| std::env::var(name).ok());
    options.greeting =
        vec!["A demonstration: nothing is real. /help lists keys and commands.".into()];
    run(fake::Fake::new(tell, || {}), events, options).await?;
    Ok(())
}
