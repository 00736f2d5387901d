//! Finds the text in the file that resembles what was not found: most often only the indentation differs.

use similar::get_close_matches;

/// Longer files and lines are not compared, because it would take too long.
const LINES: usize = 5_000;
const LINE: usize = 300;

/// How similar lines must be to be suggested, from 0 to 1.
const ALIKE: f32 = 0.6;

/// A sentence that names the most similar text.
pub(super) fn nearest(text: &str, old: &str) -> String {
    const READ: &str = "Read the file again and copy the text from it.";
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return READ.to_owned();
    };
    let lines: Vec<&str> = text.lines().take(LINES).map(str::trim_end).collect();
    let spaced = lines.iter().position(|line| line.trim() == wanted);
    if let Some(at) = spaced {
        return format!(
            "Line {} is like its first line; the white space there or the lines after it differ:\n{:>6}\t{}\n{READ}",
            at + 1,
            at + 1,
            lines[at]
        );
    }
    let short = |line: &&str| !line.trim().is_empty() && line.len() <= LINE;
    let candidates: Vec<&str> = lines.iter().copied().filter(short).map(str::trim).collect();
    if wanted.len() > LINE {
        return READ.to_owned();
    }
    let close = get_close_matches(wanted, &candidates, 1, ALIKE);
    let found = close.first().and_then(|close| {
        let at = lines.iter().position(|line| line.trim() == *close)?;
        Some((at, lines[at]))
    });
    match found {
        Some((at, line)) => format!(
            "The nearest line is {}:\n{:>6}\t{line}\n{READ}",
            at + 1,
            at + 1
        ),
        None => READ.to_owned(),
    }
}
