//! Reacts to a failed call by doing something else. A refused tool is not used for the rest of the prompt (the view
//! takes care of that); after an edit that did not apply the agent reads the file again; after a missing path it
//! searches.

use super::known_paths::name_of;
use super::turn::{AgentTurn, PlannedCall};
use super::view::was_refused;
use crate::model::conversation::first_line;
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};

impl AgentTurn<'_> {
    /// The reaction to the first failure of the newest reply, with the words before it.
    pub(super) fn reaction(&mut self) -> Option<(String, PlannedCall)> {
        let failure = self
            .view
            .newest()
            .iter()
            .find(|exchange| exchange.failed())?
            .clone();
        let text = failure.text();
        let error = first_line(&text, 140).replace('`', "'");
        let refused = was_refused(&failure);
        let path = failure.input_any(PATH_FIELDS);
        let reader = self
            .tools
            .of_kind(ToolPurpose::Read)
            .or_else(|| self.tools.of_kind(ToolPurpose::Editor));
        let finder = self.tools.of_kind(ToolPurpose::Glob);
        let shell = self.tools.of_kind(ToolPurpose::Bash);
        let searcher = self.tools.of_kind(ToolPurpose::Grep);
        let mut call = None;
        if !refused {
            call = match (kind_of_name(failure.name), path) {
                (ToolPurpose::Edit | ToolPurpose::MultiEdit | ToolPurpose::Write, Some(path)) => {
                    reader.and_then(|offer| self.read_this(offer, path))
                }
                (ToolPurpose::Read | ToolPurpose::List, Some(path)) => {
                    let pattern = format!("**/{}*", name_of(path).split('.').next().unwrap_or(""));
                    finder.and_then(|offer| self.find_this(offer, &pattern))
                }
                (ToolPurpose::Bash, _) => {
                    let named = self
                        .view
                        .places
                        .files
                        .iter()
                        .find(|file| text.contains(name_of(file)))
                        .cloned();
                    match (reader, named) {
                        (Some(offer), Some(path)) => self.read_this(offer, &path),
                        _ => searcher.and_then(|offer| self.search(offer)),
                    }
                }
                _ => None,
            };
        }
        let repeats =
            |mind: &Self, call: &PlannedCall| mind.repeats(call) && call.name == failure.name;
        let call = call
            .filter(|call| !repeats(self, call))
            .or_else(|| {
                reader
                    .and_then(|offer| self.build(offer))
                    .filter(|call| !repeats(self, call))
            })
            .or_else(|| {
                searcher
                    .and_then(|offer| self.search(offer))
                    .filter(|call| !repeats(self, call))
            })
            .or_else(|| {
                let offer = shell?;
                let (command, why) = self.glance();
                Some(self.run(offer, &command, why))
            })
            .filter(|call| !repeats(self, call))?;
        let name = failure.name;
        let start = if refused {
            format!("`{name}` is not to be used here, so I leave it: I")
        } else {
            match self.chance.below(3) {
                0 => format!("That did not work ({error}). I"),
                1 => format!("`{name}` failed with \"{error}\". Instead I"),
                _ => format!("The call came back with an error: {error}. So I"),
            }
        };
        Some((format!("{start} {}.", call.doing), call))
    }
}
