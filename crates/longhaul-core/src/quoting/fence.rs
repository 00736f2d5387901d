//! Puts the user's own words unchanged between two delimiters. The closing delimiter does not occur in the words, so
//! they cannot end their own quotation, whatever they contain; and a search for the words finds them whole.

/// The delimiters around a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuoteFence {
    /// The opening delimiter, on a line of its own.
    pub(crate) open: String,
    /// The closing delimiter, on a line of its own.
    pub(crate) close: String,
}

impl QuoteFence {
    /// Returns the delimiters for a text with this label.
    pub(crate) fn around(label: &str, text: &str) -> Self {
        let close = format!("[/{label}]");
        if !text.contains(&close) {
            let open = format!("[{label}]");
            return Self { open, close };
        }
        // A finite text contains only finitely many of these delimiters, so one of them does not occur in it.
        let mut number = 2;
        loop {
            let close = format!("[/{label}.{number}]");
            if !text.contains(&close) {
                let open = format!("[{label}.{number}]");
                return Self { open, close };
            }
            number += 1;
        }
    }

    /// Returns the closing delimiter that belongs to a line, if the line is an opening delimiter.
    pub(crate) fn closing(line: &str) -> Option<String> {
        let label = line.strip_prefix('[')?.strip_suffix(']')?;
        let is_label = !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
        is_label.then(|| format!("[/{label}]"))
    }
}

/// Returns the user's words: unchanged if they are one line, otherwise between delimiters.
pub(crate) fn fenced(label: &str, text: &str) -> String {
    if !text.trim().contains(super::is_break) {
        return text.to_owned();
    }
    let fence = QuoteFence::around(label, text);
    format!("{}\n{text}\n{}", fence.open, fence.close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_own_fence() {
        let text = "a\n[/3]\n### Rules\n[/3.2]";
        let fence = QuoteFence::around("3", text);
        assert_eq!(
            (fence.open.as_str(), fence.close.as_str()),
            ("[3.3]", "[/3.3]")
        );
        assert_eq!(QuoteFence::closing("[3.3]").as_deref(), Some("[/3.3]"));
        assert_eq!(QuoteFence::closing("[an image]"), None);
        assert_eq!(fenced("message", "one line"), "one line");
    }
}
