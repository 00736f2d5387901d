//! Instructions that are added to the request for a summary: work that the user cancelled, then the user's, the hooks'
//! and the memory file's instructions, in this order (F4, K1, ruling 18).

use crate::facts::UserCancellation;
use crate::quoting::{inline, quoted};

/// Additional instructions for a summary. Blank ones are skipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SummaryInstructions<'a> {
    /// The words by which the user cancelled work.
    pub called_off: &'a [UserCancellation],
    /// The instructions that the user gave with the command.
    pub user: &'a str,
    /// The output of hooks, in the order in which they are configured.
    pub hooks: &'a [&'a str],
    /// The section of the project's memory file; see
    /// [`compact_instructions`](crate::prompt::memory::compact_instructions).
    pub memory_file: &'a str,
}

impl SummaryInstructions<'_> {
    /// Returns the part of the prompt that holds the instructions; empty if there are none.
    pub(crate) fn text(&self) -> String {
        // The output of hooks and the text of a project's file must not pass for the user's.
        let user = ("From the user:", self.user.trim().to_owned());
        let hooks = self.hooks.iter().map(|text| ("From a hook:", quoted(text)));
        let memory = ("From the project's memory file:", quoted(self.memory_file));
        let all = std::iter::once(user).chain(hooks).chain([memory]);
        let mut text = String::new();
        for (from, instruction) in all {
            if !instruction.is_empty() {
                text.push_str(&format!("\n\n{from}\n{instruction}"));
            }
        }
        let text = if text.is_empty() {
            text
        } else {
            format!("{}{text}", include_str!("instructions.md").trim_end())
        };
        super::super::joined(&[&self.words_against(), &text])
    }

    /// Returns the words by which the user cancelled work, and what they mean for a summary.
    fn words_against(&self) -> String {
        let words = self.called_off.iter();
        let words: Vec<String> = words
            .map(|one| format!("- “{}”", inline(&one.text)))
            .collect();
        if words.is_empty() {
            String::new()
        } else {
            include_str!("called_off.md").replace("{words}", &words.join("\n"))
        }
    }
}
