//! Compacts a conversation when the user asks for it: first the summary is shown, then, once it is approved, it replaces
//! the conversation. The loss report says what was kept word for word.
//!
//! `cargo run -p longhaul --example compaction_by_hand`. Without `ANTHROPIC_API_KEY` the simulator answers.

mod support;

use std::error::Error;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use longhaul::CompactOutcome;
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
    let reads = AtomicUsize::new(1);
    let tools = Toolbox::new().with_fn("Read", "Reads a file.", move |_: ReadInput| {
        // Each call brings something else: what is in view already would not be sent again.
        let day = reads.fetch_add(1, Ordering::Relaxed);
        let stops =
            (1..=300).map(move |stop| format!("Day {day}, stop {stop}: a museum, a concert.\n"));
        async move { Ok(stops.collect::<String>().into()) }
    });
    let mut session = Session::builder()
        .model(client)
        .prompt(Prompt::new(support::MODEL, "You plan a journey.").with_tools(tools.definitions()))
        .open()?;
    session
        .say("Never plan a flight. Now read days.txt.")
        .await?;
    loop {
        let results = tools.run(&session.turn().await?).await;
        if results.is_empty() {
            break;
        }
        session.results(results).await?;
    }

    let preview = CompactRequest {
        instructions: Some("Keep the order of the days.".to_owned()),
        preview: true,
        ..CompactRequest::default()
    };
    let approved = match session.compact(preview).await? {
        CompactOutcome::Preview(preview) => {
            let begins: String = preview.summary.chars().take(60).collect();
            writeln!(out, "the summary begins: {begins}")?;
            let (before, after) = (preview.before, preview.after);
            writeln!(out, "preview: {before} to {after} tokens")?;
            preview.summary
        }
        CompactOutcome::Done(_) => return Err("a preview was requested".into()),
    };
    // Here the user may edit the summary.
    let request = CompactRequest {
        approved: Some(approved),
        ..CompactRequest::default()
    };
    if let CompactOutcome::Done(done) = session.compact(request).await? {
        let said = done.report.user_messages;
        writeln!(out, "done: {} to {} tokens", done.before, done.after)?;
        let (kept, total) = (said.verbatim, said.total);
        writeln!(out, "{kept} of {total} messages are kept word for word")?;
    }
    session.say("Where were we?").await?;
    writeln!(out, "model: {}", session.turn().await?.text())?;
    Ok(())
}
