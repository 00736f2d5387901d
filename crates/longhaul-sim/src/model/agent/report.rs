//! What the agent says at the end of its turn: an account of the work, an answer to a question, a plan, a request for
//! help.

use longhaul_core::figures::counted;

use super::Verbosity;
use super::known_paths::name_of;
use super::turn::AgentTurn;
use crate::model::conversation::{among, clip, first_line};
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};

const ASKING: &str = "what why how when where who which is are does do did can could would should explain tell describe hi \
    hello thanks thank";
const WORKING: &str = "fix add implement change refactor write update remove create run test edit rename move build find search \
    look check investigate make read continue go";

impl AgentTurn<'_> {
    /// Whether the prompt only asks a question and wants nothing done.
    pub(super) fn is_plain_question(&self) -> bool {
        let lower = self.ask.words.to_lowercase();
        let words: Vec<&str> = lower
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        words.len() < 60
            && words.first().is_some_and(|word| among(word, ASKING))
            && !words.iter().any(|word| among(word, WORKING))
    }

    /// Describes the work for this prompt.
    pub(super) fn account(&mut self) -> String {
        let mut read = Vec::new();
        let mut changed = Vec::new();
        let mut ran = Vec::new();
        let mut failed = 0;
        for exchange in self.view.since_prompt() {
            failed += usize::from(exchange.failed());
            let path = exchange.input_any(PATH_FIELDS).unwrap_or("");
            let list = match kind_of_name(exchange.name) {
                _ if !exchange.succeeded() => continue,
                ToolPurpose::Read => &mut read,
                ToolPurpose::Edit | ToolPurpose::MultiEdit | ToolPurpose::Write => &mut changed,
                ToolPurpose::Bash => {
                    ran.extend(exchange.input_text("command"));
                    continue;
                }
                _ => continue,
            };
            if !list.contains(&path) {
                list.push(path);
            }
        }
        let topic = self.topic();
        let opening = self.chance.say(&[
            "That is done as far as I can see",
            "This is where it stands",
            "I have gone through it",
        ]);
        let mut text = format!("{opening}: {topic}.\n");
        let most = match self.pace.verbosity {
            Verbosity::Terse => 3,
            Verbosity::Normal => 6,
            Verbosity::Wordy => 20,
        };
        for (what, paths) in [("Read", &read), ("Changed", &changed)] {
            if !paths.is_empty() {
                let names: Vec<String> = paths
                    .iter()
                    .take(most)
                    .map(|path| format!("`{}`", self.display_path(path)))
                    .collect();
                let more = match paths.len().saturating_sub(most) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                text.push_str(&format!("- {what}: {}{more}.\n", names.join(", ")));
            }
        }
        if let Some(command) = ran.last() {
            text.push_str(&format!(
                "- Ran {} commands, the last `{}`.\n",
                ran.len(),
                clip(command, 80)
            ));
        }
        if failed > 0 {
            let calls = counted(failed as u64, "call");
            text.push_str(&format!(
                "- {calls} failed on the way, and something else was done instead.\n"
            ));
        }
        if read.is_empty() && changed.is_empty() && ran.is_empty() {
            text.push_str("- No file was read or changed for this.\n");
        }
        // A line right below a list would be part of its last item.
        text.push('\n');
        text.push_str(if changed.is_empty() {
            "Nothing was changed."
        } else {
            "The changes are remarks only; the behaviour is as it was."
        });
        text
    }

    /// An answer in prose, from what the agent knows.
    pub(super) fn answer(&mut self) -> String {
        if self.view.steps > 0 && !self.view.since_prompt().is_empty() {
            return self.account();
        }
        let topic = self.topic();
        let quote = first_line(&self.ask.words, 120);
        let mut sentences = vec![match self.chance.below(3) {
            0 => format!("In short, about {topic}: this is what I can say from what I have seen."),
            1 => format!("You ask \"{quote}\"."),
            _ => format!("As for {topic}:"),
        }];
        if self.held.is_empty() {
            sentences.push(
                "I have no file of this project before me, so I answer in general terms."
                    .to_owned(),
            );
        } else {
            let names: Vec<String> = self
                .held
                .iter()
                .take(3)
                .map(|held| format!("`{}`", name_of(&held.path)))
                .collect();
            sentences.push(format!("What I have read last is {}.", names.join(", ")));
        }
        let symbols: Vec<String> = self
            .phrases
            .iter()
            .take(4)
            .map(|name| format!("`{name}`"))
            .collect();
        if !symbols.is_empty() {
            sentences.push(format!("The names that matter are {}.", symbols.join(", ")));
        }
        let general = [
            "The parts are meant to be understood one at a time, and their names say what they do.",
            "What it takes in is checked at the edge, so the inner parts may rely on it.",
            "The order of the steps matters more than any one of them.",
            "Where two ways were possible, the simpler one was taken.",
            "If that is not what you meant, name a file or a function and I go from there.",
        ];
        let count = match self.pace.verbosity {
            Verbosity::Terse => 1,
            Verbosity::Normal => self.chance.between(2, 3),
            Verbosity::Wordy => general.len(),
        };
        sentences.extend(
            general
                .iter()
                .skip(self.chance.below(2))
                .take(count)
                .map(|text| (*text).to_owned()),
        );
        clip(&sentences.join(" "), self.ask.room.max(40)).to_owned()
    }

    /// The answer when nothing works.
    pub(super) fn stuck(&mut self) -> String {
        let newest = self
            .view
            .newest()
            .iter()
            .rev()
            .find(|exchange| exchange.failed());
        let error = newest.map_or(String::new(), |exchange| {
            format!(
                " The last error was from `{}`: {}",
                exchange.name,
                first_line(&exchange.text(), 160)
            )
        });
        format!(
            "I am not getting further with {}: several tries in a row failed.{error}\nTell me how you want to go on.",
            self.topic()
        )
    }

    /// A plan for the prompt.
    pub(super) fn plan(&mut self) -> String {
        let topic = self.topic();
        let mut plan = format!("## Plan: {topic}\n\n1. Go through the files that bear on it");
        for path in self.view.places.read.iter().take(5) {
            plan.push_str(&format!("\n   - `{path}`"));
        }
        plan.push_str("\n2. Make the smallest change that does it\n3. Run the tests and look over the result\n");
        plan
    }
}
