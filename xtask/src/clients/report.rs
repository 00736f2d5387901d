//! The checks and their results, as a table or as JSON.

use serde_json::{Value, json};

use crate::TaskResult;

/// The format of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportShape {
    /// For people: one line per check, printed as it finishes.
    Table,
    /// For programs: printed at the end.
    Json,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CheckEnding {
    Held,
    Failed(String),
    /// The check does not apply here, with the reason.
    Skipped(String),
}

/// A check and its result.
struct CheckRow {
    client: String,
    version: String,
    check: String,
    ending: CheckEnding,
}

/// All results so far.
pub(super) struct ClientReport {
    shape: ReportShape,
    client: (String, String),
    rows: Vec<CheckRow>,
}

impl ClientReport {
    pub(super) fn new(shape: ReportShape) -> Self {
        Self {
            shape,
            client: (String::new(), String::new()),
            rows: Vec::new(),
        }
    }

    /// Starts the results of this client.
    pub(super) fn begin(&mut self, client: &str, version: &str) {
        self.client = (client.to_owned(), version.to_owned());
    }

    /// Records that a check passed.
    pub(super) fn held(&mut self, check: &str) {
        self.add(check, CheckEnding::Held);
    }

    /// Records that a check failed, and why.
    pub(super) fn failed(&mut self, check: &str, why: String) {
        self.add(check, CheckEnding::Failed(why));
    }

    /// Records that a check was skipped, and why.
    pub(super) fn skipped(&mut self, check: &str, why: &str) {
        self.add(check, CheckEnding::Skipped(why.to_owned()));
    }

    /// Records the outcome of a check.
    pub(super) fn told(&mut self, check: &str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.held(check),
            Err(why) => self.failed(check, why),
        }
    }

    #[expect(clippy::print_stdout, reason = "stdout is data, and the table is it")]
    fn add(&mut self, check: &str, ending: CheckEnding) {
        let (client, version) = self.client.clone();
        let row = CheckRow {
            client,
            version,
            check: check.to_owned(),
            ending,
        };
        if self.shape == ReportShape::Table {
            println!("{}", row.line());
        }
        self.rows.push(row);
    }

    /// Prints the rest of the report, and returns an error unless all checks passed.
    #[expect(clippy::print_stdout, reason = "stdout is data")]
    pub(super) fn finish(self) -> TaskResult {
        let count = |wanted: fn(&CheckEnding) -> bool| {
            let endings = self.rows.iter().map(|row| &row.ending);
            endings.filter(|ending| wanted(ending)).count()
        };
        let failed = count(|ending| matches!(ending, CheckEnding::Failed(_)));
        if self.shape == ReportShape::Json {
            let rows: Vec<Value> = self.rows.iter().map(CheckRow::json).collect();
            println!("{:#}", Value::from(rows));
        }
        match failed {
            0 => Ok(()),
            _ => Err(vec![format!(
                "{failed} of {} checks failed",
                self.rows.len()
            )]),
        }
    }
}

impl CheckRow {
    fn line(&self) -> String {
        let ending = match &self.ending {
            CheckEnding::Held => "ok".to_owned(),
            CheckEnding::Failed(why) => format!("FAILED: {why}"),
            CheckEnding::Skipped(why) => format!("skipped: {why}"),
        };
        format!(
            "{:<22}{:<10}{:<56}{ending}",
            self.client, self.version, self.check
        )
    }

    fn json(&self) -> Value {
        let (ok, why) = match &self.ending {
            CheckEnding::Held => (Some(true), None),
            CheckEnding::Failed(why) => (Some(false), Some(why)),
            CheckEnding::Skipped(why) => (None, Some(why)),
        };
        json!({ "client": self.client, "version": self.version, "check": self.check, "ok": ok, "why": why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_check_fails_all_and_a_skipped_one_does_not() {
        let mut report = ClientReport::new(ReportShape::Table);
        report.begin("some-client", "1.0");
        report.held("message");
        report.skipped("long", "nothing is managed");
        let row = report.rows.last().map(CheckRow::json).unwrap_or_default();
        assert_eq!(row["ok"], Value::Null);
        report.failed("stream", "it ended early".to_owned());
        assert_eq!(
            report.finish(),
            Err(vec!["1 of 3 checks failed".to_owned()])
        );
    }
}
