//! Answers challenges: see `proof.rs` of the crate.

use http::{Response, StatusCode};
use serde_json::json;

use crate::own_body::{OwnBody, json_answer};
use crate::proof::challenge_in;
use crate::state::GatewayState;

pub(super) fn answer(state: &GatewayState, query: Option<&str>) -> Response<OwnBody> {
    let Some(proof) = &state.proof else {
        let error = json!({"error": "this gateway has nothing to prove itself with"});
        return json_answer(StatusCode::NOT_FOUND, &error);
    };
    let Some(challenge) = challenge_in(query) else {
        let error = json!({"error": "ask with challenge=HEX, 32 to 128 digits"});
        return json_answer(StatusCode::BAD_REQUEST, &error);
    };
    let proof = proof.answer(std::process::id(), state.port, challenge);
    json_answer(StatusCode::OK, &json!({"proof": proof}))
}
