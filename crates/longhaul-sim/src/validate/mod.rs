//! The rules between the parts of a request, and between a request and its model: what the API would refuse is refused
//! here, with the same wording.
//!
//! Problems are reported in the order of the fields (`tool_choice`, `tools`, `messages`, `system`, `thinking`, …),
//! those of the conversation by position. Shapes and unknown fields were checked when the request was read; signatures
//! are checked in [`crate::thinking`]; a continued thread is joined in [`crate::threads`] before it comes here. Whether
//! the prompt is too long is decided later, by its tokens.

mod context;
mod generation;
mod images;
mod markers;
mod output;
mod pairs;
mod roles;
mod texts;
mod thinking;
mod tools;
mod turns;

use longhaul_core::models::ModelSpec;

use crate::call::{ApiCall, ApiError};
use crate::request::MessagesRequest;

pub(crate) use generation::{ModelFamily, ModelGeneration};

/// Checks a request for a model.
pub fn validate(
    request: &MessagesRequest,
    spec: &ModelSpec,
    call: &ApiCall,
) -> Result<(), ApiError> {
    let generation = ModelGeneration::of(spec);
    let turns = turns::turns(request);
    tools::check_choice(request, generation)?;
    tools::check(request)?;
    if request.messages.is_empty() {
        return Err(ApiError::invalid(
            "messages: at least one message is required",
        ));
    }
    let problems = [
        roles::check(request, &turns, generation, &call.version),
        context::check_blocks(request, &turns, call),
        texts::check(&turns),
        pairs::check(&turns),
        thinking::check_turns(request, &turns),
        images::check(request, spec),
    ];
    let problems = problems.into_iter().flatten();
    if let Some(first) = problems.min_by_key(|problem| problem.message) {
        return Err(first.error);
    }
    texts::check_system(request)?;
    thinking::check(request, spec, call)?;
    output::check_effort(request, generation)?;
    markers::check(request)?;
    output::check_length(request, spec)?;
    output::check_stops(request)?;
    output::check_sampling(request, generation)?;
    output::check_container(request)?;
    context::check_edits(request, spec)?;
    context::check_on_demand(request, &turns)
}

/// The answer to a request for a model that is not served.
pub fn model_not_found(model: &str) -> ApiError {
    ApiError {
        status: 404,
        kind: "not_found_error",
        message: format!("model: {model}"),
        code: None,
        retry_after: None,
    }
}
