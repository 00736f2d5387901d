//! Instructions added to the request for a summary: the user's, the hooks', the memory file's, in this order (F4, K1).

/// What others want of a summary. Blank ones add nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instructions<'a> {
    /// What the user gave with the command.
    pub user: &'a str,
    /// What hooks printed, in the order in which they are configured.
    pub hooks: &'a [&'a str],
    /// The section of the project's memory file; see [`compact_instructions`](crate::prompt::memory::compact_instructions).
    pub memory_file: &'a str,
}

impl Instructions<'_> {
    /// The part of the prompt that holds them; empty if there are none.
    pub(crate) fn text(&self) -> String {
        let user = ("From the user:", self.user);
        let hooks = self.hooks.iter().map(|text| ("From a hook:", *text));
        let memory = ("From the project's memory file:", self.memory_file);
        let all = std::iter::once(user).chain(hooks).chain([memory]);
        let mut text = String::new();
        for (from, instruction) in all {
            let instruction = instruction.trim();
            if !instruction.is_empty() {
                text.push_str(&format!("\n\n{from}\n{instruction}"));
            }
        }
        match text.is_empty() {
            true => text,
            false => format!("{}{text}", include_str!("instructions.md").trim_end()),
        }
    }
}
