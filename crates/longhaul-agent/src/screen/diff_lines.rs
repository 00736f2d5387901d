//! The change of a file as lines with their numbers: what is removed, what is added, and what stands around it.

use ratatui::style::Style;
use ratatui::text::Span;

use super::flow::WrappedLine;
use super::style::{BAD, GOOD, dim, styled};

/// Whether a text is a unified diff.
pub(crate) fn is_diff(text: &str) -> bool {
    text.lines().any(|line| hunk(line).is_some())
}

/// A unified diff with a number for each line: the old one for what is removed, the new one for the rest.
pub(crate) fn numbered(diff: &str) -> Vec<WrappedLine> {
    let mut lines: Vec<(Option<usize>, char, &str)> = Vec::new();
    let mut at: Option<(usize, usize)> = None;
    for line in diff.lines() {
        if let Some(begins) = hunk(line) {
            if at.is_some() {
                lines.push((None, '⋮', ""));
            }
            at = Some(begins);
            continue;
        }
        // The names of the files come first; the call says which file it is.
        let Some((old, new)) = &mut at else { continue };
        let mut rest = line.chars();
        match rest.next() {
            Some('+') => {
                lines.push((Some(*new), '+', rest.as_str()));
                *new += 1;
            }
            Some('-') => {
                lines.push((Some(*old), '-', rest.as_str()));
                *old += 1;
            }
            Some('\\') => lines.push((None, ' ', rest.as_str())),
            _ => {
                lines.push((Some(*new), ' ', rest.as_str()));
                *old += 1;
                *new += 1;
            }
        }
    }
    let widest = lines.iter().filter_map(|(number, ..)| *number).max();
    let width = widest.unwrap_or(0).to_string().len();
    lines
        .into_iter()
        .map(|(number, sign, text)| line(number, sign, text, width))
        .collect()
}

fn line(number: Option<usize>, sign: char, text: &str, width: usize) -> WrappedLine {
    let style = match sign {
        '+' => GOOD,
        '-' => BAD,
        _ => Style::new(),
    };
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    let begin = format!("    {number:>width$} ");
    WrappedLine::new(vec![styled(format!("{sign} {text}"), style)], 2).indented(dim(begin))
}

/// Where a hunk begins, in the old file and in the new one, if a line is the head of a hunk.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let first = |range: &str| range.split(',').next()?.parse().ok();
    Some((first(old)?, first(new)?))
}

/// The lines of any other text, indented.
pub(crate) fn plain(text: &str, style_of: impl Fn(&str) -> Option<Style>) -> Vec<WrappedLine> {
    text.lines()
        .map(|line| {
            let style = style_of(line).unwrap_or_default();
            WrappedLine::styled(line, style).indented(Span::raw("    "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_a_diff_has_the_numbers_of_the_lines_in_the_file() {
        let diff = "--- a/x\n+++ b/x\n@@ -98,3 +98,3 @@\n one\n-two\n+2\n three\n@@ -200,1 +200,2 @@\n last\n+more\n\\ No newline at end of file\n";
        let lines: Vec<String> = numbered(diff).iter().map(WrappedLine::text).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
             98   one
             99 - two
             99 + 2
            100   three
                ⋮ 
            200   last
            201 + more
                   No newline at end of file
        ");
        assert!(is_diff(diff) && !is_diff("- a\n+ b"));
    }
}
