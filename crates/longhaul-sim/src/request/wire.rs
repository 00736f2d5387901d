//! From bytes to JSON: size, encoding and syntax, with the API's wording for errors.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::call::ApiError;

/// The maximum size of a body.
pub(super) const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The fields of an object, each as it was sent. If a field is sent twice, the last one counts.
pub(super) type Raw<'a> = BTreeMap<String, &'a RawValue>;

/// The top level of a body.
pub(super) fn body(bytes: &[u8]) -> Result<Raw<'_>, ApiError> {
    if bytes.len() > MOST_BYTES {
        return Err(ApiError {
            status: 413,
            kind: "request_too_large",
            message: "Request exceeds the maximum size".into(),
            code: None,
            retry_after: None,
        });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
        not_json("str is not valid UTF-8: surrogates not allowed", &before)
    })?;
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| syntax(&error, text));
    }
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) => Err(ApiError::invalid("Input should be a valid dictionary")),
        Err(error) => Err(syntax(&error, text)),
    }
}

/// Parses a part of a body. Its syntax is known to be valid, but a string may still hold half a surrogate pair and the
/// nesting may be too deep.
pub(super) fn value(raw: &RawValue) -> Result<Value, ApiError> {
    serde_json::from_str(raw.get()).map_err(|error| syntax(&error, raw.get()))
}

fn syntax(error: &serde_json::Error, text: &str) -> ApiError {
    let what = error.to_string();
    let what = match () {
        () if what.contains("surrogate") || what.contains("hex escape") => {
            "no low surrogate in string"
        }
        () if what.contains("recursion") => "recursion limit reached",
        () if error.is_eof() => "unexpected end of data",
        () if what.contains("control character") => "unexpected control character in string",
        () if what.contains("trailing characters") => "unexpected content after document",
        () => "unexpected character",
    };
    let lines = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    let end = if error.is_eof() {
        text.len()
    } else {
        (start + error.column().saturating_sub(1)).min(text.len())
    };
    let end = (0..=end)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    not_json(what, text.get(..end).unwrap_or_default())
}

fn not_json(what: &str, before: &str) -> ApiError {
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |line| line.chars().count())
        + 1;
    let char = before.chars().count();
    ApiError::invalid(format!(
        "The request body is not valid JSON: {what}: line {line} column {column} (char {char})"
    ))
}
