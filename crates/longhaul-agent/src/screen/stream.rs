//! A reply while it arrives: complete blocks become final lines, the rest is a tail that is redrawn.

use ratatui::text::Span;

use super::flow::WrappedLine;
use super::markdown;
use super::style::BOLD;
use super::text::clean;

/// The text of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct StreamedText {
    /// The part that has not become lines yet.
    open: String,
    begun: bool,
}

impl StreamedText {
    /// Adds text and returns the complete part as lines.
    pub(crate) fn push(&mut self, text: &str, width: usize) -> Vec<WrappedLine> {
        self.open.push_str(text);
        match complete(&self.open) {
            0 => Vec::new(),
            until => {
                let block: String = self.open.drain(..until).collect();
                self.lines(&block, width)
            }
        }
    }

    /// Ends the reply and returns the rest as lines.
    pub(crate) fn finish(&mut self, width: usize) -> Vec<WrappedLine> {
        let rest = std::mem::take(&mut self.open);
        let lines = self.lines(&rest, width);
        self.begun = false;
        lines
    }

    /// Whether a part of a reply that is not complete can be read.
    pub(crate) fn is_visible(&self) -> bool {
        self.begun || !self.open.trim().is_empty()
    }

    /// Drops the reply so far; whether any of it was visible.
    pub(crate) fn discard(&mut self) -> bool {
        let visible = self.is_visible();
        *self = Self::default();
        visible
    }

    /// The open part as it is, limited to its last rows.
    pub(crate) fn tail(&self, rows: usize) -> Vec<WrappedLine> {
        let open = clean(self.open.trim_matches('\n'));
        let lines: Vec<&str> = open.lines().collect();
        let from = lines.len().saturating_sub(rows);
        (lines[from..].iter().enumerate())
            .map(|(at, line)| {
                WrappedLine::plain(*line).indented(self.mark(at + from == 0 && !self.begun))
            })
            .collect()
    }

    /// Whether a block has begun and is not complete.
    pub(crate) fn is_within_block(&self) -> bool {
        !self.open.trim().is_empty()
    }

    fn lines(&mut self, block: &str, width: usize) -> Vec<WrappedLine> {
        // Every line is indented by its mark.
        let lines = markdown::render(block, width.saturating_sub(2));
        if lines.is_empty() {
            return lines;
        }
        let first = !std::mem::replace(&mut self.begun, true);
        // Blocks are separated by an empty line.
        std::iter::once(WrappedLine::blank())
            .chain((lines.into_iter().enumerate()).map(|(at, line)| {
                if line == WrappedLine::blank() {
                    line
                } else {
                    line.indented(self.mark(first && at == 0))
                }
            }))
            .collect()
    }

    fn mark(&self, first: bool) -> Span<'static> {
        if first {
            Span::styled("● ", BOLD)
        } else {
            Span::raw("  ")
        }
    }
}

/// How far a text is complete: up to the last empty line outside of code after which a new block has begun.
fn complete(text: &str) -> usize {
    let mut fence: Option<&str> = None;
    let mut until = 0;
    let mut blank = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let whole = line.ends_with('\n');
        if let (Some(blank), true) = (blank.take(), !trimmed.is_empty()) {
            // An indented line continues the block before it, for example a list item.
            if trimmed.len() == line.len() && fence.is_none() {
                until = blank;
            }
        }
        match fence {
            Some(open) if trimmed.starts_with(open) => fence = None,
            Some(_) => {}
            None if trimmed.starts_with("```") => fence = Some("```"),
            None if trimmed.starts_with("~~~") => fence = Some("~~~"),
            None => {}
        }
        at += line.len();
        if whole && trimmed.is_empty() && fence.is_none() {
            blank = Some(at);
        }
    }
    until
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(lines: &[WrappedLine]) -> Vec<String> {
        lines.iter().map(WrappedLine::text).collect()
    }

    #[test]
    fn q2_blocks_become_lines_when_they_are_complete() {
        let mut stream = StreamedText::default();
        assert!(stream.push("First para", 80).is_empty());
        assert!(stream.push("graph.\n\n", 80).is_empty());
        assert_eq!(
            texts(&stream.push("```\na\n\nb\n", 80)),
            ["", "● First paragraph."]
        );
        assert!(stream.push("```\n\n", 80).is_empty());
        assert_eq!(texts(&stream.tail(2)), ["  b", "  ```"]);
        assert_eq!(
            texts(&stream.push("End", 80)),
            ["", "    a", "    ", "    b"]
        );
        assert_eq!(texts(&stream.finish(80)), ["", "  End"]);
    }

    proptest! {
        #[test]
        fn q2_however_a_reply_is_cut_no_word_is_lost(pieces in proptest::collection::vec("(word|\n|\n\n|```\n|  in| )", 0..40)) {
            let mut stream = StreamedText::default();
            let mut lines = Vec::new();
            for piece in &pieces {
                lines.extend(stream.push(piece, 80));
            }
            lines.extend(stream.finish(80));
            let count = |text: &str| text.matches("word").count();
            // The text after a fence on its line is the language of the code and is not shown.
            if !pieces.iter().any(|piece| piece.starts_with("```")) {
                prop_assert_eq!(count(&texts(&lines).join(" ")), count(&pieces.concat()));
            }
        }
    }
}
