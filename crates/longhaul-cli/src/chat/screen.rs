//! The conversation in a terminal, or line by line where there is none; with `--tour`, a tour.

use longhaul_agent::agent::{Agent, AgentError};
use longhaul_agent::event::AgentEvent;
use longhaul_agent::host::{AgentHost, TourPace, run_tour};
use longhaul_agent::offline::tour::window_cap;
use longhaul_agent::screen::{self, ScreenOptions};
use longhaul_store::layout::Home;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::model::variable;
use super::prepare::PreparedAgent;
use super::start;
use crate::args::ChatArgs as Command;
use crate::failure::{CliError, CliOutcome, tell};
use crate::settings::CommandSettings;

pub(super) async fn run(
    command: &Command,
    given: &CommandSettings,
    made: PreparedAgent,
) -> Result<CliOutcome, CliError> {
    // The offline model must answer until the end.
    let _offline = made.offline;
    // A hook that hangs must not leave a blank terminal: the screen shows what runs.
    let builder = match screen::is_seen() {
        true => made.builder.opening_hooks_later(),
        false => made.builder,
    };
    let opened = builder.open(start(command)).await;
    if let Err(AgentError::NotCopied) = opened {
        // The user knows why: this is what they were asked about.
        tell(
            "Nothing was opened. --fork-session continues in a copy of it; --wait waits until it is free.",
        );
        return Ok(CliOutcome::NothingToDo);
    }
    let (mut agent, events) = opened.map_err(|error| CliError::Agent { error })?;
    if command.tour && command.window.is_none() {
        let cap = window_cap(agent.head_tokens());
        let capped = agent.cap_window(cap);
        capped.map_err(|error| CliError::Agent { error })?;
    }
    let mut options = ScreenOptions::from_env(made.cwd.clone(), variable);
    options.history = (Home::longhaul(&given.env).ok()).map(|it| it.root().join("history.jsonl"));
    options.mode = agent.mode();
    let wants_list = super::wants_list(command);
    options.resumed = command.go_on || command.resume.is_some() && !wants_list;
    options.greeting = greeting(&agent, &made.notices);
    options.prompt = match wants_list {
        true => Some("/resume".to_owned()),
        false => (command.prompt.clone()).or_else(|| agent.take_initial_prompt()),
    };
    let session = agent.session_id().to_owned();
    let host = AgentHost::start(
        agent,
        made.workplace.clone(),
        given.env.clone(),
        made.models.clone(),
    );
    let shown = show(command, host.clone(), events, options).await;
    shown.map_err(CliError::Screen)?;
    let left = host
        .outlook()
        .snapshot()
        .map_or(session, |look| look.session_id);
    if !command.tour {
        farewell(given, &made.cwd, &left);
    }
    Ok(CliOutcome::Fine)
}

async fn show(
    command: &Command,
    host: AgentHost,
    events: UnboundedReceiver<AgentEvent>,
    options: ScreenOptions,
) -> Result<(), screen::ScreenError> {
    if !command.tour {
        return screen::run(host, events, options).await;
    }
    let (to_screen, shown) = unbounded_channel();
    let (types, typed) = unbounded_channel();
    let pace = if screen::is_seen() {
        TourPace::Human
    } else {
        TourPace::AtOnce
    };
    let tour = tokio::spawn(run_tour(host.clone(), events, to_screen, types, pace));
    let ended = screen::run_typed(host, shown, options, typed).await;
    tour.abort();
    ended
}

/// The opening lines: what this is, notices, how to get help.
fn greeting(agent: &Agent, notices: &[String]) -> Vec<String> {
    let mut lines = vec![format!(
        "Longhaul {} · {} · {}",
        env!("CARGO_PKG_VERSION"),
        agent.model(),
        agent.place().cwd.display()
    )];
    lines.extend(notices.iter().cloned());
    lines.push(
        "/help lists commands and keys · Esc stops · Ctrl-D leaves; everything is kept".to_owned(),
    );
    lines
}

/// Says how to resume the session, if there is something to resume.
fn farewell(given: &CommandSettings, cwd: &std::path::Path, session: &str) {
    let sessions = longhaul_agent::agent::list(&given.env, cwd);
    if screen::is_seen() && sessions.iter().any(|listed| listed.id == session) {
        let short = session.get(..8).unwrap_or(session);
        crate::failure::tell(&format!("Continue with: longhaul chat --resume {short}"));
    }
}
