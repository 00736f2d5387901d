//! How long calls took: counted by the database in classes, so that a year of calls takes no more memory than a day.

/// What is timed, from when the request arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallSpan {
    /// Until the answer began.
    Beginning,
    /// Until the answer ended.
    Whole,
}

/// Calls to a model that took about as long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatencyRow {
    /// The requested model.
    pub model: String,
    /// What is timed.
    pub span: CallSpan,
    /// How long it took, in milliseconds, rounded down to three digits.
    pub millis: u64,
    /// How many calls took that long.
    pub calls: u64,
}

/// The most rows that are read: 16 models with every class of both kinds, or more models with fewer classes each.
pub(super) const MOST: usize = 100_000;

/// The expression that rounds a column of milliseconds down to three digits. Both databases divide whole numbers so.
pub(super) fn rounded(column: &str) -> String {
    let steps = (1..=5).rev().map(|digits| {
        let (step, from) = (10_u64.pow(digits), 10_u64.pow(digits + 2));
        format!("WHEN {column} >= {from} THEN {column} / {step} * {step}")
    });
    let steps: Vec<String> = steps.collect();
    format!("CASE {} ELSE {column} END", steps.join(" "))
}

/// The statement: `from` is the beginning and `until` the end, as the database writes parameters. Calls that failed are
/// not counted: they would make a server that refuses quickly look fast.
pub(super) fn statement(table: &str, (from, until): (&str, &str)) -> String {
    let part = |class: u8, column: &str| {
        let rounded = rounded(column);
        format!(
            "SELECT model, CAST({class} AS BIGINT), {rounded}, count(*) FROM {table}
             WHERE at >= {from} AND at < {until} AND status < 400 AND ended = 'whole' AND NOT own AND {column} IS NOT NULL
             GROUP BY 1, 2, 3"
        )
    };
    let (began, whole) = (part(0, "began"), part(1, "millis"));
    format!("{began} UNION ALL {whole} LIMIT {MOST}")
}
