//! What is reported of how a compacted prefix was made: what was lost, which results went, which decision by price led to
//! it. In memory it is this; a store has it as one JSON object, which is written and read here alone.

use longhaul_core::economy::EconomyRecord;
use longhaul_core::report::LossReport;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CompactedPrefixKind;

/// The fields of the stored object besides those of the loss report.
const WENT: &str = "went";
const ECONOMY: &str = "economy";
const SETTLED: &str = "settled";

/// What is reported of how a prefix was made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrefixReport {
    /// What was lost; `None` if nothing was made smaller, or if the stored report cannot be read.
    pub loss: Option<LossReport>,
    /// The tool results that are no longer sent; `None` if there are none, or if an earlier version did not list them.
    pub went: Option<ResultsThatWent>,
    /// The decision by price that led to the prefix, if one did (V6).
    pub economy: Option<EconomyRecord>,
    /// The kind of the prefix before it was settled, if this is the report of one that was.
    pub settled: Option<CompactedPrefixKind>,
}

/// The tool results that are no longer sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultsThatWent {
    /// The largest of them, the largest first.
    pub results: Vec<ResultThatWent>,
    /// How many more there are.
    pub more: u64,
    /// Whether the model has a tool that brings them back; the client has them in any case.
    pub recallable: bool,
}

/// A result that is no longer sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultThatWent {
    /// The id of its call, by which it can be recalled.
    pub call: String,
    /// The name of the tool.
    pub tool: String,
    /// A file, a command or a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Its size, estimated.
    pub tokens: u64,
}

impl PrefixReport {
    /// The report of a compaction.
    pub(crate) fn of(loss: LossReport) -> Self {
        Self {
            loss: Some(loss),
            ..Self::default()
        }
    }

    /// Reads a stored report, as far as it is intact.
    pub fn read(stored: &str) -> Self {
        let Ok(Value::Object(mut fields)) = serde_json::from_str(stored) else {
            return Self::default();
        };
        let economy = fields.remove(ECONOMY).map(|record| record.to_string());
        Self {
            went: taken(&mut fields, WENT),
            economy: economy.and_then(|record| EconomyRecord::read(record.as_bytes())),
            settled: taken(&mut fields, SETTLED),
            loss: match fields.is_empty() {
                true => None,
                false => serde_json::from_value(Value::Object(fields)).ok(),
            },
        }
    }

    /// The report as a store has it.
    pub fn to_json(&self) -> Value {
        let mut fields = match serde_json::to_value(&self.loss) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        put(&mut fields, WENT, self.went.as_ref());
        put(&mut fields, ECONOMY, self.economy.as_ref());
        put(&mut fields, SETTLED, self.settled.as_ref());
        Value::Object(fields)
    }
}

/// A field that is taken out of a report; `None` if it is not there or cannot be read.
fn taken<T: DeserializeOwned>(fields: &mut Map<String, Value>, name: &str) -> Option<T> {
    serde_json::from_value(fields.remove(name)?).ok()
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Option<&impl Serialize>) {
    if let Some(Ok(value)) = value.map(serde_json::to_value) {
        fields.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A report as earlier versions stored it.
    fn stored() -> Value {
        json!({
            "tokens": {"before": 9, "after": 5},
            "user_messages": {"total": 2, "verbatim": 2, "shortened": 0, "omitted": 0},
            "rules": {"total": 0, "verbatim": 0},
            "files": {"touched": 0, "restored": 0, "left_out": 0},
            "todos": {"open": 0, "kept": 0},
            "results": {"cleared": 3, "archived": 0},
            "notes": ["one"],
            "economy": {"policy": "clear", "action": "clear", "priceUsd": 0.5, "rentUsd": 0.75, "tokensFreed": 4,
                "savedPerRequestUsd": 0.25, "payBackRequests": 2},
            "went": {"results": [{"call": "c", "tool": "Read", "about": "a.rs", "tokens": 4}], "more": 2,
                "recallable": true},
        })
    }

    #[test]
    fn y3_a_stored_report_is_read_and_written_unchanged() {
        let report = PrefixReport::read(&stored().to_string());
        assert_eq!(report.to_json(), stored());
        assert_eq!(report.loss.as_ref().unwrap().results.cleared, 3);
        let empty = PrefixReport::read("{}");
        assert_eq!(
            (&empty, empty.to_json()),
            (&PrefixReport::default(), json!({}))
        );
    }

    #[test]
    fn y3_a_damaged_part_of_a_report_does_not_take_the_rest_with_it() {
        let mut damaged = stored();
        damaged["economy"]["priceUsd"] = json!("dear");
        damaged["went"] = json!([]);
        damaged["settled"] = json!("unheard of");
        let report = PrefixReport::read(&damaged.to_string());
        assert_eq!(
            (&report.economy, &report.went, report.settled),
            (&None, &None, None)
        );
        assert_eq!(report.loss.unwrap().results.cleared, 3);
        assert_eq!(PrefixReport::read("no JSON"), PrefixReport::default());
    }
}
