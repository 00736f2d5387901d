//! Fenced code, in which a line that looks like a heading is not one.

/// An open code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CodeFence {
    mark: u8,
    length: usize,
}

impl CodeFence {
    /// Returns the fence that a line opens.
    fn opened_by(line: &str) -> Option<Self> {
        let text = indented_little(line)?;
        let mark = *text.as_bytes().first()?;
        if !matches!(mark, b'`' | b'~') {
            return None;
        }
        let info = text.trim_start_matches(char::from(mark));
        let length = text.len() - info.len();
        // Backticks that are followed by text and more backticks are inline code.
        let within = mark == b'`' && info.contains('`');
        (length >= 3 && !within).then_some(Self { mark, length })
    }

    /// Whether a line closes the fence.
    fn is_closed_by(self, line: &str) -> bool {
        let Some(text) = indented_little(line) else {
            return false;
        };
        let text = text.trim_end();
        text.len() >= self.length && text.bytes().all(|byte| byte == self.mark)
    }

    /// Returns the line that closes the fence.
    pub(super) fn closing(self) -> String {
        char::from(self.mark).to_string().repeat(self.length)
    }
}

/// Returns the line without the indentation that Markdown ignores; `None` if it is indented more.
fn indented_little(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() < 4).then_some(text)
}

/// Returns for each line of a text whether it is part of fenced code. A fence that is never closed does not count: a
/// heading too many is better than the rest of a file taken for code.
pub(super) fn fenced_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<bool> {
    let mut fenced = Vec::new();
    let mut open: Option<(CodeFence, usize)> = None;
    for (at, line) in lines.enumerate() {
        fenced.push(open.is_some());
        match open {
            Some((fence, _)) if fence.is_closed_by(line) => open = None,
            Some(_) => {}
            None => {
                if let Some(fence) = CodeFence::opened_by(line) {
                    fenced[at] = true;
                    open = Some((fence, at));
                }
            }
        }
    }
    if let Some((_, from)) = open {
        for line in fenced.iter_mut().skip(from) {
            *line = false;
        }
    }
    fenced
}

/// Returns the fence that is open where a text ends.
pub(super) fn open_at_end(text: &str) -> Option<CodeFence> {
    let mut open: Option<CodeFence> = None;
    for line in text.lines() {
        open = match open {
            Some(fence) if fence.is_closed_by(line) => None,
            Some(fence) => Some(fence),
            None => CodeFence::opened_by(line),
        };
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fenced(text: &str) -> Vec<bool> {
        fenced_lines(text.lines())
    }

    #[test]
    fn s1_a_heading_in_code_is_none() {
        assert_eq!(
            fenced("a\n```sh\n# b\n~~~\n``\n````\n# c"),
            [false, true, true, true, true, true, false]
        );
        assert_eq!(fenced("    ```\n# b\n    ```"), [false; 3], "indented");
        assert_eq!(fenced("```a`b\n# c\n```"), [false; 3], "within a line");
    }

    #[test]
    fn s1_a_fence_that_is_never_closed_is_none() {
        assert_eq!(fenced("```\n# a\n# b"), [false; 3]);
        assert_eq!(
            open_at_end("~~~~\n# a\n```").map(CodeFence::closing),
            Some("~~~~".to_owned())
        );
        assert_eq!(open_at_end("```\na\n```\n"), None);
    }
}
