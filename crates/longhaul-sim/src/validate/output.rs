//! Checks the parameters that limit and steer the reply: length, effort, sampling, stop sequences, container.

use longhaul_core::models::ModelSpec;
use serde_json::Value;

use super::generation::ModelGeneration;
use crate::call::ApiError;
use crate::request::MessagesRequest;

/// Checks `output_config`.
pub(super) fn check_effort(
    request: &MessagesRequest,
    generation: ModelGeneration,
) -> Result<(), ApiError> {
    let Some(effort) = request
        .param("output_config", "effort")
        .and_then(Value::as_str)
    else {
        return Ok(());
    };
    match generation.efforts() {
        [] => Err(ApiError::invalid(
            "This model does not support the effort parameter.",
        )),
        levels if levels.contains(&effort) => Ok(()),
        levels => Err(ApiError::invalid(format!(
            "This model does not support effort level '{effort}'. Supported levels: {}.",
            levels.join(", ")
        ))),
    }
}

/// Checks `max_tokens`, and what cannot be combined with zero.
pub(super) fn check_length(request: &MessagesRequest, spec: &ModelSpec) -> Result<(), ApiError> {
    let Some(most) = request.max_tokens else {
        return Ok(());
    };
    if most > spec.max_output {
        return Err(ApiError::invalid(format!(
            "max_tokens: {most} > {}, which is the maximum allowed number of output tokens for {}",
            spec.max_output, request.model
        )));
    }
    if most > 0 {
        return Ok(());
    }
    let with = match () {
        () if request.stream => "`stream: true`",
        () if request.tag("thinking") == Some("enabled") => "`thinking.type: \"enabled\"`",
        () if request.param("output_config", "format").is_some() => "`output_config.format`",
        () if request.fields.contains_key("output_format") => "`output_format`",
        () if matches!(request.tag("tool_choice"), Some("any" | "tool")) => {
            "`tool_choice` of type \"any\" or \"tool\""
        }
        () => return Ok(()),
    };
    Err(ApiError::invalid(format!(
        "max_tokens: 0 cannot be combined with {with}"
    )))
}

/// Checks `stop_sequences`.
pub(super) fn check_stops(request: &MessagesRequest) -> Result<(), ApiError> {
    let stops = request
        .fields
        .get("stop_sequences")
        .and_then(Value::as_array);
    let blank = |stop: &Value| stop.as_str().is_some_and(|stop| stop.trim().is_empty());
    if stops.is_some_and(|stops| stops.iter().any(blank)) {
        Err(ApiError::invalid(
            "stop_sequences: each stop sequence must contain non-whitespace",
        ))
    } else {
        Ok(())
    }
}

/// Checks `temperature`, `top_p` and `top_k`. In the newest version they are unknown fields.
pub(super) fn check_sampling(
    request: &MessagesRequest,
    generation: ModelGeneration,
) -> Result<(), ApiError> {
    let number = |name: &str| request.fields.get(name).and_then(Value::as_f64);
    if !generation.takes_sampling() {
        for (name, default) in [
            ("temperature", Some(1.0)),
            ("top_p", Some(1.0)),
            ("top_k", None),
        ] {
            let value = number(name);
            if value.is_some() && value != default {
                return Err(ApiError::invalid(format!(
                    "`{name}` is deprecated for this model."
                )));
            }
        }
    }
    let both = number("temperature").is_some() && number("top_p").is_some();
    if both && !generation.takes_both_samplings() {
        Err(ApiError::invalid(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        ))
    } else {
        Ok(())
    }
}

/// Checks `container`.
pub(super) fn check_container(request: &MessagesRequest) -> Result<(), ApiError> {
    let asked = match request.fields.get("container") {
        Some(Value::String(_)) => true,
        Some(container) => container.get("id").is_some_and(Value::is_string),
        None => false,
    };
    let runs = |kind: &Option<String>| {
        kind.as_ref()
            .is_some_and(|kind| kind.starts_with("code_execution_"))
    };
    if asked && !request.tools.iter().any(|tool| runs(&tool.kind)) {
        Err(ApiError::invalid(
            "container: Container identifier can only be provided when using the code execution tool",
        ))
    } else {
        Ok(())
    }
}
