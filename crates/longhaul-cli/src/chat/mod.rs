//! `longhaul chat`: an agent in a terminal, or a prompt answered on stdout.
//!
//! The agent is the library's; here it is put together from flags and settings (`make.rs`, who asks what must be asked
//! first in `asking.rs`), given a model (`model.rs`), and shown: `printing.rs` for scripts, `screen.rs` for people.

mod asking;
mod make;
mod model;
mod printing;
mod screen;

use longhaul_agent::agent::Start;
use longhaul_agent::workplace::Consent;
use longhaul_provider::CancellationToken;

use crate::args::Chat as Command;
use crate::failure::{Failure, Outcome};
use crate::settings::{Given, given_flags};
use crate::signals::EndSignals;

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    let config = given.resolve(given_flags([
        ("models.file", &command.models),
        ("window.cap", &command.window),
    ]))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)?;
    let ended = runtime.block_on(work(command, given, config));
    // A read of the terminal that nobody waits for must not hold the end up.
    runtime.shutdown_background();
    ended
}

async fn work(
    command: &Command,
    given: &Given,
    config: longhaul_core::config::Config,
) -> Result<Outcome, Failure> {
    if command.print {
        // Before anything is begun: a prompt that is missing is a mistake of the caller.
        let prompts = printing::prompts(command)?;
        let made = make::agent(command, given, config, None).await?;
        return printing::run(command, given, made, prompts).await;
    }
    let mut terminal = asking::Terminal::find();
    let consent = terminal.as_mut().map(|it| it as &mut (dyn Consent + Send));
    let made = make::agent(command, given, config, consent).await?;
    screen::run(command, given, made).await
}

/// Which session is wanted.
fn start(command: &Command) -> Start {
    match &command.resume {
        Some(id) => Start::Resume(id.clone()),
        None if command.go_on => Start::Continue,
        None => Start::New,
    }
}

/// Is cancelled when the process is asked to end.
fn signals() -> Result<CancellationToken, Failure> {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    let mut signals = EndSignals::listen().map_err(Failure::Runtime)?;
    tokio::spawn(async move {
        signals.received().await;
        cancelled.cancel();
    });
    Ok(token)
}
