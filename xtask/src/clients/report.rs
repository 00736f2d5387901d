//! What was tried and how it ended, as a table or as JSON.

use serde_json::{Value, json};

use crate::Outcome;

/// How the report looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// For people, a line a check, as it goes.
    Table,
    /// For programs, at the end.
    Json,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ending {
    Held,
    Failed(String),
    /// It says nothing here.
    Skipped(String),
}

/// A check that was tried.
struct Row {
    client: String,
    version: String,
    check: String,
    ending: Ending,
}

/// All of them.
pub(super) struct Report {
    shape: Shape,
    client: (String, String),
    rows: Vec<Row>,
}

impl Report {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            client: (String::new(), String::new()),
            rows: Vec::new(),
        }
    }

    /// What follows is about this client.
    pub(super) fn begin(&mut self, client: &str, version: &str) {
        self.client = (client.to_owned(), version.to_owned());
    }

    /// A check held.
    pub(super) fn held(&mut self, check: &str) {
        self.add(check, Ending::Held);
    }

    /// A check failed, and why.
    pub(super) fn failed(&mut self, check: &str, why: String) {
        self.add(check, Ending::Failed(why));
    }

    /// A check was left out, and why.
    pub(super) fn skipped(&mut self, check: &str, why: &str) {
        self.add(check, Ending::Skipped(why.to_owned()));
    }

    /// A check held, or what was wrong.
    pub(super) fn told(&mut self, check: &str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.held(check),
            Err(why) => self.failed(check, why),
        }
    }

    #[expect(clippy::print_stdout, reason = "stdout is data, and the table is it")]
    fn add(&mut self, check: &str, ending: Ending) {
        let (client, version) = self.client.clone();
        let row = Row {
            client,
            version,
            check: check.to_owned(),
            ending,
        };
        if self.shape == Shape::Table {
            println!("{}", row.line());
        }
        self.rows.push(row);
    }

    /// Tells the rest, and whether all held.
    #[expect(clippy::print_stdout, reason = "stdout is data")]
    pub(super) fn finish(self) -> Outcome {
        let count = |wanted: fn(&Ending) -> bool| {
            let endings = self.rows.iter().map(|row| &row.ending);
            endings.filter(|ending| wanted(ending)).count()
        };
        let failed = count(|ending| matches!(ending, Ending::Failed(_)));
        if self.shape == Shape::Json {
            let rows: Vec<Value> = self.rows.iter().map(Row::json).collect();
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

impl Row {
    fn line(&self) -> String {
        let ending = match &self.ending {
            Ending::Held => "ok".to_owned(),
            Ending::Failed(why) => format!("FAILED: {why}"),
            Ending::Skipped(why) => format!("left out: {why}"),
        };
        format!(
            "{:<22}{:<10}{:<56}{ending}",
            self.client, self.version, self.check
        )
    }

    fn json(&self) -> Value {
        let (ok, why) = match &self.ending {
            Ending::Held => (Some(true), None),
            Ending::Failed(why) => (Some(false), Some(why)),
            Ending::Skipped(why) => (None, Some(why)),
        };
        json!({ "client": self.client, "version": self.version, "check": self.check, "ok": ok, "why": why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_check_fails_all_and_a_skipped_one_does_not() {
        let mut report = Report::new(Shape::Table);
        report.begin("some-client", "1.0");
        report.held("message");
        report.skipped("long", "nothing is managed");
        let row = report.rows.last().map(Row::json).unwrap_or_default();
        assert_eq!(row["ok"], Value::Null);
        report.failed("stream", "it ended early".to_owned());
        assert_eq!(
            report.finish(),
            Err(vec!["1 of 3 checks failed".to_owned()])
        );
    }
}
