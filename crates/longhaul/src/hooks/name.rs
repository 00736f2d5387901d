//! The names of events, and what an answer to each can do. The fields of an event are in `event.rs`.

use std::fmt;

/// An event that hooks can be configured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HookEventName {
    /// Before a compaction; may add instructions, show a message or block.
    PreCompact,
    /// After a compaction; its output joins the conversation.
    PostCompact,
    /// A session begins, or continues after a compaction; its output joins the conversation.
    SessionStart,
    /// A memory file was loaded.
    InstructionsLoaded,
    /// The user's attention is wanted.
    Notification,
    /// A session is over.
    SessionEnd,
    /// The model is about to end its turn; blocking makes it continue.
    Stop,
    /// A sub-agent starts.
    SubagentStart,
    /// A sub-agent is about to end; blocking makes it continue.
    SubagentStop,
    /// Before a tool runs; may deny it or change its input.
    PreToolUse,
    /// The user is about to be asked whether a tool may run; may answer in the user's place.
    PermissionRequest,
    /// After a tool ran.
    PostToolUse,
    /// The user sent a prompt; may refuse it or add context.
    UserPromptSubmit,
}

impl HookEventName {
    /// Every event, in the order of this documentation.
    pub const ALL: [HookEventName; 13] = [
        HookEventName::PreCompact,
        HookEventName::PostCompact,
        HookEventName::SessionStart,
        HookEventName::InstructionsLoaded,
        HookEventName::Notification,
        HookEventName::SessionEnd,
        HookEventName::Stop,
        HookEventName::SubagentStart,
        HookEventName::SubagentStop,
        HookEventName::PreToolUse,
        HookEventName::PermissionRequest,
        HookEventName::PostToolUse,
        HookEventName::UserPromptSubmit,
    ];

    /// The spelling in settings and in `hook_event_name`.
    pub fn as_str(self) -> &'static str {
        match self {
            HookEventName::PreCompact => "PreCompact",
            HookEventName::PostCompact => "PostCompact",
            HookEventName::SessionStart => "SessionStart",
            HookEventName::InstructionsLoaded => "InstructionsLoaded",
            HookEventName::Notification => "Notification",
            HookEventName::SessionEnd => "SessionEnd",
            HookEventName::Stop => "Stop",
            HookEventName::SubagentStart => "SubagentStart",
            HookEventName::SubagentStop => "SubagentStop",
            HookEventName::PreToolUse => "PreToolUse",
            HookEventName::PermissionRequest => "PermissionRequest",
            HookEventName::PostToolUse => "PostToolUse",
            HookEventName::UserPromptSubmit => "UserPromptSubmit",
        }
    }

    /// The event of that name, if there is one here.
    pub fn parse(name: &str) -> Option<HookEventName> {
        HookEventName::ALL
            .into_iter()
            .find(|event| event.as_str() == name)
    }

    /// Whether a hook can block the event.
    pub fn can_block(self) -> bool {
        matches!(
            self,
            HookEventName::PreCompact
                | HookEventName::Stop
                | HookEventName::SubagentStop
                | HookEventName::PreToolUse
                | HookEventName::PermissionRequest
                | HookEventName::UserPromptSubmit
        )
    }

    /// Whether the event is about one tool call.
    #[cfg(feature = "hooks")]
    pub(crate) fn is_about_a_tool(self) -> bool {
        matches!(
            self,
            HookEventName::PreToolUse
                | HookEventName::PermissionRequest
                | HookEventName::PostToolUse
        )
    }

    /// Whether `continue: false` ends the turn. It does not affect a compaction or an event that is only reported.
    pub(super) fn can_stop_the_turn(self) -> bool {
        !matches!(
            self,
            HookEventName::PreCompact
                | HookEventName::PostCompact
                | HookEventName::InstructionsLoaded
                | HookEventName::Notification
                | HookEventName::SessionEnd
        )
    }

    /// Whether `additionalContext` has an effect.
    pub(super) fn takes_context(self) -> bool {
        !matches!(
            self,
            HookEventName::PreCompact
                | HookEventName::InstructionsLoaded
                | HookEventName::Notification
                | HookEventName::SessionEnd
        )
    }
}

impl fmt::Display for HookEventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
