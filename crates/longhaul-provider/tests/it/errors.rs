//! N5: the class of an error response, in each dialect's format.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use longhaul_provider::Error;
use longhaul_provider::error::{ErrorClass, ErrorResponse, RetryAdvice};

fn error(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Error {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect();
    let now = httpdate::parse_http_date("Sun, 15 Nov 2026 12:00:00 GMT").unwrap();
    ErrorResponse::from_http(status, &headers, body.as_bytes(), now).into_error()
}

fn anthropic(kind: &str) -> String {
    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}},"request_id":"req_b"}}"#)
}

#[test]
fn n5_anthropics_errors_are_classed() {
    let after = None;
    for (status, kind, class) in [
        (400, "invalid_request_error", ErrorClass::Invalid),
        (401, "authentication_error", ErrorClass::Auth),
        (402, "billing_error", ErrorClass::Billing),
        (403, "permission_error", ErrorClass::Auth),
        (404, "not_found_error", ErrorClass::NotFound),
        (409, "conflict_error", ErrorClass::Retry { after }),
        (413, "request_too_large", ErrorClass::TooLarge),
        (429, "rate_limit_error", ErrorClass::RateLimited { after }),
        (500, "api_error", ErrorClass::Server { after }),
        (504, "timeout_error", ErrorClass::Server { after }),
        (529, "overloaded_error", ErrorClass::Overloaded { after }),
    ] {
        let error = error(status, &[], &anthropic(kind));
        assert_eq!(error.class, class, "{status} {kind}");
        assert_eq!(
            (error.status, error.kind.as_deref()),
            (Some(status), Some(kind))
        );
        assert_eq!(error.request_id.as_deref(), Some("req_b"));
        // The same error inside a stream, where there is no status.
        let event = ErrorResponse::from_body(anthropic(kind).as_bytes()).into_error();
        assert_eq!((event.class, event.status), (class, None), "{kind}");
    }
}

#[test]
fn n5_openais_and_others_errors_are_classed() {
    let after = None;
    for (status, body, class) in [
        (
            401,
            r#"{"error":{"message":"m","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            ErrorClass::Auth,
        ),
        (
            404,
            r#"{"error":{"message":"m","type":"invalid_request_error","code":"model_not_found"}}"#,
            ErrorClass::NotFound,
        ),
        (
            429,
            r#"{"error":{"message":"m","type":"requests","code":"rate_limit_exceeded"}}"#,
            ErrorClass::RateLimited { after },
        ),
        (
            429,
            r#"{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            ErrorClass::Billing,
        ),
        (
            503,
            r#"{"error":{"message":"m","type":"server_error","code":null}}"#,
            ErrorClass::Overloaded { after },
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            ErrorClass::Billing,
        ),
        (
            429,
            r#"[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}]"#,
            ErrorClass::RateLimited { after },
        ),
        (
            500,
            r#"{"error":{"message":"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}","type":"None"}}"#,
            ErrorClass::Overloaded { after },
        ),
        (
            502,
            "<html>Bad Gateway</html>",
            ErrorClass::Server { after },
        ),
        (422, r#"{"detail":"bad"}"#, ErrorClass::Invalid),
        (400, "", ErrorClass::Invalid),
        (302, "", ErrorClass::Invalid),
    ] {
        assert_eq!(error(status, &[], body).class, class, "{status} {body}");
    }
}

#[test]
fn n5_retry_after_is_read_in_all_its_forms() {
    let after = |headers: &[(&'static str, &'static str)]| error(429, headers, "").class.after();
    assert_eq!(after(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
    assert_eq!(
        after(&[("retry-after", "1.5")]),
        Some(Duration::from_millis(1_500))
    );
    assert_eq!(
        after(&[("retry-after-ms", "250"), ("retry-after", "1")]),
        Some(Duration::from_millis(250))
    );
    assert_eq!(
        after(&[("retry-after", "Sun, 15 Nov 2026 12:00:30 GMT")]),
        Some(Duration::from_secs(30))
    );
    assert_eq!(
        after(&[("retry-after", "Sun, 15 Nov 2026 11:00:00 GMT")]),
        Some(Duration::ZERO)
    );
    for nonsense in ["-1", "soon", "NaN", "inf", "1e400", ""] {
        assert_eq!(after(&[("retry-after", nonsense)]), None, "{nonsense}");
    }
}

#[test]
fn n8_the_code_of_a_refused_thread_is_told() {
    let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"m","details":{"error_code":"thread_unsupported_request"}}}"#;
    let error = error(400, &[("request-id", "req_h")], body);
    assert_eq!(error.code.as_deref(), Some("thread_unsupported_request"));
    assert_eq!(error.request_id.as_deref(), Some("req_h"));
    assert_eq!(
        error.to_string(),
        "the request was refused: m (400, invalid_request_error, thread_unsupported_request, request req_h)"
    );
}

#[test]
fn a_compaction_that_is_unavailable_is_overload() {
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"m","details":{"error_code":"compaction_unavailable"}}}"#;
    assert!(matches!(
        error(529, &[], body).class,
        ErrorClass::Overloaded { .. }
    ));
}

#[test]
fn the_servers_word_on_trying_again_is_kept() {
    assert_eq!(
        error(500, &[("x-should-retry", "false")], "").advice,
        Some(RetryAdvice::Stop)
    );
    assert_eq!(
        error(400, &[("x-should-retry", "true")], "").advice,
        Some(RetryAdvice::Retry)
    );
    assert_eq!(error(400, &[], "").advice, None);
}

#[test]
fn bedrocks_type_is_in_a_header() {
    let headers = &[
        ("x-amzn-errortype", "ThrottlingException:http://internal"),
        ("x-amzn-requestid", "r"),
    ];
    let error = error(
        429,
        headers,
        r#"{"message":"Too many tokens, please wait"}"#,
    );
    assert_eq!(error.kind.as_deref(), Some("ThrottlingException"));
    assert_eq!(error.request_id.as_deref(), Some("r"));
    assert!(matches!(error.class, ErrorClass::RateLimited { .. }));
}

#[test]
fn a_page_instead_of_an_envelope_is_quoted_briefly() {
    let page = format!("<html>{}</html>", "x".repeat(10_000));
    assert!(error(502, &[], &page).message.len() <= 500);
}
