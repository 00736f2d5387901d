//! What the agent says and thinks besides its calls, in a sentence or a few, about what is really there.

use super::Verbosity;
use super::known_paths::name_of;
use super::turn::{AgentMove, AgentTurn, PlannedCall, WorkPhase};
use crate::model::conversation::{ToolExchange, clip, first_line};
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};

impl AgentTurn<'_> {
    /// The text before these calls.
    pub(super) fn lead(&mut self, calls: &[PlannedCall]) -> String {
        let quiet = match self.pace.verbosity {
            Verbosity::Terse => 0.7,
            Verbosity::Normal => 0.2,
            Verbosity::Wordy => 0.0,
        };
        if self.chance.odds(quiet) {
            return String::new();
        }
        let mut words = String::new();
        let remarks = match self.pace.verbosity {
            Verbosity::Terse => 0,
            Verbosity::Normal => usize::from(self.chance.odds(0.5)),
            Verbosity::Wordy => 3,
        };
        for remark in self.remarks().into_iter().take(remarks) {
            words.push_str(&remark);
            words.push(' ');
        }
        let start = match (self.view.steps, self.phase()) {
            (0, _) => self
                .chance
                .say(&["To begin, I", "First I", "I will take this in steps: I"]),
            (_, WorkPhase::Looking) => self.chance.say(&["Next I", "I", "Now I"]),
            (_, WorkPhase::Working) => self.chance.say(&["Now I", "With that clear I", "I"]),
            (_, WorkPhase::Closing) => {
                self.chance
                    .say(&["To be sure, I", "Last, I", "Before closing I"])
            }
        };
        words.push_str(start);
        let doing: Vec<&str> = calls
            .iter()
            .map(|call| call.doing.as_str())
            .take(3)
            .collect();
        words.push(' ');
        words.push_str(&doing.join(", and "));
        if calls.len() > doing.len() {
            words.push_str(&format!(", and look at {} more", calls.len() - doing.len()));
        }
        words.push('.');
        words
    }

    /// One sentence about each of the newest results.
    fn remarks(&mut self) -> Vec<String> {
        let newest: Vec<ToolExchange<'_>> = self
            .view
            .newest()
            .iter()
            .filter(|exchange| exchange.succeeded())
            .take(3)
            .cloned()
            .collect();
        newest.iter().map(remark).collect()
    }

    /// The thinking before a move.
    pub(super) fn thought(&mut self, chosen: &AgentMove) -> String {
        let topic = self.topic();
        let mut lines = Vec::new();
        if self.view.steps == 0 {
            let quote = first_line(&self.ask.words, 160);
            lines.push(format!(
                "The user wrote: \"{quote}\". What matters in it: {topic}."
            ));
        }
        lines.extend(self.remarks());
        let (known, read) = (self.view.places.files.len(), self.view.places.read.len());
        if known > 0 {
            lines.push(format!(
                "I know {known} paths here and have read {read} of them."
            ));
        }
        if let Some(failure) = self.view.newest().iter().find(|exchange| exchange.failed()) {
            let text = failure.text();
            lines.push(format!(
                "`{}` failed: {}. The same call again would fail again.",
                failure.name,
                first_line(&text, 120)
            ));
        }
        let musing = [
            "It is cheaper to look once more than to undo a wrong change.",
            "The names in the code should say where to go on.",
            "Nothing so far contradicts what the user said.",
            "I should keep the change small and where a reader would look for it.",
            "If the tests pass unchanged, that is a sign that the behaviour is the same.",
            "Two of these files seem to depend on each other; that order matters.",
        ];
        let count = match self.pace.verbosity {
            Verbosity::Terse => 0,
            Verbosity::Normal => self.chance.skewed(0, 2),
            Verbosity::Wordy => self.chance.skewed(1, 5),
        };
        for _ in 0..count {
            lines.push(self.chance.say(&musing).to_owned());
        }
        lines.push(match chosen {
            AgentMove::Say(_) => "Enough is known to answer now.".to_owned(),
            AgentMove::Act { calls, .. } => match calls.first() {
                Some(call) if !call.doing.is_empty() => format!("So: {}.", call.doing),
                _ => "So: the call that is asked for.".to_owned(),
            },
        });
        lines.join(if lines.len() > 4 { "\n" } else { " " })
    }
}

/// The first lines of a text, each clipped.
pub(super) fn excerpt(text: &str, lines: usize) -> String {
    let lines = text
        .lines()
        .take(lines)
        .map(|line| clip(line, 160).replace("```", "'''"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A sentence about a result.
pub(super) fn remark(exchange: &ToolExchange<'_>) -> String {
    if exchange.is_out_of_view() {
        return format!("`{}` gave what it gave before.", exchange.name);
    }
    let text = exchange.text();
    // "No matches found" is one line, but not a match.
    let lines = match text.trim_start().get(..3) {
        Some("No " | "no ") => 0,
        _ => text.lines().count(),
    };
    let target = exchange.input_any(PATH_FIELDS).map(name_of);
    match (kind_of_name(exchange.name), target) {
        (ToolPurpose::Read, Some(name)) => format!("`{name}` gave {lines} lines."),
        (ToolPurpose::Edit | ToolPurpose::MultiEdit | ToolPurpose::Write, Some(name)) => {
            format!("`{name}` is changed.")
        }
        (ToolPurpose::Grep, _) => {
            let pattern = exchange.input_text("pattern").unwrap_or("");
            match lines {
                0 => format!("`{pattern}` turns up nowhere."),
                1 => format!("`{pattern}` turns up once."),
                _ => format!("`{pattern}` turns up on {lines} lines."),
            }
        }
        (ToolPurpose::Glob | ToolPurpose::List, _) => match lines {
            0 => "Nothing is found there.".to_owned(),
            1 => "There is one entry.".to_owned(),
            _ => format!("There are {lines} entries."),
        },
        (ToolPurpose::Bash, _) if text.trim().is_empty() => {
            "The command printed nothing.".to_owned()
        }
        (ToolPurpose::Bash, _) => format!(
            "The command says: {}.",
            first_line(&text, 100).trim_end_matches('.')
        ),
        (ToolPurpose::Todo, _) => "The list is up to date.".to_owned(),
        _ => format!("`{}` answered with {lines} lines.", exchange.name),
    }
}
