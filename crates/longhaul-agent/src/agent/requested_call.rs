//! The calls that a reply requests.

use longhaul_provider::Reply;
use serde_json::Value;

use crate::tool::CALL_LATE_TOOL;

/// What the names of servers' tools begin with.
pub(super) const OF_SERVERS: &str = "mcp__";

/// A call that the model requested.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestedCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// None if the input is not an object.
    pub(crate) input: Option<Value>,
}

impl RequestedCall {
    /// The call that this one stands for: a tool that came late is called through another one.
    pub(super) fn resolved(&self) -> Self {
        let inner = || {
            let input = self.input.as_ref()?;
            let name = input["name"].as_str()?.trim();
            let arguments = input.get("arguments").filter(|it| it.is_object())?;
            Some(Self {
                id: self.id.clone(),
                name: name.to_owned(),
                input: Some(arguments.clone()),
            })
        };
        let is_late = self.name == CALL_LATE_TOOL;
        let inner = is_late.then(inner).flatten();
        inner
            .filter(|call| call.name.starts_with(OF_SERVERS))
            .unwrap_or_else(|| self.clone())
    }
}

/// The calls that a reply requests.
pub(crate) fn wanted(reply: &Reply) -> Vec<RequestedCall> {
    let calls = reply.tool_calls().map(|call| {
        let input: Option<Value> = serde_json::from_slice(call.input_json).ok();
        // The provider wraps input that is not valid JSON.
        let input = input.filter(|input| input.is_object() && input.get("INVALID_JSON").is_none());
        RequestedCall {
            id: call.id.into_owned(),
            name: call.name.into_owned(),
            input,
        }
    });
    calls.collect()
}
