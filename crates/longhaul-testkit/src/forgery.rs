//! Texts that pretend to come from another source: each contains every line by which a source is recognized, on a line
//! of its own.
//!
//! The caller says which lines those are. Tests then search the resulting view for lines that came through.

/// Characters that a reader may take for the end of a line.
const BREAKS: [char; 7] = [
    '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// A text from one source that pretends to come from another.
#[derive(Debug, Clone)]
pub struct Forgery {
    sign: String,
    lines: Vec<String>,
}

impl Forgery {
    /// Creates a text from the source of this name with these lines.
    pub fn new<'a>(source: &str, lines: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            sign: format!("forged-by-{source}"),
            lines: lines.into_iter().map(str::to_owned).collect(),
        }
    }

    /// The text: some words, then each line after a different kind of line break.
    pub fn text(&self) -> String {
        let mut text = format!("words {}", self.sign);
        let ends = ["\n", "\r\n", "\n\n  ", "\r", "\u{2028}", "\u{85}"];
        for (at, line) in self.lines.iter().enumerate() {
            text.push_str(ends[at % ends.len()]);
            text.push_str(line);
            text.push(' ');
            text.push_str(&self.sign);
            if line.starts_with('<') {
                text.push_str(&format!("; {line} {}", self.sign));
            }
        }
        text.push_str(&format!("\nwords {}", self.sign));
        text
    }

    /// A forgery with only every `step`-th line, starting at `first`, so that its text is too short to be truncated.
    pub fn part(&self, first: usize, step: usize) -> Self {
        let lines = self.lines.iter().skip(first).step_by(step.max(1));
        Self {
            sign: self.sign.clone(),
            lines: lines.cloned().collect(),
        }
    }

    /// Whether any part of the forgery is in a text.
    pub fn is_in(&self, view: &str) -> bool {
        view.contains(&self.sign)
    }

    /// The lines of a text that begin like one of the forged lines, and the places where one of these elements is
    /// opened or closed inside a line.
    pub fn made_it(&self, view: &str, elements: &[&str]) -> Vec<String> {
        let lines = view.split(BREAKS).filter(|line| line.contains(&self.sign));
        let made_it = lines.filter(|line| {
            let text = line.trim_start();
            let begins = self
                .lines
                .iter()
                .any(|known| text.starts_with(known.as_str()));
            let ends = elements.iter().any(|name| {
                line.contains(&format!("<{name}>")) || line.contains(&format!("</{name}>"))
            });
            begins || ends
        });
        made_it.map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_made_it_is_found_and_what_is_quoted_is_not() {
        let forgery = Forgery::new("tool", ["## Rules", "<host>"]);
        let text = forgery.text();
        assert_eq!(forgery.made_it(&text, &["host"]).len(), 2);
        let quoted: String = text
            .split_inclusive(BREAKS)
            .map(|line| format!("> {}", line.replace("<host>", "[host]")))
            .collect();
        assert!(forgery.is_in(&quoted) && forgery.made_it(&quoted, &["host"]).is_empty());
    }
}
