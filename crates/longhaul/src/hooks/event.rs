//! Events with their fields, as a hook reads them on stdin. What an answer can do is in `name.rs`.

use std::path::{Path, PathBuf};

use longhaul_core::money::Usd;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::name::HookEventName;
use super::words::{
    CompactionTrigger, EndReason, LoadReason, MemoryType, NotificationType, StartSource,
};

/// The fields that every hook gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HookCommon {
    /// The session.
    pub session_id: String,
    /// Its transcript, whole and uncompacted.
    #[serde(serialize_with = "lossy")]
    pub transcript_path: PathBuf,
    /// The working folder; hooks run there.
    #[serde(serialize_with = "lossy")]
    pub cwd: PathBuf,
    /// What the user lets the agent do without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The prompt that is being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The sub-agent, where the event comes from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The kind of agent that the event comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// How hard the model is asked to think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<HookEffort>,
}

/// How hard the model is asked to think.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookEffort {
    /// The level, in the provider's words.
    pub level: String,
}

/// An event with the fields that belong to it alone. In JSON its name is `hook_event_name`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "hook_event_name")]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the fields are those of Claude Code's hooks, by their names there"
)]
pub enum HookEvent {
    /// Before a compaction.
    PreCompact {
        trigger: CompactionTrigger,
        custom_instructions: Option<String>,
    },
    /// After a compaction.
    PostCompact {
        trigger: CompactionTrigger,
        compact_summary: String,
    },
    /// A session begins or is resumed. The kind of agent is in [`HookCommon`].
    SessionStart {
        source: StartSource,
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_title: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        seconds_since_last_response: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_cache_likely_expired: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        estimated_cache_write_usd: Option<Usd>,
    },
    /// A memory file was loaded.
    InstructionsLoaded {
        #[serde(serialize_with = "lossy")]
        file_path: PathBuf,
        memory_type: MemoryType,
        load_reason: LoadReason,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        globs: Vec<String>,
        #[serde(
            skip_serializing_if = "Option::is_none",
            serialize_with = "lossy_if_any"
        )]
        trigger_file_path: Option<PathBuf>,
        #[serde(
            skip_serializing_if = "Option::is_none",
            serialize_with = "lossy_if_any"
        )]
        parent_file_path: Option<PathBuf>,
    },
    /// The user's attention is wanted: something waits for them.
    Notification {
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        notification_type: NotificationType,
    },
    /// A session is over.
    SessionEnd { reason: EndReason },
    /// The model is about to end its turn.
    Stop {
        stop_hook_active: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_assistant_message: Option<String>,
    },
    /// A sub-agent starts.
    SubagentStart {
        agent_id: String,
        agent_type: String,
    },
    /// A sub-agent is about to end.
    SubagentStop {
        stop_hook_active: bool,
        agent_id: String,
        agent_type: String,
        #[serde(serialize_with = "lossy")]
        agent_transcript_path: PathBuf,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_assistant_message: Option<String>,
    },
    /// Before a tool runs.
    PreToolUse {
        tool_name: String,
        tool_input: Value,
        tool_use_id: String,
    },
    /// The user is about to be asked whether a tool may run.
    PermissionRequest {
        tool_name: String,
        tool_input: Value,
        tool_use_id: String,
    },
    /// After a tool ran.
    PostToolUse {
        tool_name: String,
        tool_input: Value,
        tool_response: Value,
        tool_use_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// The user sent a prompt.
    UserPromptSubmit {
        prompt: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_title: Option<String>,
    },
}

impl HookEvent {
    /// The name of the event.
    pub fn name(&self) -> HookEventName {
        match self {
            HookEvent::PreCompact { .. } => HookEventName::PreCompact,
            HookEvent::PostCompact { .. } => HookEventName::PostCompact,
            HookEvent::SessionStart { .. } => HookEventName::SessionStart,
            HookEvent::InstructionsLoaded { .. } => HookEventName::InstructionsLoaded,
            HookEvent::Notification { .. } => HookEventName::Notification,
            HookEvent::SessionEnd { .. } => HookEventName::SessionEnd,
            HookEvent::Stop { .. } => HookEventName::Stop,
            HookEvent::SubagentStart { .. } => HookEventName::SubagentStart,
            HookEvent::SubagentStop { .. } => HookEventName::SubagentStop,
            HookEvent::PreToolUse { .. } => HookEventName::PreToolUse,
            HookEvent::PermissionRequest { .. } => HookEventName::PermissionRequest,
            HookEvent::PostToolUse { .. } => HookEventName::PostToolUse,
            HookEvent::UserPromptSubmit { .. } => HookEventName::UserPromptSubmit,
        }
    }

    /// The text that a matcher is compared with; `None` where matchers do not count.
    pub fn subject(&self) -> Option<&str> {
        match self {
            HookEvent::PreCompact { trigger, .. } | HookEvent::PostCompact { trigger, .. } => {
                Some(trigger.as_str())
            }
            HookEvent::SessionStart { source, .. } => Some(source.as_str()),
            HookEvent::InstructionsLoaded { load_reason, .. } => Some(load_reason.as_str()),
            HookEvent::Notification {
                notification_type, ..
            } => Some(notification_type.as_str()),
            HookEvent::SessionEnd { reason } => Some(reason.as_str()),
            HookEvent::SubagentStart { agent_type, .. }
            | HookEvent::SubagentStop { agent_type, .. } => Some(agent_type),
            HookEvent::PreToolUse { tool_name, .. }
            | HookEvent::PermissionRequest { tool_name, .. }
            | HookEvent::PostToolUse { tool_name, .. } => Some(tool_name),
            HookEvent::Stop { .. } | HookEvent::UserPromptSubmit { .. } => None,
        }
    }
}

/// Everything that a hook gets.
#[derive(Debug, Clone, PartialEq)]
pub struct HookInput {
    /// The fields that every hook gets.
    pub common: HookCommon,
    /// The event.
    pub event: HookEvent,
}

impl HookInput {
    /// The JSON object that goes to stdin. A field of the event wins over a common field of the same name.
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        for part in [
            serde_json::to_value(&self.common),
            serde_json::to_value(&self.event),
        ] {
            if let Ok(Value::Object(part)) = part {
                fields.extend(part);
            }
        }
        Value::Object(fields)
    }
}

/// A path that is not UTF-8 is passed with replacement characters: that helps a hook more than no path at all.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn lossy_if_any<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => lossy(path, serializer),
        None => serializer.serialize_none(),
    }
}
