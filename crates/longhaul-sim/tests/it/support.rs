//! Shared helpers of the tests: calls, and a request that is read and validated.

use std::collections::BTreeSet;
use std::sync::Arc;

use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_sim::call::{ApiCall, ApiError};
use longhaul_sim::request::{Endpoint, MessagesRequest};
use longhaul_sim::validate::validate;
use serde_json::{Value, json};

/// The older version, which most of the recordings use.
pub(crate) const OLD: &str = "2023-06-01";
/// The newer version.
pub(crate) const NEW: &str = "2026-10-21";

/// Every beta that makes a field or a block known.
pub(crate) const BETAS: [&str; 18] = [
    "context-management-2025-06-27",
    "compact-2026-01-12",
    "compact-2026-09-04",
    "structured-outputs-2025-11-13",
    "mcp-client-2025-11-20",
    "server-side-fallback-2026-07-01",
    "fallback-credit-2026-07-01",
    "message-threads-2026-08-12",
    "thinking-binding-controls-2026-08-01",
    "thinking-display-updates-2026-08-18",
    "task-budgets-2026-03-13",
    "mid-conversation-tool-changes-2026-07-01",
    "mid-conversation-system-clear-at-2026-08-21",
    "mid-conversation-output-config-2026-07-01",
    "advisor-tool-2026-03-01",
    "inline-tools-2026-09-15",
    "computer-use-2025-01-24",
    "user-profiles-2026-09-04",
];

/// A call with these betas.
pub(crate) fn call(version: &str, betas: &[&str]) -> ApiCall {
    ApiCall {
        key: "key".into(),
        version: version.into(),
        betas: betas
            .iter()
            .map(|beta| (*beta).to_owned())
            .collect::<BTreeSet<String>>(),
        ..ApiCall::default()
    }
}

/// The specification of a model.
pub(crate) fn spec(model: &str) -> Arc<ModelSpec> {
    ModelTable::builtin().resolve(model).spec
}

/// Reads a body.
pub(crate) fn read(body: &str, call: &ApiCall) -> Result<MessagesRequest, ApiError> {
    MessagesRequest::read(
        body.as_bytes(),
        Endpoint::Messages,
        &call.betas,
        &call.version,
    )
}

/// Reads and validates a body.
pub(crate) fn admit(body: &Value, call: &ApiCall) -> Result<MessagesRequest, ApiError> {
    let request = read(&body.to_string(), call)?;
    validate(&request, &spec(&request.model), call)?;
    Ok(request)
}

/// A small request for a model, with more fields merged into it. A null removes a field.
pub(crate) fn body(model: &str, more: Value) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "Hello"}],
    });
    for (name, value) in more.as_object().unwrap() {
        match value {
            Value::Null => body.as_object_mut().unwrap().remove(name),
            value => body
                .as_object_mut()
                .unwrap()
                .insert(name.clone(), value.clone()),
        };
    }
    body
}

/// The message of a refusal; panics if there was none.
#[track_caller]
pub(crate) fn refusal(body: &Value, call: &ApiCall) -> String {
    match admit(body, call) {
        Err(error) => {
            assert_eq!(
                (error.status, error.kind),
                (400, "invalid_request_error"),
                "{error:?}"
            );
            error.message
        }
        Ok(_) => panic!("admitted: {body}"),
    }
}

/// Panics unless the request is accepted.
#[track_caller]
pub(crate) fn taken(body: &Value, call: &ApiCall) -> MessagesRequest {
    match admit(body, call) {
        Ok(request) => request,
        Err(error) => panic!("refused: {}\n{body}", error.message),
    }
}
