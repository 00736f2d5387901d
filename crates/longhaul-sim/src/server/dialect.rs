//! Formats an answer in one of two dialects.

use bytes::Bytes;
use hyper::HeaderMap;
use serde_json::{Value, json};

use super::rate::{RateRemaining, put};
use crate::call::ApiError;
use crate::openai::{ChatError, CompletionChunks, CompletionOrigin, Streaming, completion};
use crate::reply::ApiReply;

/// The organization that every key belongs to.
const ORGANIZATION: &str = "00000000-0000-4000-8000-000000000001";

/// The dialect that a client uses.
#[derive(Debug, Clone)]
pub(super) enum ClientDialect {
    /// The Messages API.
    Messages,
    /// Chat completions.
    Chat {
        /// The requested model.
        model: String,
        /// The form of the reply.
        streaming: Streaming,
        /// The creation time in seconds since 1970.
        created: i64,
    },
}

impl ClientDialect {
    /// A reply as a whole.
    pub(super) fn whole(&self, reply: &ApiReply) -> Value {
        match self {
            Self::Messages => reply.message.clone(),
            Self::Chat { model, created, .. } => completion(
                &reply.message,
                CompletionOrigin {
                    model,
                    created: *created,
                },
            ),
        }
    }

    /// A reply as the frames of a stream.
    pub(super) fn frames(&self, reply: &ApiReply) -> Vec<Bytes> {
        let events = reply.events();
        match self {
            Self::Messages => events.iter().map(|event| event.to_sse().into()).collect(),
            Self::Chat {
                model,
                streaming,
                created,
            } => {
                let origin = CompletionOrigin {
                    model,
                    created: *created,
                };
                let mut chunks = CompletionChunks::new(origin, *streaming);
                let told = events.iter().flat_map(|event| chunks.event(&event.data));
                let mut frames: Vec<Bytes> = told.map(|chunk| data(&chunk)).collect();
                frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
                frames
            }
        }
    }

    /// An error as a separate answer.
    pub(super) fn error(&self, error: &ApiError, request_id: &str) -> (u16, Value) {
        match self {
            Self::Messages => (error.status, error.envelope(request_id)),
            Self::Chat { model, .. } => {
                let told = ChatError::translated(error, model);
                (told.status, told.envelope())
            }
        }
    }

    /// An error within a stream.
    pub(super) fn error_frame(&self, error: &ApiError) -> Bytes {
        match self {
            Self::Messages => {
                let told = json!({ "type": "error", "error": { "type": error.kind, "message": error.message } });
                format!("event: error\ndata: {told}\n\n").into()
            }
            Self::Chat { model, .. } => data(&ChatError::translated(error, model).envelope()),
        }
    }

    /// The headers of every answer.
    pub(super) fn headers(&self, request_id: &str, left: Option<RateRemaining>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match self {
            Self::Messages => {
                put(&mut headers, "request-id", request_id);
                put(&mut headers, "anthropic-organization-id", ORGANIZATION);
                if let Some(left) = left {
                    left.anthropic(&mut headers);
                }
            }
            Self::Chat { .. } => {
                put(&mut headers, "x-request-id", request_id);
                put(&mut headers, "openai-organization", ORGANIZATION);
                put(&mut headers, "openai-version", "2020-10-01");
                if let Some(left) = left {
                    left.openai(&mut headers);
                }
            }
        }
        headers
    }
}

fn data(value: &Value) -> Bytes {
    format!("data: {value}\n\n").into()
}
