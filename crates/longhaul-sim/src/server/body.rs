//! Reads the body of a request, up to the API's size limit.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};

use crate::call::ApiError;

/// The maximum size of a request: 32 MB.
pub const LIMIT: usize = 32 << 20;

/// How long the server keeps receiving a body that is too large. A client that is answered before it has sent
/// everything may see a broken connection instead of the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads the whole body. A body that is too large is refused without being kept.
pub(super) async fn read(headers: &HeaderMap, mut body: Body) -> Result<Bytes, ApiError> {
    if length(headers).is_some_and(|length| length > LIMIT as u64) {
        // A client that asks first need not send the body at all.
        if !headers.contains_key(EXPECT) {
            discard(body).await;
        }
        return Err(too_large());
    }
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(ApiError::invalid("The request body could not be read"));
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if read.len() + data.len() > LIMIT {
            drop(read);
            discard(body).await;
            return Err(too_large());
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

/// Whether the body's content type is JSON, ignoring parameters. The error is the content type.
pub(super) fn is_json(headers: &HeaderMap) -> Result<(), String> {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes());
    let kind = String::from_utf8_lossy(kind.unwrap_or_default()).into_owned();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(kind)
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn discard(mut body: Body) {
    let rest = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = tokio::time::timeout(PATIENCE, rest).await;
}

fn too_large() -> ApiError {
    ApiError {
        status: 413,
        kind: "request_too_large",
        ..ApiError::invalid("Request exceeds the maximum size")
    }
}
