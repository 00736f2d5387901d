//! What a typed `/name` stands for.

use crate::agent::UserPrompt;
use crate::own_command::OwnCommand;

/// What a typed `/name` stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum InvokedCommand {
    /// A command of the user's own, or a skill.
    Own(OwnCommand),
    /// A prompt that is complete: a server's.
    Prompt(UserPrompt),
}
