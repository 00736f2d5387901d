//! Results that show a file with a number before each line, as agents format them: `     1→text`, `1<tab>text`,
//! `00001| text`, `1 | text`, `1: text`. A few lines around them describe the file.

/// The most lines before and after the numbered ones.
const BEFORE: usize = 3;
const BEHIND: usize = 4;
/// The remark after the last line of a file; other remarks in brackets announce more lines.
const END: &str = "(End of file";

/// A numbered text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NumberedText {
    /// The number of the first line.
    pub(super) first: u64,
    /// The text without numbers.
    pub(super) text: String,
    /// Whether more lines follow, according to the remark after it.
    pub(super) cut: bool,
}

/// Removes the numbers. `None` if not every line is numbered.
pub(super) fn plain(shown: &str) -> Option<NumberedText> {
    let lines: Vec<&str> = shown.lines().map(unwrapped).collect();
    let start = lines
        .iter()
        .take(BEFORE + 1)
        .position(|line| number(line).is_some())?;
    let (first, _) = number(lines.get(start)?)?;
    let mut text = String::with_capacity(shown.len());
    let mut next = first;
    for line in lines.get(start..)? {
        match number(line) {
            Some((at, rest)) if at == next => {
                text.push_str(rest);
                text.push('\n');
                next += 1;
            }
            _ => break,
        }
    }
    let shown = usize::try_from(next - first).ok()?;
    let behind = lines.get(start + shown..)?;
    let is_around = |line: &&str| line.trim().is_empty() || line.starts_with(['<', '(']);
    let cut = (behind.iter()).any(|line| line.starts_with('(') && !line.starts_with(END));
    (behind.len() <= BEHIND && behind.iter().all(is_around)).then_some(NumberedText {
        first,
        text,
        cut,
    })
}

/// The first line may directly follow a tag.
fn unwrapped(line: &str) -> &str {
    line.strip_prefix("<content>").unwrap_or(line)
}

/// The number before a line, and the rest of the line.
fn number(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let number = number.parse().ok()?;
    let rest = (rest.strip_prefix('→'))
        .or_else(|| rest.strip_prefix('\t'))
        .or_else(|| rest.strip_prefix("| "))
        .or_else(|| rest.strip_prefix(" | "))
        .or_else(|| rest.strip_prefix(": "))
        .or_else(|| rest.strip_prefix('|').filter(|rest| rest.is_empty()))
        .or_else(|| rest.strip_prefix(" |").filter(|rest| rest.is_empty()))
        .or_else(|| rest.strip_prefix(':').filter(|rest| rest.is_empty()))?;
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::{NumberedText, plain};

    #[test]
    fn r1_numbers_before_lines_are_taken_off() {
        let numbered = |first: u64, text: &str, cut: bool| {
            let text = text.to_owned();
            Some(NumberedText { first, text, cut })
        };
        let whole = |text: &str| numbered(1, text, false);
        assert_eq!(plain("     1→a\n     2→  b\n     3→"), whole("a\n  b\n\n"));
        assert_eq!(plain("     1\ta\n     2\t"), whole("a\n\n"));
        assert_eq!(
            plain("<file>\n00001| a\n00002| b\n\n(End of file - total 2 lines)\n</file>"),
            whole("a\nb\n")
        );
        assert_eq!(
            plain("Here's the result of running `cat -n` on /a:\n     1\ta\n     2\tb"),
            whole("a\nb\n")
        );
        assert_eq!(plain("1 | a\n2 |"), whole("a\n\n"));
        let wrapped = "<path>/a</path>\n<type>file</type>\n<content>1: a\n2: b\n\n(End of file - total 2 lines)\n</content>";
        assert_eq!(plain(wrapped), whole("a\nb\n"));
        let wrapped = wrapped.replace("<content>", "<content>\n");
        assert_eq!(plain(&wrapped), whole("a\nb\n"));
        assert_eq!(plain("    40→a\n    41→b"), numbered(40, "a\nb\n", false));
        let more = "1: a\n2: b\n\n(Showing lines 1-2 of 9. Use offset=3 to continue.)";
        assert_eq!(plain(more), numbered(1, "a\nb\n", true));
    }

    #[test]
    fn r1_texts_that_are_not_numbered_throughout_are_none() {
        for text in [
            "",
            "a",
            "1. one\n2. two",
            "     1→a\nb",
            "     1→a\n     3→b",
        ] {
            assert_eq!(plain(text), None, "{text}");
        }
    }
}
