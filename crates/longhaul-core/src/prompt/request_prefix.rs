//! The head of a session's requests: system, tools, user context, latched settings; from and to its entry (M7).

use std::borrow::Cow;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::frame::ttl_of_messages;
use super::{LatchedSettings, Ttl};
use crate::json::{JsonCursor, ObjectReader};
use crate::message::{EntryKind, EntryView, PrefixEntry, PrefixEntryError};

/// What stands before the messages of a session's requests.
#[derive(Debug, Clone)]
pub struct RequestPrefix {
    /// The request's `system` as it is sent, markers included.
    pub system: Box<RawValue>,
    /// The request's `tools`.
    pub tools: Box<RawValue>,
    /// The text that goes before the first message.
    pub user_context: Option<String>,
    /// What is decided once.
    pub latched: LatchedSettings,
}

/// A head entry that does not say what a head must.
#[derive(Debug, thiserror::Error)]
#[error("the session's head cannot be read ({part}): the next request begins with a new one")]
pub struct UnreadablePrefix {
    /// The part that is missing or wrong.
    pub part: &'static str,
}

/// Why a rendering begins, and so why its head is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixReason {
    /// There was none: a new session, or one of another program.
    First,
    /// The conversation was compacted.
    Compacted,
    /// Tool results were cleared.
    Cleared,
    /// The conversation goes on from an earlier entry.
    Rewound,
    /// The model is another.
    Model,
    /// The tools are others.
    Tools,
    /// The system prompt is another.
    System,
    /// The user context is another.
    UserContext,
    /// A latched setting is another.
    Settings,
}

/// How a rendering begins, for its head entry.
#[derive(Debug, Clone)]
pub(super) struct PrefixEntryStart {
    /// Why.
    pub(super) reason: PrefixReason,
    /// The newest entry it begins with.
    pub(super) history_through: Option<String>,
}

impl PrefixReason {
    /// Its name in the entry.
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
        }
    }
}

impl RequestPrefix {
    /// Reads a head entry.
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

    /// The entry of a rendering that begins with this head, ready to be appended.
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

    /// What is different in `next`, the weightiest first; none if requests with either begin with the same bytes.
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
        if self.tools.get().starts_with('[') {
            // Raw JSON is valid, so the walk ends with the array.
            let _ = JsonCursor::new(self.tools.get().as_bytes()).array(|cursor| {
                let name = ObjectReader::new(cursor.raw()?).string("name");
                names.extend(name.map(Cow::into_owned));
                Ok(())
            });
        }
        names
    }

    /// The lifetime of the markers that messages under this head bear; none if they bear none.
    pub(crate) fn ttl_of_messages(&self) -> Option<Ttl> {
        ttl_of_messages(self)
    }

    /// The model that requests go to.
    pub fn model(&self) -> Option<Cow<'_, str>> {
        ObjectReader::new(self.latched.body.get().as_bytes()).string("model")
    }
}
