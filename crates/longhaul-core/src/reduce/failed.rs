//! Whether a text is the result of a call that failed. Chat completions have no field for that: what the host of the
//! tool wrote is all there is. So this reads the ways in which programs and hosts report a failure. A text that merely
//! looks like one is sent as it came, which costs some tokens; an error that is not recognized could be shortened.

use crate::json::ObjectReader;

/// How the first line of an error begins, in any case.
const BEGINNINGS: [&str; 24] = [
    "error:",
    "error[",
    "error -",
    "error calling",
    "error executing",
    "error invoking",
    "error occurred",
    "error running",
    "error while",
    "an error occurred",
    "[error",
    "<error",
    "<tool_use_error",
    "exception:",
    "failed:",
    "failed to ",
    "fatal:",
    "fatal error",
    "panic:",
    "command failed",
    "permission denied",
    "tool error",
    "tool execution failed",
    "traceback (most recent call last)",
];
/// What stands before the number in a line about how a command ended, in any case.
const EXITS: [&str; 7] = [
    "exit code",
    "exit status",
    "exit_code",
    "exited with",
    "exitcode",
    "return code",
    "returncode",
];
/// How a trace of Python begins; its last line names the error.
const TRACEBACK: &str = "Traceback (most recent call last)";
/// Hosts say how a command ended before its output or after it, within this many lines.
const NEAR_AN_END: usize = 6;
/// Longer lines are output, not a word of the host.
const LONGEST: usize = 200;

/// Whether a result reports that its call failed, as far as its text shows that.
///
/// ```
/// use longhaul_core::reduce::reports_failure;
///
/// assert!(reports_failure("Error: no such file"));
/// assert!(reports_failure(r#"{"error": {"message": "not found"}}"#));
/// assert!(reports_failure("12 passed, 1 failed\nExit code: 101"));
/// assert!(!reports_failure("12 passed\nExit code: 0"));
/// ```
pub fn reports_failure(text: &str) -> bool {
    let text = text.trim();
    if text.starts_with('{') {
        return is_failed_object(text.as_bytes());
    }
    let first = text.lines().next().unwrap_or_default();
    let last = text.lines().next_back().unwrap_or_default();
    begins_as_error(first)
        || names_error(first)
        || (names_error(last) && text.contains(TRACEBACK))
        || ends_of(text).any(says_failed_exit)
}

/// The first and the last lines of a text.
fn ends_of(text: &str) -> impl Iterator<Item = &str> {
    let first = text.lines().take(NEAR_AN_END);
    first.chain(text.lines().rev().take(NEAR_AN_END))
}

fn begins_as_error(line: &str) -> bool {
    let begins = |with: &&str| {
        let start = line.as_bytes().get(..with.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
    };
    BEGINNINGS.iter().any(begins)
        || (line.starts_with("thread '") && line.contains("panicked at"))
        || (line.len() <= LONGEST && line.ends_with("command not found"))
}

/// Whether a line begins with the name of an error's class: `ValueError: …`.
fn names_error(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else {
        return false;
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._".contains(&byte);
    name.bytes().all(is_name) && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Whether a line says that a command ended with another code than 0.
fn says_failed_exit(line: &str) -> bool {
    if line.len() > LONGEST {
        return false;
    }
    let line = line.to_ascii_lowercase();
    EXITS.iter().any(|word| {
        let after = line.split_once(word).map(|(_, after)| after);
        after.is_some_and(|after| is_failed_code(after.trim_start_matches(is_beside_code)))
    })
}

/// What stands between the words about an exit and its code: `: `, `=`, ` code `, ` status: `.
fn is_beside_code(letter: char) -> bool {
    letter.is_ascii_alphabetic() || " :=\"'_".contains(letter)
}

/// Whether a text begins with a number that is not 0.
fn is_failed_code(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let digits = digits.bytes().take_while(u8::is_ascii_digit);
    digits.into_iter().any(|digit| digit != b'0')
}

/// Whether an object has an error, or says that a command failed.
fn is_failed_object(json: &[u8]) -> bool {
    let object = ObjectReader::new(json);
    let is = |name: &str, value: &[u8]| object.get(name) == Some(value);
    let error = object.get("error").unwrap_or(b"null");
    let has_error = ![&b"null"[..], b"false", b"\"\"", b"{}", b"[]"].contains(&error);
    let codes = [Some(object), object.object("metadata")];
    let mut codes = codes.into_iter().flatten().flat_map(|object| {
        let names = ["exit_code", "exitCode", "returncode"];
        names.into_iter().filter_map(move |name| object.get(name))
    });
    has_error
        || ["is_error", "isError"].iter().any(|name| is(name, b"true"))
        || is("success", b"false")
        || codes.any(|code| str::from_utf8(code).is_ok_and(is_failed_code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v8_texts_that_report_a_failure_are_recognized() {
        for text in [
            "Error: ENOENT: no such file or directory",
            "error: could not compile `a`",
            "  ERROR: relation does not exist",
            "error[E0382]: use of moved value",
            "An error occurred while reading the page.",
            "fatal: not a git repository",
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'",
            "collected 3 items\nTraceback (most recent call last):\n  File \"a.py\"\nValueError: no",
            "requests.exceptions.HTTPError: 404",
            "bash: foo: command not found",
            "thread 'main' panicked at src/main.rs:4:5:\nboom",
            "<tool_use_error>File has not been read</tool_use_error>",
            "Exit code 1\nnpm ERR!",
            "Wall time: 2 s\nProcess exited with code 101\nOutput:\nlong output",
            "one\ntwo\nexit status: 2",
            "one\n[exit_code=-9]",
            r#"{"error": "not found"}"#,
            r#"{"output": "x", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}"#,
            r#"{"isError": true, "content": []}"#,
            r#"{"success": false}"#,
        ] {
            assert!(reports_failure(text), "{text}");
        }
    }

    #[test]
    fn v8_texts_that_only_mention_errors_are_not_failures() {
        for text in [
            "",
            "src/error.rs:4: pub enum Error {",
            "     1\tError: this is the first line of a file",
            "12 passed\nExit code: 0",
            "Process exited with code 0\nOutput:\nerror: the word in a log",
            "The exit code is printed at the end.",
            r#"{"error": null, "output": "x"}"#,
            r#"{"output": "x", "metadata": {"exit_code": 0}}"#,
            r#"{"errors": 3, "success": true}"#,
            "note: see the Error: below",
            "two\nwords\nAssertionError: in a log\nwithout a trace",
        ] {
            assert!(!reports_failure(text), "{text}");
        }
    }
}
