//! Where the plain text of a command goes: what it writes to stdout or stderr and is not JSON.

use super::name::HookEventName;

/// Where plain output of a hook goes, or its stderr with exit code 2 where nothing can be blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookTextTarget {
    /// The text goes to the model, in the conversation.
    ToModel,
    /// The text goes to the model, with the request for a summary.
    ToSummary,
    /// The text goes to the user.
    ToUser,
    /// The text is dropped.
    Unused,
}

impl HookEventName {
    /// Where plain text on stdout goes at exit code 0.
    pub(super) fn plain_stdout(self) -> HookTextTarget {
        match self {
            // The documented extension: Claude Code leaves this text unused.
            HookEventName::PreCompact => HookTextTarget::ToSummary,
            HookEventName::PostCompact
            | HookEventName::SessionStart
            | HookEventName::UserPromptSubmit => HookTextTarget::ToModel,
            _ => HookTextTarget::Unused,
        }
    }

    /// Where stderr goes at exit code 2 where nothing can be blocked.
    pub(super) fn stderr_of_two(self) -> HookTextTarget {
        match self {
            HookEventName::PostToolUse => HookTextTarget::ToModel,
            HookEventName::InstructionsLoaded => HookTextTarget::Unused,
            _ => HookTextTarget::ToUser,
        }
    }
}
