//! The words that fields of events may hold. The events themselves are in `event.rs`.

pub use longhaul_core::boundary::CompactionTrigger;
use serde::Serialize;

/// A closed set of words that are both a field and what a matcher is held against.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// As it stands in the JSON.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }
    };
}

words! {
    /// How a session came to start.
    StartSource {
        /// Anew.
        Startup = "startup",
        /// An earlier one goes on.
        Resume = "resume",
        /// The conversation was cleared.
        Clear = "clear",
        /// The conversation was compacted.
        Compact = "compact",
        /// A copy of an earlier one goes its own way.
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
        /// The organisation's.
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
