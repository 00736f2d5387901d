//! A chat in the terminal: lines in, replies out, in a conversation that never runs out of context.
//!
//! `cargo run -p longhaul --example chat_loop`, then type; an empty line ends the chat. Without `ANTHROPIC_API_KEY` the
//! simulator answers.

mod support;

use std::error::Error;
use std::io::{BufRead, Write};

use longhaul::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(std::io::stdin().lock(), std::io::stdout()).await
}

pub(crate) async fn run(input: impl BufRead, mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let (client, _simulator) = support::connect().await?;
    let mut session = Session::builder()
        .model(client)
        .prompt(Prompt::new(support::MODEL, "Answer briefly."))
        .open()?;
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            break;
        }
        session.say(line).await?;
        match session.turn().await {
            Ok(reply) => writeln!(out, "model: {}", reply.text())?,
            // The conversation is as it was before the turn, so the user can simply try again.
            Err(error) => writeln!(out, "failed: {error}")?,
        }
    }
    let window = session.status();
    writeln!(out, "{} of {} tokens are in use", window.used, window.size)?;
    Ok(())
}
