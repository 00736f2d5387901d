//! Tools of servers that come up while a conversation goes on (R5, B5).
//!
//! What comes before the first request is part of its prefix. What comes later leaves the prefix as it is, so that the
//! cache still hits: the tools are announced in an attachment and called through a tool that was in the prefix from the
//! start. The next prefix, after a compaction, has them among its own. Nothing is remembered here of what was announced:
//! the conversation itself says so, and after a rewind or a compaction it says what is true then.

use std::collections::HashSet;
use std::sync::Arc;

use longhaul::session::TurnError;
use longhaul_core::engine::NewEntry;
use longhaul_core::prompt::UserPresence;
use longhaul_provider::CancellationToken;
use serde_json::{Value, json};

use super::conversation_loop::{ConversationLoop, LoopRole};
use super::requested_call::{OF_SERVERS, RequestedCall};
use super::tool_executor::ToolExecutor;
use crate::tool::{CALL_LATE_TOOL, LateInstructions, Tool};

/// The maximum length of a tool's definition in an announcement, in bytes. A longer one is given on request.
const LONGEST_DEFINITION: usize = 4_000;
/// The maximum length of all definitions in an announcement.
const LONGEST_ANNOUNCEMENT: usize = 40_000;

impl ConversationLoop {
    /// Before the first request of a conversation, waits a little for tools. `None` if the user does not want to wait.
    pub(crate) async fn wait_for_tools(&mut self, cancel: &CancellationToken) -> Option<()> {
        let is_first = self.session.engine().assembly().is_none();
        match (&self.late_tools.source, &self.role) {
            (Some(late), LoopRole::Main) if is_first => {
                let settled = late.settled(self.presence());
                cancel.run_until_cancelled(settled).await
            }
            _ => Some(()),
        }
    }

    /// Whether a user is present.
    fn presence(&self) -> UserPresence {
        let builder = self.prefix_builder.as_ref();
        builder.map_or(UserPresence::Unattended, |builder| builder.presence())
    }

    /// Takes the tools that have come since the last request.
    pub(crate) async fn take_late_tools(&mut self) -> Result<(), TurnError> {
        let (Some(late), LoopRole::Main) = (self.late_tools.source.clone(), &self.role) else {
            return Ok(());
        };
        let (tools, instructions) = (late.tools(), late.instructions());
        let seen = Some((tools.len(), instructions.len(), self.session.compactions()));
        if self.late_tools.seen == seen {
            return Ok(());
        }
        self.late_tools.seen = seen;
        self.join_tools(&tools);
        let sent = self.sent_tools();
        let announced = self.announced();
        let new = announcements(&tools, &instructions, &sent, &announced);
        if new.is_empty() {
            return Ok(());
        }
        let entries = new.into_iter().map(NewEntry::Attachment).collect();
        self.session.add(entries).await
    }

    /// Waits for all tools where nobody is present, so that the list of tools is complete before anything is asked.
    pub(crate) async fn settle_tools(&mut self) {
        if let Some(late) = self.late_tools.source.clone() {
            late.settled(UserPresence::Unattended).await;
            self.join_tools(&late.tools());
        }
    }

    fn join_tools(&mut self, tools: &[Arc<dyn Tool>]) {
        if self.tool_executor.toolbox.join(tools.iter().cloned()) > 0 {
            self.rebuild_prefix();
        }
    }

    /// Gives the tools to the prefix: to the next one, or to this one if no request has been sent with it.
    fn rebuild_prefix(&mut self) {
        let Some(builder) = &self.prefix_builder else {
            return;
        };
        builder.join_tools(&self.tool_executor.toolbox);
        if self.session.engine().assembly().is_some() {
            return;
        }
        let Some(built) = builder.with_joined_tools() else {
            return;
        };
        self.prefix_tokens = built.token_counts();
        if let Some(observed) = &mut self.observed {
            observed.head = self.prefix_tokens;
        }
        if let Err(error) = self.session.set_prompt(&built.prompt) {
            tracing::warn!(%error, "the tools of servers are not in the first request");
        }
    }

