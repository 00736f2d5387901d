//! Server-held threads (N8): the conversation is kept here under the id of a reply, and a request that continues it
//! contains only the new messages.
//!
//! [`Threads::begin`] comes between reading a request and validating it: it returns the whole request, which everything
//! else works on. [`Threads::commit`] keeps the conversation once a reply is made, and [`Threads::abandon`] lets a
//! failed turn be tried again. A world can also refuse all threads with the code that makes clients send the full
//! history.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::call::{ApiCall, ApiError};
use crate::request::{ApiBlock, ApiMessage, ApiRole, ApiTool, MessagesRequest, identity};

/// How threads are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThreadPolicy {
    /// Threads are kept.
    #[default]
    Hold,
    /// Threads are refused with `thread_unsupported_request`.
    Refuse,
}

/// A turn of a thread that is in progress. Pass it to [`Threads::commit`] or [`Threads::abandon`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a turn that is neither committed nor abandoned stays in flight"]
pub enum ThreadTicket {
    /// The request is not part of a thread.
    None,
    /// The request begins a thread.
    Create,
    /// The request continues a thread.
    Continue {
        /// The caller's key.
        key: String,
        /// The id of the reply that it continues from.
        previous: String,
    },
}

/// Whether a reply can be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThreadState {
    Open,
    InFlight,
    Continued,
}

#[derive(Debug)]
struct HeldThread {
    state: ThreadState,
    system: Vec<ApiBlock>,
    tools: Vec<ApiTool>,
    output_config: Option<Value>,
    messages: Vec<ApiMessage>,
}

/// All threads of a world.
#[derive(Debug, Default)]
pub struct Threads {
    policy: ThreadPolicy,
    /// The held threads by key and id of the reply.
    held: BTreeMap<(String, String), HeldThread>,
}

/// Fields that cannot be combined with a thread.
const UNSUPPORTED: [&str; 2] = ["context_management", "fallbacks"];

impl Threads {
    /// Creates an empty set of threads.
    pub fn new(policy: ThreadPolicy) -> Threads {
        Threads {
            policy,
            held: BTreeMap::new(),
        }
    }

    /// The whole request: one that continues a thread is joined with the held messages, any other is unchanged. If a
    /// later check refuses the request, the ticket must be abandoned.
    pub fn begin(
        &mut self,
        request: MessagesRequest,
        call: &ApiCall,
    ) -> Result<(MessagesRequest, ThreadTicket), ApiError> {
        let Some(kind) = request.tag("thread").map(str::to_owned) else {
            return Ok((request, ThreadTicket::None));
        };
        self.check_supported(&request)?;
        if kind == "create" {
            return Ok((request, ThreadTicket::Create));
        }
        let previous = request
            .param("thread", "previous_message_id")
            .and_then(Value::as_str);
        let previous = previous.unwrap_or_default().to_owned();
        let Some(held) = self.held.get_mut(&(call.key.clone(), previous.clone())) else {
            return Err(not_found(&previous));
        };
        match held.state {
            ThreadState::Open => {}
            ThreadState::InFlight => {
                return Err(refused(
                    format!(
                        "thread: another request is still continuing from `previous_message_id` {previous}"
                    ),
                    "thread_continue_in_flight",
                ));
            }
            ThreadState::Continued => {
                return Err(refused(
                    format!(
                        "thread: {previous} has already been continued; continue from the most recent response of the thread"
                    ),
                    "thread_already_continued",
                ));
            }
        }
        let changed = held.differing(&request);
        if !changed.is_empty() {
            return Err(refused(
                format!(
                    "thread: differing field(s): {}. Send the stored values, or start a new thread",
                    changed.join(", ")
                ),
                "thread_fingerprint_mismatch",
            ));
        }
        held.state = ThreadState::InFlight;
        let key = call.key.clone();
        Ok((
            held.joined(request),
            ThreadTicket::Continue { key, previous },
        ))
    }

