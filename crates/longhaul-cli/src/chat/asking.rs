//! Asks on the terminal, before the screen opens, whether a project is trusted and its servers may start.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use longhaul_agent::agent::Instead;
use longhaul_agent::settings::{McpServer, Want};
use longhaul_agent::workplace::Consent;
use longhaul_store::InUse;

use crate::text::clean;

/// The user, if there is a terminal to ask on.
pub(super) struct Terminal(());

impl Terminal {
    pub(super) fn find() -> Option<Self> {
        let both = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        both.then_some(Self(()))
    }
}

impl Consent for Terminal {
    fn trusts(&mut self, project: &Path, wants: &[Want]) -> bool {
        let mut text = format!(
            "{} comes with settings of its own:\n",
            clean(&project.display().to_string())
        );
        for want in wants {
            text.push_str(&format!("  - {}\n", want.words()));
        }
        text.push_str(
            "Whoever wrote them can run programs as you. Do you trust this project? [y/N] ",
        );
        says_yes(&text)
    }

    fn starts(&mut self, server: &McpServer) -> bool {
        let command = std::iter::once(&server.command).chain(&server.args);
        let command: Vec<String> = command.map(|part| clean(part)).collect();
        says_yes(&format!(
            "The project wants to start the MCP server {}: {}\nStart it, now and from now on? [y/N] ",
            clean(&server.name),
            command.join(" ")
        ))
    }
}

/// Whether a copy of a session is wanted that another process has open.
pub(super) fn copies(in_use: &InUse) -> Instead {
    let question = format!(
        "{}.\nGo on in a copy of it? [y/N] ",
        clean(&in_use.to_string())
    );
    match says_yes(&question) {
        true => Instead::Copy,
        false => Instead::Nothing,
    }
}

fn says_yes(question: &str) -> bool {
    let mut out = std::io::stdout();
    let asked = write!(out, "{question}").and_then(|()| out.flush());
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let yes = ["y", "yes"].contains(&line.trim().to_lowercase().as_str());
    asked.is_ok() && read.is_ok() && yes
}