    /// The names of the tools that the next request has. With another model it begins anew, as in a new conversation.
    fn sent_tools(&self) -> HashSet<String> {
        let prefix = self.session.engine().assembly().map(|it| it.prefix());
        let model = self.prefix_builder.as_ref().map(|builder| builder.model());
        match prefix.filter(|prefix| prefix.model().as_deref() == model) {
            Some(prefix) => prefix.tool_names().into_iter().collect(),
            None => (self.tool_executor.toolbox.names().map(str::to_owned)).collect(),
        }
    }

    /// The names of the tools and servers whose announcements the conversation holds.
    fn announced(&self) -> HashSet<String> {
        let mut names = HashSet::new();
        for view in self.session.engine().live().views() {
            let Some(attachment) = view.visible_attachment() else {
                continue;
            };
            let kind = attachment.string("type");
            if matches!(
                kind.as_deref(),
                Some("deferred_tools_delta" | "mcp_instructions_delta")
            ) {
                let added = attachment.strings("addedNames").unwrap_or_default();
                names.extend(added.iter().map(ToString::to_string));
            }
        }
        names
    }
}

impl ToolExecutor {
    /// The tool with this name, also one that came late.
    pub(super) fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let late = || {
            let tools = self.late_tools.as_ref()?.tools();
            tools.into_iter().find(|tool| tool.name() == name)
        };
        self.toolbox.find(name).cloned().or_else(late)
    }

    /// A resumed conversation may call a tool of a server that is still starting: then the call waits for it.
    pub(super) async fn wait_for_servers(
        &self,
        calls: &[RequestedCall],
        cancel: &CancellationToken,
    ) {
        let Some(late) = &self.late_tools else {
            return;
        };
        let is_missing = |call: &RequestedCall| {
            call.name.starts_with(OF_SERVERS) && self.find(&call.name).is_none()
        };
        if !late.is_complete() && calls.iter().any(is_missing) {
            let settled = late.settled(UserPresence::Unattended);
            // Once it is cancelled, no call runs.
            let _ = cancel.run_until_cancelled(settled).await;
        }
    }
}

/// The attachments that tell the model what it can call now.
fn announcements(
    tools: &[Arc<dyn Tool>],
    instructions: &[LateInstructions],
    sent: &HashSet<String>,
    announced: &HashSet<String>,
) -> Vec<Value> {
    let can_announce = sent.contains(CALL_LATE_TOOL);
    let is_new =
        |tool: &&Arc<dyn Tool>| !sent.contains(tool.name()) && !announced.contains(tool.name());
    let new: Vec<&Arc<dyn Tool>> = tools.iter().filter(is_new).collect();
    let mut told = Vec::new();
    if can_announce && !new.is_empty() {
        let names: Vec<&str> = new.iter().map(|tool| tool.name()).collect();
        told.push(json!({
            "type": "deferred_tools_delta",
            "addedNames": names,
            "addedLines": lines(&new),
            "removedNames": [],
        }));
    }
    // Instructions for tools that cannot be called would only confuse.
    let is_callable = |name: &String| can_announce || sent.contains(name);
    let said = instructions
        .iter()
        .filter(|said| !announced.contains(&said.server) && said.tools.iter().all(is_callable));
    let said: Vec<&LateInstructions> = said.collect();
    if !said.is_empty() {
        let names: Vec<&str> = said.iter().map(|said| &*said.server).collect();
        let blocks: Vec<&str> = said.iter().map(|said| &*said.block).collect();
        told.push(json!({
            "type": "mcp_instructions_delta",
            "addedNames": names,
            "addedBlocks": blocks,
            "removedNames": [],
        }));
    }
    told
}

/// A line for each tool: its definition, or only its name where that is too long.
fn lines(tools: &[&Arc<dyn Tool>]) -> Vec<String> {
    let mut room = LONGEST_ANNOUNCEMENT;
    let lines = tools.iter().map(|tool| {
        let definition = tool.definition().to_string();
        if definition.len() <= LONGEST_DEFINITION.min(room) {
            room -= definition.len();
            definition
        } else {
            json!({ "name": tool.name() }).to_string()
        }
    });
    lines.collect()
}
