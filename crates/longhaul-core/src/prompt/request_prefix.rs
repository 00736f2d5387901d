//! The prefix of a session's requests: system, tools, user context, latched settings. It is read from and written to
//! its entry (M7).

use std::borrow::Cow;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::LatchedSettings;
use crate::json::{JsonCursor, ObjectReader};
use crate::message::{EntryKind, EntryView, PrefixEntry, PrefixEntryError};

/// The part of a session's requests before the messages.
#[derive(Debug, Clone)]
pub struct RequestPrefix {
    /// The request's `system` as it is sent, cache breakpoints included.
    pub system: Box<RawValue>,
    /// The request's `tools`.
    pub tools: Box<RawValue>,
    /// The text before the first message.
    pub user_context: Option<String>,
    /// The settings that are decided once.
    pub latched: LatchedSettings,
}

/// A prefix entry that lacks a required part.
#[derive(Debug, thiserror::Error)]
#[error(
    "the session's request prefix cannot be read ({part}): the next request begins with a new one"
)]
pub struct UnreadablePrefix {
    /// The name of the part that is missing or wrong.
    pub part: &'static str,
}

/// Why a rendering begins, and so why its prefix is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixReason {
    /// There was no rendering: the session is new, or another program wrote it.
    First,
    /// The conversation was compacted.
    Compacted,
    /// Tool results were cleared.
    Cleared,
    /// The conversation continues from an earlier entry.
    Rewound,
    /// The model changed.
    Model,
    /// The tools changed.
    Tools,
    /// The system prompt changed.
    System,
    /// The user context changed.
    UserContext,
    /// A latched setting changed.
    Settings,
    /// The provider refused thinking that was sent, so none of it is sent any more.
    Thinking,
}

/// How a rendering begins, for its prefix entry.
#[derive(Debug, Clone)]
pub(super) struct PrefixEntryStart {
    /// Why the rendering begins.
    pub(super) reason: PrefixReason,
    /// The newest entry that the rendering begins with.
    pub(super) history_through: Option<String>,
}

impl PrefixReason {
    /// The reason's name in the entry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Compacted => "compacted",
            Self::Cleared => "cleared",
            Self::Rewound => "rewound",
            Self::Model => "model",
            Self::Tools => "tools",
            Self::System => "system",
            Self::UserContext => "user-context",
            Self::Settings => "settings",
            Self::Thinking => "thinking",
        }
    }
}

impl RequestPrefix {
    /// Reads a prefix entry.
    ///
    /// # Errors
    /// Fails if the entry lacks a part, or if one has the wrong shape; the error names it.
    pub fn from_entry(entry: EntryView<'_>) -> Result<Self, UnreadablePrefix> {
        let missing = |part| move || UnreadablePrefix { part };
        if entry.facets.kind != EntryKind::Head {
            return Err(UnreadablePrefix { part: "type" });
        }
        let raw = |part: &'static str| {
            let bytes = entry.prefix_part(part).unwrap_or(b"null");
            serde_json::from_slice::<Box<RawValue>>(bytes).map_err(|_| UnreadablePrefix { part })
        };
        let settings = entry
            .prefix_part("settings")
            .ok_or_else(missing("settings"))?;
        let latched: LatchedSettings =
            serde_json::from_slice(settings).map_err(|_| UnreadablePrefix { part: "settings" })?;
        if !latched.body.get().starts_with('{') {
            return Err(UnreadablePrefix { part: "settings" });
        }
        let context = ObjectReader::new(entry.line).string("userContext");
        Ok(Self {
            system: raw("system")?,
            tools: raw("tools")?,
            user_context: context.filter(|text| !text.is_empty()).map(Cow::into_owned),
            latched,
        })
    }

    /// Returns the entry of a rendering that begins with this prefix, ready to be appended.
    pub(super) fn to_entry(
        &self,
        session_id: &str,
        timestamp: Timestamp,
        start: &PrefixEntryStart,
    ) -> Result<Bytes, PrefixEntryError> {
        let context = serde_json::value::to_raw_value(&self.user_context)?;
        let settings = serde_json::value::to_raw_value(&self.latched)?;
        let head = PrefixEntry {
            session_id,
            timestamp,
            system: &self.system,
            tools: &self.tools,
            user_context: &context,
            settings: &settings,
            history_through: start.history_through.as_deref(),
            reason: Some(start.reason.as_str()),
        };
        head.to_entry()
    }

    /// Returns the most important difference to `next`, or `None` if requests with either begin with the same bytes.
    pub fn difference(&self, next: &Self) -> Option<PrefixReason> {
        let checks = [
            (self.model() != next.model(), PrefixReason::Model),
            (self.tools.get() != next.tools.get(), PrefixReason::Tools),
            (self.system.get() != next.system.get(), PrefixReason::System),
            (
                self.user_context != next.user_context,
                PrefixReason::UserContext,
            ),
            (
                !self.latched.sends_as(&next.latched),
                PrefixReason::Settings,
            ),
        ];
        checks
            .into_iter()
            .find(|(differs, _)| *differs)
            .map(|(_, reason)| reason)
    }

    /// The names of the tools.
    pub fn tool_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        // Raw JSON is valid, so the walk ends with the array. If there is none, it ends at once.
        let _ = JsonCursor::new(self.tools.get().as_bytes()).array(|cursor| {
            let name = ObjectReader::new(cursor.raw()?).string("name");
            names.extend(name.map(Cow::into_owned));
            Ok(())
        });
        names
    }

    /// The model that requests are sent to.
    pub fn model(&self) -> Option<Cow<'_, str>> {
        ObjectReader::new(self.latched.body.get().as_bytes()).string("model")
    }
}
