//! Removes from a command's output what a terminal would not show: colors, control characters, overwritten lines.

use anstream::adapter::strip_str;

/// The visible text of the output. Bytes that are not UTF-8 are replaced.
pub(super) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let plain = strip_str(&text).to_string();
    let mut clean = String::with_capacity(plain.len());
    for line in plain.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let line = line.trim_end_matches('\r');
        // Progress bars return to the start of the line; only the last state would be visible.
        let seen = line.rsplit('\r').next().unwrap_or(line);
        clean.extend(seen.chars().filter(|it| !it.is_control() || *it == '\t'));
        clean.push_str(end);
    }
    clean
}
