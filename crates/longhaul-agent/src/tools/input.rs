//! Parses the input of a call. Models sometimes write numbers and booleans as text; that is accepted.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::tool::ToolCallOutput;

/// The parsed input of a call, or the error result for an invalid one.
pub(super) fn read<T: DeserializeOwned>(tool: &str, input: Value) -> Result<T, ToolCallOutput> {
    serde_json::from_value(input).map_err(|error| {
        ToolCallOutput::error(format!(
            "{tool} was not run: its input does not fit ({error}). Call it again with the fields of its definition."
        ))
    })
}

/// A text field of an input, for display only.
pub(super) fn text<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A whole number, 0 or more; also written as `"20"` or `20.0`.
pub(super) fn count<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(input)?;
    let count = match &value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_u64().or_else(|| {
            let whole = number
                .as_f64()
                .filter(|it| it.fract() == 0.0 && (0.0..1e15).contains(it));
            whole.map(|it| it as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let count = count
        .ok_or_else(|| D::Error::custom(format!("{value} is no whole number of 0 or more")))?;
    Ok(Some(count))
}

/// A boolean; also written as `"true"`.
pub(super) fn switch<'de, D: Deserializer<'de>>(input: D) -> Result<Option<bool>, D::Error> {
    match Value::deserialize(input)? {
        Value::Null => Ok(None),
        Value::Bool(on) => Ok(Some(on)),
        Value::String(text) if text == "true" => Ok(Some(true)),
        Value::String(text) if text == "false" => Ok(Some(false)),
        value => Err(D::Error::custom(format!(
            "{value} is neither true nor false"
        ))),
    }
}
