//! What became of a recorded call, in the few words that the screen showed when the call ended.
//!
//! A transcript records what the model was told, and nothing of what people saw. So the words are read back from the text
//! of the result and from the input, in our own wording and in that of Claude Code, whose sessions are resumed, too.

use longhaul_core::figures::{counted, counted_as};
use serde_json::Value;

use crate::screen::CallOutcome;

/// The maximum number of characters of a line.
const LINE: usize = 100;
/// The maximum number of characters of a result that is shown as it is.
const SHORT: usize = 60;

/// The outcome of a call that failed.
pub(super) fn of_failure(text: &str) -> CallOutcome {
    if is_unanswered(text) {
        return CallOutcome::None;
    }
    let first = text.lines().next().unwrap_or_default();
    let sentence = first.split_once(". ").map_or(first, |(first, _)| first);
    let why: String = sentence.trim_end_matches('.').chars().take(LINE).collect();
    CallOutcome::Failed(match why.strip_prefix("Exit code ") {
        Some(code) => format!("exit code {code}"),
        None => why,
    })
}

/// The outcome of a call of this tool with this input that succeeded with this text.
pub(super) fn of_result(name: &str, input: &Value, text: &str) -> CallOutcome {
    if is_unanswered(text) {
        return CallOutcome::None;
    }
    CallOutcome::Done(match name {
        "Read" => lines_read(text),
        "Bash" => "done".to_owned(),
        "Grep" => grep(input, text),
        "Glob" => found_files(text),
        "Edit" | "MultiEdit" => changes(input, text),
        "Write" => lines_of(input["content"].as_str().unwrap_or_default()),
        "TodoWrite" => todos(input),
        "WebSearch" | "WebFetch" | "Skill" | "recall" | "Task" | "Agent" => lines_of(text),
        "ExitPlanMode" => "agreed".to_owned(),
        "EnterPlanMode" => "plan mode is on".to_owned(),
        _ => in_short(text),
    })
}

/// Whether this is what the model is told about a call that has no result.
fn is_unanswered(text: &str) -> bool {
    text.starts_with("This call has no result:")
}

fn lines_of(text: &str) -> String {
    counted(text.lines().count() as u64, "line")
}

/// Any other result: itself if it is a short line, or its length.
fn in_short(text: &str) -> String {
    let mut lines = text.lines();
    match (lines.next(), lines.next()) {
        (None, _) => String::new(),
        (Some(only), None) if only.chars().count() <= SHORT => only.to_owned(),
        _ => lines_of(text),
    }
}

/// A line of a file begins with its number, and a tab or an arrow after it.
fn lines_read(text: &str) -> String {
    let is_numbered = |line: &&str| {
        let number = line
            .split_once(['\t', '→'])
            .map(|(number, _)| number.trim());
        number.is_some_and(|number| number.parse::<u64>().is_ok())
    };
    match text.lines().filter(is_numbered).count() {
        0 if text.starts_with("File unchanged since") => "unchanged".to_owned(),
        0 => String::new(),
        lines => counted(lines as u64, "line"),
    }
}

/// The lines of a list of results, without the remark that there are more and without a heading.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    let is_heading = |line: &str| line.starts_with("Found ") && line.ends_with(['s', 'e']);
    text.lines()
        .filter(move |line| !line.is_empty() && !line.starts_with('(') && !is_heading(line))
}

fn grep(input: &Value, text: &str) -> String {
    if is_none(text) {
        return "no matches".to_owned();
    }
    match input["output_mode"].as_str() {
        Some("content") => {
            let (lines, files) = matching_lines(text);
            found(lines, files)
        }
        Some("count") => {
            let counts =
                listed(text).filter_map(|line| line.rsplit_once(':')?.1.parse::<u64>().ok());
            let counts: Vec<u64> = counts.collect();
            found(counts.iter().sum(), counts.len() as u64)
        }
        _ => counted(listed(text).count() as u64, "file"),
    }
}

fn found(matches: u64, files: u64) -> String {
    let matches = counted_as(matches, "match", "matches");
    match files {
        0 => matches,
        files => format!("{matches} in {}", counted(files, "file")),
    }
}

/// How many lines match, and in how many files. Lines around a match have dashes in place of the colons.
fn matching_lines(text: &str) -> (u64, u64) {
    let mut lines = 0;
    let mut files: Vec<&str> = Vec::new();
    for line in listed(text) {
        let Some((file, rest)) = line.split_once(':') else {
            continue;
        };
        let number = rest.split_once(':').map(|(number, _)| number);
        if number.is_some_and(|number| number.parse::<u64>().is_ok()) {
            lines += 1;
            if files.last() != Some(&file) {
                files.push(file);
            }
        }
    }
    match lines {
        // Without numbers, lines around a match cannot be told from it.
        0 => (listed(text).count() as u64, 0),
        lines => (lines, files.len() as u64),
    }
}

