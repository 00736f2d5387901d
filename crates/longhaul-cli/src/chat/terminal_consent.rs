//! Asks the user on the terminal, before the screen opens, about a project: whether its settings count, whether its
//! servers may start, whether its files may lead out of it. Everything that an answer covers is shown, or counted and
//! shown on request.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use longhaul_agent::agent::InUseChoice;
use longhaul_agent::project_setup::Consent;
use longhaul_agent::screen::visible;
use longhaul_agent::settings::{McpServer, OutsideFile, TrustRequirement};
use longhaul_store::SessionInUse;

use crate::text::columns;

/// Rows that are left to the question itself.
const FOR_THE_QUESTION: usize = 6;

/// The user, if there is a terminal to ask on.
pub(super) struct TerminalConsent(());

impl TerminalConsent {
    pub(super) fn find() -> Option<Self> {
        let both = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        both.then_some(Self(()))
    }
}

impl Consent for TerminalConsent {
    fn trusts(&mut self, project: &Path, wants: &[TrustRequirement]) -> bool {
        ConsentQuestion {
            head: format!(
                "{} comes with settings that you have not agreed to:",
                shown(project)
            ),
            items: wants.iter().map(ToString::to_string).collect(),
            question: "Whoever wrote them can run programs as you. Do you trust this project?",
        }
        .is_agreed_to()
    }

    fn reads(&mut self, project: &Path, files: &[OutsideFile]) -> bool {
        let item = |file: &OutsideFile| match &file.imported_by {
            Some(by) => format!("{} imports {}", by.display(), file.real.display()),
            None => format!(
                "{} is a link to {}",
                file.path.display(),
                file.real.display()
            ),
        };
        ConsentQuestion {
            head: format!(
                "These files of {} point outside the project:",
                shown(project)
            ),
            items: files.iter().map(item).collect(),
            question: "These files would go to the model. Read them, now and in future?",
        }
        .is_agreed_to()
    }

    fn starts(&mut self, server: &McpServer) -> bool {
        let written = &server.written;
        let command = std::iter::once(&written.command).chain(&written.args);
        let command: Vec<String> = command.map(|part| quoted(part)).collect();
        let mut items = vec![format!("runs {}", command.join(" "))];
        let variables = written.env.iter();
        items.extend(variables.map(|(name, value)| format!("with the variable {name}={value}")));
        items.extend((written.cwd.iter()).map(|folder| format!("in the folder {folder}")));
        ConsentQuestion {
            head: format!(
                "The project wants to start the MCP server {}. It",
                visible(&server.name)
            ),
            items,
            question: "Start it, now and as long as it stays the same?",
        }
        .is_agreed_to()
    }
}

/// A question, and everything that a yes would cover.
struct ConsentQuestion {
    head: String,
    items: Vec<String>,
    question: &'static str,
}

impl ConsentQuestion {
    fn is_agreed_to(&self) -> bool {
        let (width, height) = terminal_size::terminal_size().map_or((80, 24), |(width, height)| {
            (width.0.into(), height.0.into())
        });
        let lines = self.lines();
        let room = usize::saturating_sub(height, FOR_THE_QUESTION).max(4);
        let hidden = lines.len() - last_rows(&lines, width, room);
        // The end is nearest to the question, and the items that run by themselves come last.
        let mut text = format!("{}\n", self.head);
        if hidden > 0 {
            text.push_str(&format!(
                "  … {hidden} more lines, type `a` to see all of them\n"
            ));
        }
        text.push_str(&lines[hidden..].concat());
        let or_all = if hidden > 0 { "/a" } else { "" };
        loop {
            text.push_str(&format!("{} [y/N{or_all}] ", self.question));
            match answer(&text).as_deref() {
                Some("y" | "yes") => return true,
                Some("a" | "all") if hidden > 0 => {
                    text = format!("{}\n{}", self.head, lines.concat());
                }
                _ => return false,
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for item in &self.items {
            for (at, line) in visible(item).lines().enumerate() {
                let mark = if at == 0 { "  - " } else { "  | " };
                lines.push(format!("{mark}{line}\n"));
            }
        }
        lines
    }
}

/// How many lines from the end fit into this many rows; at least one.
fn last_rows(lines: &[String], width: usize, room: usize) -> usize {
    let mut rows = 0;
    let fits = lines.iter().rev().take_while(|line| {
        rows += columns(line.trim_end_matches('\n'))
            .div_ceil(width.max(1))
            .max(1);
        rows <= room
    });
    fits.count().max(1).min(lines.len())
}

fn shown(path: &Path) -> String {
    visible(&path.display().to_string())
}

/// A part of a command, quoted so that one can see where it begins and ends.
fn quoted(part: &str) -> String {
    let plain =
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c));
    if plain {
        part.to_owned()
    } else {
        format!("'{}'", part.replace('\'', "'\\''"))
    }
}

/// Asks whether to continue in a copy of a session that another process has open.
pub(super) fn copies(in_use: &SessionInUse) -> InUseChoice {
    let question = format!(
        "{}.\nContinue in a copy of it? [y/N] ",
        visible(&in_use.to_string())
    );
    match answer(&question).as_deref() {
        Some("y" | "yes") => InUseChoice::Copy,
        _ => InUseChoice::Nothing,
    }
}

/// Asks a question and returns the line that the user types; `None` if the question cannot be asked.
fn answer(question: &str) -> Option<String> {
    let mut out = std::io::stdout();
    write!(out, "{question}").and_then(|()| out.flush()).ok()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    Some(line.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_from_the_start() {
        let lines: Vec<String> = (0..10).map(|at| format!("line {at}\n")).collect();
        assert_eq!(last_rows(&lines, 80, 20), 10);
        assert_eq!(last_rows(&lines, 80, 4), 4);
        assert_eq!(last_rows(&lines, 3, 4), 2);
        assert_eq!(last_rows(&lines, 1, 1), 1);
        assert_eq!(quoted("a b'c"), "'a b'\\''c'");
    }
}
