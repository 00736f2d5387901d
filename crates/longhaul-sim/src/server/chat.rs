//! Handles `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use jiff::Timestamp;

use super::deliver::{self, Destination, deliver};
use super::dialect::ClientDialect;
use super::exchange::exchange;
use super::shared::SimServerState;
use super::wire::ResetFlag;
use super::{body, headers};
use crate::call::ApiCall;
use crate::openai::{ChatError, Streaming, TranslatedRequest, translate};

/// Answers a model call.
pub(super) async fn create(
    State(shared): State<Arc<SimServerState>>,
    Extension(cutter): Extension<ResetFlag>,
    request: Request,
) -> Response {
    let (call, translated) = match call(&shared, request).await {
        Ok(call) => call,
        Err(error) => return refused(&shared, &error),
    };
    let session = call.session.clone();
    let to = Destination {
        path: "/v1/chat/completions",
        session: session.as_deref(),
        cutter,
    };
    let dialect = ClientDialect::Chat {
        model: translated.model,
        streaming: translated.streaming,
        created: Timestamp::now().as_second(),
    };
    let exchange = exchange(&shared, call).await;
    deliver(&shared, exchange, &dialect, to).await
}

async fn call(
    shared: &SimServerState,
    request: Request,
) -> Result<(ApiCall, TranslatedRequest), ChatError> {
    let (parts, sent) = request.into_parts();
    let Some(key) = headers::key(&parts.headers) else {
        return Err(ChatError {
            status: 401,
            ..ChatError::invalid(
                "You didn't provide an API key. You need to provide your API key in an Authorization header using \
                 Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            )
        });
    };
    body::is_json(&parts.headers).map_err(|kind| {
        ChatError::invalid(format!(
            "Unsupported content type: '{kind}'. This API method only accepts 'application/json' requests, but you \
             specified the header 'Content-Type: {kind}'. Please try again with a supported content type."
        ))
        .with_code("unsupported_content_type")
    })?;
    let body = body::read(&parts.headers, sent)
        .await
        .map_err(|error| ChatError::translated(&error, ""))?;
    let translated = translate(&body)?;
    let model = served_by(shared, &translated.model);
    let call = ApiCall {
        key,
        version: "2023-06-01".to_owned(),
        betas: Default::default(),
        session: headers::session(&parts.headers).or_else(|| translated.session.clone()),
        body: translated.body(&model),
    };
    Ok((call, translated))
}

/// The model itself if it is known here. Names of this dialect are not known, so the server's model is used for them.
fn served_by(shared: &SimServerState, model: &str) -> String {
    let known = shared.with_world(|world| world.model(model).is_some());
    if known { model } else { &shared.model }.to_owned()
}

fn refused(shared: &SimServerState, error: &ChatError) -> Response {
    let dialect = ClientDialect::Chat {
        model: String::new(),
        streaming: Streaming::Whole,
        created: 0,
    };
    let headers = dialect.headers(&shared.request_id(), None);
    deliver::json(error.status, &error.envelope(), headers)
}