fn found_files(text: &str) -> String {
    if is_none(text) {
        return "no files".to_owned();
    }
    // `(the newest 100 of 1204; …)`: the list is cut.
    let all = text.lines().last().and_then(|last| {
        let (_, rest) = last.strip_prefix("(the newest ")?.split_once(" of ")?;
        rest.split_once(';')?.0.parse().ok()
    });
    counted(all.unwrap_or_else(|| listed(text).count() as u64), "file")
}

fn is_none(text: &str) -> bool {
    ["No matches", "No files"]
        .iter()
        .any(|none| text.starts_with(none))
}

fn changes(input: &Value, text: &str) -> String {
    let edits = input["edits"].as_array().map(|edits| edits.len() as u64);
    let places = text.split_once(" places").and_then(|(before, _)| {
        let (_, number) = before.rsplit_once(" at ")?;
        number.parse().ok()
    });
    counted(places.or(edits).unwrap_or(1), "change")
}

fn todos(input: &Value) -> String {
    let todos = input["todos"].as_array().map_or(&[][..], Vec::as_slice);
    if todos.is_empty() {
        return "an empty list".to_owned();
    }
    let done = todos.iter().filter(|todo| todo["status"] == "completed");
    let done = done.count();
    format!("{} open, {done} done", todos.len() - done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(name: &str, input: Value, text: &str) -> String {
        match of_result(name, &input, text) {
            CallOutcome::Done(line) => line,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn q3_a_recorded_call_has_the_words_it_had_when_it_ended() {
        let no = || json!({});
        let content = json!({"output_mode": "content"});
        let hits = "a.rs-1-use x;\na.rs:2:fn a() {}\na.rs:9:fn b() {}\nb c.rs:4:fn c() {}";
        let three = json!({"todos": [
            {"status": "completed"}, {"status": "in_progress"}, {"status": "pending"}
        ]});
        for (name, input, text, line) in [
            ("Read", no(), "     1\ta\n     2\tb", "2 lines"),
            ("Read", no(), "     1→a\n\n<system-reminder>", "1 line"),
            (
                "Read",
                no(),
                "File unchanged since you read it",
                "unchanged",
            ),
            ("Bash", no(), "a\nb", "done"),
            ("Grep", no(), "No matches. Ignored files", "no matches"),
            ("Grep", no(), "No files found", "no matches"),
            ("Grep", no(), "Found 2 files\na.rs\nb.rs", "2 files"),
            (
                "Grep",
                no(),
                "a.rs\n(the first 1 files; there are more)",
                "1 file",
            ),
            ("Grep", content.clone(), hits, "3 matches in 2 files"),
            ("Grep", content, "fn a() {}", "1 match"),
            (
                "Grep",
                json!({"output_mode": "count"}),
                "a.rs:2\nb.rs:1",
                "3 matches in 2 files",
            ),
            ("Glob", no(), "No files match. Ignored", "no files"),
            (
                "Glob",
                no(),
                "a.rs\n(the newest 1 of 1204; use",
                "1,204 files",
            ),
            ("Edit", no(), "Changed a.rs at line 3.", "1 change"),
            (
                "Edit",
                no(),
                "Changed a.rs at 4 places, the first at line 3.",
                "4 changes",
            ),
            (
                "MultiEdit",
                json!({"edits": [{}, {}]}),
                "Applied 2 edits to a.rs:",
                "2 changes",
            ),
            (
                "Write",
                json!({"content": "a\nb\n"}),
                "Created a.rs (lines: 2).",
                "2 lines",
            ),
            (
                "TodoWrite",
                three,
                "The list is written down",
                "2 open, 1 done",
            ),
            (
                "TodoWrite",
                json!({"todos": []}),
                "The list is empty",
                "an empty list",
            ),
            ("recall", no(), "one line", "1 line"),
            ("mcp__time__now", no(), "12:30", "12:30"),
            ("mcp__time__all", no(), "12:30\n12:31", "2 lines"),
            ("KillShell", no(), "", ""),
        ] {
            assert_eq!(told(name, input, text), line, "{name}: {text}");
        }
    }

    #[test]
    fn q3_a_recorded_call_that_failed_says_why_and_one_without_a_result_does_not() {
        let failed = |why: &str| CallOutcome::Failed(why.to_owned());
        assert_eq!(of_failure("Exit code 3\n1"), failed("exit code 3"));
        assert_eq!(
            of_failure("It is gone. Look elsewhere."),
            failed("It is gone")
        );
        let none = "This call has no result: the program ended.";
        assert_eq!(of_failure(none), CallOutcome::None);
        assert_eq!(of_result("Bash", &json!({}), none), CallOutcome::None);
    }
}
