//! Reads the input that a model sent to the tool. Reading is lenient: models leave fields empty that they do not mean.

use serde_json::{Map, Value};

use super::fragment;

/// A call that can be answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RecallToolInput {
    pub(super) wanted: RecallTarget,
    pub(super) offset: u64,
}

/// What the call asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RecallTarget {
    Id(String),
    Path(String),
    Words(String),
}

impl RecallToolInput {
    /// Reads the input; an error says what is wrong with it.
    pub(super) fn read(json: &str) -> Result<Self, String> {
        let input: Map<String, Value> =
            serde_json::from_str(json).map_err(|_| fragment::NOT_AN_OBJECT.text().to_owned())?;
        let mut wanted = Vec::new();
        for (name, make) in [
            ("id", RecallTarget::Id as fn(String) -> RecallTarget),
            ("path", RecallTarget::Path),
            ("query", RecallTarget::Words),
        ] {
            match input.get(name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) if text.trim().is_empty() => {}
                Some(Value::String(text)) => wanted.push(make(text.trim().to_owned())),
                Some(_) => return Err(fragment::NOT_A_STRING.with(&[("name", name)])),
            }
        }
        let offset = match input.get("offset") {
            None | Some(Value::Null) => Some(0),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) if text.trim().is_empty() => Some(0),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        let offset = offset.ok_or_else(|| fragment::BAD_OFFSET.text().to_owned())?;
        match (wanted.pop(), wanted.is_empty()) {
            (Some(wanted), true) => Ok(Self { wanted, offset }),
            (Some(_), false) => Err(fragment::SEVERAL.text().to_owned()),
            (None, _) => Err(fragment::NONE.text().to_owned()),
        }
    }
}
