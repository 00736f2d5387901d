//! Parses a shell command: which commands it would run, with which words, and which files it redirects.
//!
//! The grammar is tree-sitter's. Anything that it cannot parse, or that a shell would parse differently, makes the
//! whole command [unclear](ShellScript::unclear), and such a command never counts as harmless. Nothing is expanded and
//! nothing is run. `wrapped.rs` finds the commands that a wrapper (`sudo`, `xargs`, `sh -c`) would start.

mod condition;
mod evaluation;
mod gate;
mod heredoc;
mod visit;
mod walk;
mod word;
mod wrapped;

pub(crate) use condition::is_plain as is_plain_test;
pub(crate) use word::{HOLE, ShellWord};
pub(crate) use wrapped::{reachable, without_timing};

/// The parts of a shell command.
#[derive(Debug, Default)]
pub(crate) struct ShellScript {
    /// The simple commands in it, wherever they are: in lists, loops, functions, substitutions.
    pub(crate) parts: Vec<SimpleCommand>,
    /// Files that it would write by redirection.
    pub(crate) writes: Vec<ShellWord>,
    /// Files that it would read by redirection.
    pub(crate) reads: Vec<ShellWord>,
    /// Variables that it sets for later commands.
    pub(crate) sets: Vec<String>,
    /// Whether it defines functions: then the meaning of its names, and how often its parts run, is not known.
    pub(crate) defines: bool,
    /// Whether it changes the folder in a loop or in a function: then it is not known how often.
    pub(crate) wanders: bool,
    /// Why not all of it is understood.
    pub(crate) unclear: Option<&'static str>,
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// Assignments before the command, such as `FOO=1`: the name, and the assignment as it is written.
    pub(crate) assigns: Vec<(String, String)>,
    /// The command and its arguments.
    pub(crate) words: Vec<ShellWord>,
}

impl SimpleCommand {
    /// The command's name without quotes.
    pub(crate) fn name(&self) -> &str {
        self.words.first().map_or("", |word| word.text.as_str())
    }

    /// The words without their quotes, separated by one blank.
    pub(crate) fn text(&self) -> String {
        joined(&self.words, |word| &word.text)
    }

    /// The words as they are written.
    pub(crate) fn raw(&self) -> String {
        joined(&self.words, |word| &word.raw)
    }

    /// The words as they are written, with the assignments before them.
    pub(crate) fn raw_with_assigns(&self) -> String {
        let assigns = self.assigns.iter().map(|(_, raw)| raw.as_str());
        let words = self.words.iter().map(|word| word.raw.as_str());
        assigns.chain(words).collect::<Vec<_>>().join(" ")
    }
}

fn joined(words: &[ShellWord], text: impl Fn(&ShellWord) -> &String) -> String {
    let words: Vec<&str> = words.iter().map(|word| text(word).as_str()).collect();
    words.join(" ")
}

/// Parses a command.
pub(crate) fn read(command: &str) -> ShellScript {
    let mut script = ShellScript::default();
    if let Err(why) = gate::check(command) {
        script.unclear = Some(why);
    }
    if !gate::is_too_large(command) {
        walk::walk(command, &mut script);
    }
    script
}
