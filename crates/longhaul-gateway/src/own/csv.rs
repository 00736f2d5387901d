//! Tables as CSV (RFC 4180), for spreadsheets.
//!
//! A spreadsheet runs a cell that begins like a formula, and names of models come from clients. Such a text gets an
//! apostrophe in front, which spreadsheets take as "this is text". Numbers stay numbers.

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use serde_json::Value;

use crate::own_body::OwnBody;

/// The first characters of a text that a spreadsheet would run.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A table whose columns are fields of JSON objects.
pub(super) struct CsvTable {
    columns: Vec<String>,
    text: String,
}

impl CsvTable {
    /// An empty table. A column such as `usage.input_tokens` is a field of a field.
    pub(super) fn new(columns: &[&str]) -> Self {
        let mut table = Self {
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            text: String::new(),
        };
        let names = table.columns.iter().map(|name| name.replace('.', "_"));
        table.text = names.collect::<Vec<_>>().join(",") + "\r\n";
        table
    }

    /// Adds an object as a row.
    pub(super) fn push(&mut self, row: &Value) {
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            let value = column
                .split('.')
                .try_fold(row, |value, name| value.get(name));
            self.text.push_str(&cell(value.unwrap_or(&Value::Null)));
        }
        self.text.push_str("\r\n");
    }

    /// The table as a file of this name.
    pub(super) fn answer(self, name: &str) -> Response<OwnBody> {
        let mut answer = Response::new(OwnBody::whole(Bytes::from(self.text)));
        let headers = answer.headers_mut();
        let kind = HeaderValue::from_static("text/csv; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, kind);
        let saved = HeaderValue::try_from(format!("attachment; filename=\"{name}.csv\""));
        headers.extend(saved.ok().map(|saved| (header::CONTENT_DISPOSITION, saved)));
        answer
    }
}

fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::String(text) => text,
        other => return other.to_string(),
    };
    let is_formula = text
        .trim_start_matches([' ', '\u{a0}'])
        .starts_with(FORMULA);
    let text = match is_formula {
        true => format!("'{text}"),
        false => text.clone(),
    };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn n8_no_cell_is_a_formula_and_numbers_stay_numbers() {
        let mut table = CsvTable::new(&["name", "usage.in", "saved"]);
        for name in ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1"] {
            table.push(&json!({"name": name, "usage": {"in": -3}, "saved": -0.5}));
        }
        table.push(&json!({"name": "a,\"b\"\nc", "saved": null}));
        let rows: Vec<&str> = table.text.split("\r\n").collect();
        assert_eq!(rows[0], "name,usage_in,saved");
        assert_eq!(rows[1], "'=1+1,-3,-0.5");
        assert!(
            rows[1..8]
                .iter()
                .all(|row| row.trim_start_matches('"').starts_with('\''))
        );
        assert!(
            table.text.ends_with("\"a,\"\"b\"\"\nc\",,\r\n"),
            "{}",
            table.text
        );
    }
}