    fn check_supported(&self, request: &MessagesRequest) -> Result<(), ApiError> {
        let code = "thread_unsupported_request";
        if self.policy == ThreadPolicy::Refuse {
            return Err(refused(
                "thread: threads are not supported; send the full conversation".into(),
                code,
            ));
        }
        let mut found: Vec<&str> = UNSUPPORTED
            .into_iter()
            .filter(|name| request.fields.contains_key(*name))
            .collect();
        if request.automatic_cache.is_some() {
            found.push("cache_control");
        }
        if found.is_empty() {
            Ok(())
        } else {
            Err(refused(
                format!(
                    "thread: cannot be combined with {}; send the full conversation without `thread`",
                    found.join(", ")
                ),
                code,
            ))
        }
    }

    /// Keeps the conversation of a whole request with its reply under the reply's id.
    pub fn commit(
        &mut self,
        ticket: ThreadTicket,
        request: &MessagesRequest,
        call: &ApiCall,
        id: &str,
        reply: Vec<ApiBlock>,
    ) {
        match ticket {
            ThreadTicket::None => return,
            ThreadTicket::Create => {}
            ThreadTicket::Continue { key, previous } => {
                if let Some(held) = self.held.get_mut(&(key, previous)) {
                    held.state = ThreadState::Continued;
                    // The thread cannot be continued again: only the fact that it was continued is still needed.
                    held.messages = Vec::new();
                }
            }
        }
        let mut messages = request.messages.clone();
        messages.push(ApiMessage {
            role: ApiRole::Assistant,
            content: reply,
        });
        let blocks = messages.iter_mut().flat_map(|message| &mut message.content);
        blocks.for_each(remove_breakpoint);
        let held = HeldThread {
            state: ThreadState::Open,
            system: request.system.clone(),
            tools: request.tools.clone(),
            output_config: request.fields.get("output_config").cloned(),
            messages,
        };
        self.held.insert((call.key.clone(), id.to_owned()), held);
    }

    /// Releases a turn that made no reply.
    pub fn abandon(&mut self, ticket: ThreadTicket) {
        if let ThreadTicket::Continue { key, previous } = ticket
            && let Some(held) = self.held.get_mut(&(key, previous))
        {
            held.state = ThreadState::Open;
        }
    }
}

impl HeldThread {
    /// The fields that must stay the same and do not. A field that is left out counts as unchanged.
    fn differing(&self, request: &MessagesRequest) -> Vec<&'static str> {
        let blocks =
            |blocks: &[ApiBlock]| blocks.iter().map(identity::of_block).collect::<Vec<_>>();
        let tools = |tools: &[ApiTool]| tools.iter().map(identity::of_tool).collect::<Vec<_>>();
        let mut fields = Vec::new();
        if !request.system.is_empty() && blocks(&request.system) != blocks(&self.system) {
            fields.push("system");
        }
        if !request.tools.is_empty() && tools(&request.tools) != tools(&self.tools) {
            fields.push("tools");
        }
        let config = request.fields.get("output_config");
        if config.is_some() && config != self.output_config.as_ref() {
            fields.push("output_config");
        }
        fields
    }

    fn joined(&self, mut request: MessagesRequest) -> MessagesRequest {
        if request.system.is_empty() {
            request.system.clone_from(&self.system);
        }
        if request.tools.is_empty() {
            request.tools.clone_from(&self.tools);
        }
        if let Some(config) = &self.output_config {
            request
                .fields
                .insert("output_config".into(), config.clone());
        }
        let mut messages = self.messages.clone();
        messages.append(&mut request.messages);
        request.messages = messages;
        request
    }
}

/// Removes a breakpoint, which is only for the request it came with; if kept, breakpoints would accumulate.
fn remove_breakpoint(block: &mut ApiBlock) {
    block.marker = None;
    let inner = block
        .fields
        .get_mut("content")
        .and_then(Value::as_array_mut);
    for inner in inner.into_iter().flatten().filter_map(Value::as_object_mut) {
        inner.remove("cache_control");
    }
}

fn refused(message: String, code: &'static str) -> ApiError {
    ApiError::invalid(message).with_code(code)
}

fn not_found(previous: &str) -> ApiError {
    ApiError {
        status: 404,
        kind: "not_found_error",
        message: format!("thread: no thread was found for `previous_message_id` {previous}"),
        code: Some("thread_not_found"),
        retry_after: None,
    }
}
