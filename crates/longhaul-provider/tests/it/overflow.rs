//! L1: prompts that are too long are recognized in every wording, with the numbers where they are given.

use http::HeaderMap;
use longhaul_provider::error::{ErrorClass, ErrorResponse, PromptOverflow};
use std::time::SystemTime;

fn class(status: u16, body: &str) -> ErrorClass {
    ErrorResponse::from_http(
        status,
        &HeaderMap::new(),
        body.as_bytes(),
        SystemTime::UNIX_EPOCH,
    )
    .into_error()
    .class
}

fn told(message: &str) -> Option<(Option<u64>, Option<u64>)> {
    let body =
        serde_json::json!({ "error": { "message": message, "type": "invalid_request_error" } });
    match class(400, &body.to_string()) {
        ErrorClass::TooLong(PromptOverflow { actual, limit }) => Some((actual, limit)),
        _ => None,
    }
}

#[test]
fn l1_every_wording_is_recognized_with_its_numbers() {
    let cases: &[(&str, Option<u64>, Option<u64>)] = &[
        // Anthropic, Vertex.
        (
            "prompt is too long: 208310 tokens > 200000 maximum",
            Some(208_310),
            Some(200_000),
        ),
        ("Prompt is too long", None, None),
        (
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again",
            Some(242_959),
            Some(200_000),
        ),
        // Bedrock.
        (
            "ValidationException: Input is too long for requested model.",
            None,
            None,
        ),
        // Gemini.
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            Some(1_200_000),
            Some(1_048_576),
        ),
        (
            "The input token count exceeds the maximum number of tokens allowed (1,048,576).",
            None,
            Some(1_048_576),
        ),
        // OpenAI: chat, Responses; and servers that follow it.
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages.",
            Some(130_001),
            Some(128_000),
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
            Some(9_000),
            Some(8_192),
        ),
        (
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input).",
            Some(140_000),
            Some(131_072),
        ),
        (
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            None,
            None,
        ),
        ("context_length_exceeded", None, None),
        ("Context length exceeded", None, None),
        // Other servers.
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            Some(537_812),
            Some(131_072),
        ),
        (
            "Please reduce the length of the messages or completion.",
            None,
            None,
        ),
        (
            "prompt token count of 132000 exceeds the limit of 128000",
            Some(132_000),
            Some(128_000),
        ),
        (
            "the request exceeds the available context size. try increasing the context size or enable context shift",
            None,
            None,
        ),
        (
            "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
            Some(5_000),
            Some(4_096),
        ),
        (
            "The number of tokens to keep from the initial prompt is greater than the context length.",
            None,
            None,
        ),
        (
            "invalid params, context window exceeds limit (2013)",
            None,
            None,
        ),
        (
            "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)",
            Some(291_351),
            Some(262_144),
        ),
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            Some(40_000),
            Some(32_768),
        ),
        (
            "Range of input length should be [1, 98304]",
            None,
            Some(98_304),
        ),
        ("capability_rejected: prompt_too_long", None, None),
        ("Request Entity Too Large", None, None),
    ];
    for (message, actual, limit) in cases {
        assert_eq!(told(message), Some((*actual, *limit)), "{message}");
    }
}

#[test]
fn l1_the_gap_is_what_has_to_go() {
    let gap = |actual, limit| PromptOverflow { actual, limit }.gap();
    assert_eq!(gap(Some(208_310), Some(200_000)), Some(8_310));
    assert_eq!(gap(Some(200_000), Some(200_000)), None);
    assert_eq!(gap(Some(1), Some(200_000)), None);
    assert_eq!(gap(None, Some(200_000)), None);
    assert_eq!(gap(Some(1), None), None);
}

#[test]
fn l1_codes_count_whatever_the_text() {
    let body = r#"{"error":{"message":"no","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    assert_eq!(
        class(400, body),
        ErrorClass::TooLong(PromptOverflow::default())
    );
    let llama = r#"{"error":{"code":400,"message":"too big","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#;
    let numbers = PromptOverflow {
        actual: Some(5_000),
        limit: Some(4_096),
    };
    assert_eq!(class(400, llama), ErrorClass::TooLong(numbers));
}

#[test]
fn l1_envelopes_around_the_text_are_opened() {
    let numbers = PromptOverflow {
        actual: Some(201),
        limit: Some(200),
    };
    let inner = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 201 tokens > 200 maximum"}}"#;
    let bedrock = r#"{"message":"prompt is too long: 201 tokens > 200 maximum"}"#;
    let vertex = serde_json::json!([{ "error": { "code": 400, "message": inner, "status": "INVALID_ARGUMENT" } }]).to_string();
    let gateway = serde_json::json!({ "error": { "message": format!("upstream said: {inner}"), "type": "None", "code": "400" } }).to_string();
    for body in [
        inner,
        bedrock,
        &vertex,
        &gateway,
        "prompt is too long: 201 tokens > 200 maximum",
    ] {
        assert_eq!(class(400, body), ErrorClass::TooLong(numbers), "{body}");
    }
    // Gateways that turn every upstream failure into one of their own.
    assert_eq!(class(500, &gateway), ErrorClass::TooLong(numbers));
}

#[test]
fn l1_what_only_sounds_like_it_is_not_an_overflow() {
    for (status, body) in [
        (400, ""),
        (400, " \n"),
        (400, "{}"),
        (400, r#"{"error":{"message":""}}"#),
        (
            400,
            r#"{"error":{"message":"messages.0.content.0.image: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"metadata.user_id: string too long"}}"#,
        ),
        (
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ),
        (
            413,
            "<html><title>413 Request Entity Too Large</title></html>",
        ),
        (
            429,
            r#"{"error":{"message":"token usage exceeds the limit of 30000 tokens per minute","type":"rate_limit_error"}}"#,
        ),
        (
            404,
            r#"{"error":{"message":"prompt is too long","type":"not_found_error"}}"#,
        ),
    ] {
        let class = class(status, body);
        assert!(
            !matches!(class, ErrorClass::TooLong(_)),
            "{status} {body}: {class:?}"
        );
    }
}
