//! A conversation that outlives its process: it is stored in a file and resumed from there, byte for byte, so that the
//! provider's cache still applies. A prompt that has changed meanwhile is sent, and an event says so.
//!
//! `cargo run -p longhaul --example resume`. Without `ANTHROPIC_API_KEY` the simulator answers.

mod support;

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::prelude::*;

/// Notes whether the prompt of a resumed session is another one than before.
#[derive(Clone, Default)]
struct PromptWatch(Arc<Mutex<Vec<String>>>);

impl Observer for PromptWatch {
    fn event(&self, event: &Event) {
        if let Event::PrefixChanged { what, from } = event {
            let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            notes.push(format!(
                "the prompt has changed ({what:?}), it applies {from:?}"
            ));
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(std::io::stdout()).await
}

pub(crate) async fn run(mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let (client, _simulator) = support::connect().await?;
    let client = Arc::new(client);
    let folder = tempfile::tempdir()?;
    let transcript = folder.path().join("session.jsonl");
    visit(&client, &transcript, "You remember things.", &mut out).await?;
    visit(&client, &transcript, "You remember things.", &mut out).await?;
    visit(
        &client,
        &transcript,
        "You remember things, and say please.",
        &mut out,
    )
    .await
}

/// What one run of a program would do.
async fn visit(
    client: &Arc<Client>,
    transcript: &Path,
    system: &str,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let watch = PromptWatch::default();
    let mut session = Session::builder()
        .model(client.clone())
        .prompt(Prompt::new(support::MODEL, system))
        .transcript(transcript)
        .observer(watch.clone())
        .open_async()
        .await?;
    let before = session.engine().live().entries().len();
    session.say("Hello again.").await?;
    session.turn().await?;
    let after = session.engine().live().entries().len();
    writeln!(out, "found {before} messages, leaving {after}")?;
    for note in watch
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        writeln!(out, "{note}")?;
    }
    Ok(())
}
