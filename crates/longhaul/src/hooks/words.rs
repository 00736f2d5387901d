//! The words that fields of events may have. The events themselves are in `event.rs`.

pub use longhaul_core::boundary::CompactionTrigger;
use serde::Serialize;

/// A closed set of words that are both the value of a field and the text that a matcher is compared with.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// The word in the JSON.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }
    };
}

words! {
    /// Why a session starts.
    StartSource {
        /// It is a new session.
        Startup = "startup",
        /// An earlier session is resumed.
        Resume = "resume",
        /// The conversation was cleared.
        Clear = "clear",
        /// The conversation was compacted.
        Compact = "compact",
        /// A copy of an earlier session is continued.
        Fork = "fork",
    }
}
words! {
    /// Whose memory file it is.
    MemoryType {
        /// The user's, for all projects.
        User = "User",
        /// The project's.
        Project = "Project",
        /// The user's, for this project.
        Local = "Local",
        /// The organization's.
        Managed = "Managed",
    }
}
words! {
    /// Why a memory file was loaded.
    LoadReason {
        /// A session started.
        SessionStart = "session_start",
        /// A file in its folder was touched.
        NestedTraversal = "nested_traversal",
        /// A file that its patterns name was touched.
        PathGlobMatch = "path_glob_match",
        /// Another memory file includes it.
        Include = "include",
        /// The conversation was compacted.
        Compact = "compact",
    }
}
words! {
    /// Why the user's attention is wanted.
    NotificationType {
        /// A call waits for the user's permission.
        PermissionPrompt = "permission_prompt",
        /// The model asks the user a question.
        ElicitationDialog = "elicitation_dialog",
        /// The work is done, and the prompt has been empty for a while.
        IdlePrompt = "idle_prompt",
    }
}
words! {
    /// Why a session is over.
    EndReason {
        /// The conversation was cleared.
        Clear = "clear",
        /// Another session is resumed.
        Resume = "resume",
        /// The user logged out.
        Logout = "logout",
        /// The user left at the prompt.
        PromptInputExit = "prompt_input_exit",
        /// Running without permissions was turned off.
        BypassPermissionsDisabled = "bypass_permissions_disabled",
        /// Anything else.
        Other = "other",
    }
}
