//! How much of a file goes with a prompt that mentions it, and how that is said to people and to the model.

use longhaul_core::figures::{counted, grouped};

/// The maximum number of lines and of bytes of a file.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 100_000;

/// The part of a file that is attached.
#[derive(Debug)]
pub(super) struct AttachedBeginning<'t> {
    text: &'t str,
    /// The number of lines in it; one that is cut counts.
    pub(super) lines: usize,
    /// The number of lines of what was read.
    pub(super) total: usize,
    /// The sizes of what was read and of the file, which may be too long to be read completely.
    read: usize,
    size: u64,
}

impl<'t> AttachedBeginning<'t> {
    /// `None` if the content is not text. The file may have more than this content.
    pub(super) fn of(content: &'t [u8], size: u64) -> Option<Self> {
        let whole = match std::str::from_utf8(content) {
            Ok(text) => text,
            // The last character of what was read may be incomplete.
            Err(error) if error.error_len().is_none() && (content.len() as u64) < size => {
                std::str::from_utf8(&content[..error.valid_up_to()]).ok()?
            }
            Err(_) => return None,
        };
        let text = beginning(whole);
        Some(Self {
            text,
            lines: text.lines().count(),
            total: whole.lines().count(),
            read: whole.len(),
            size: size.max(whole.len() as u64),
        })
    }

    /// What is attached, for people: `2 lines`, or the part that it is of the file.
    pub(super) fn told(&self) -> String {
        if self.is_whole() {
            return counted(self.total as u64, "line");
        }
        let lines = grouped(self.lines as u64);
        if !self.text.ends_with('\n') {
            // A line that is cut would count as attached.
            let bytes = grouped(self.text.len() as u64);
            format!("the first {bytes} of {} bytes", grouped(self.size))
        } else if (self.read as u64) < self.size {
            format!("the first {lines} lines of {} bytes", grouped(self.size))
        } else {
            format!(
                "the first {lines} of {}",
                counted(self.total as u64, "line")
            )
        }
    }

    /// The text, with a line for the model where it is cut, as the core writes it after a compaction.
    pub(super) fn content(&self) -> String {
        if self.is_whole() {
            return self.text.to_owned();
        }
        let told = self.told();
        format!(
            "{}[cut here: {told} are shown; read the file for the rest]\n",
            self.text
        )
    }

    fn is_whole(&self) -> bool {
        self.text.len() as u64 == self.size
    }
}

/// The beginning of a text that is attached.
fn beginning(text: &str) -> &str {
    let by_lines = text.match_indices('\n').nth(MOST_LINES - 1);
    let end = by_lines
        .map_or(text.len(), |(at, _)| at + 1)
        .min(MOST_BYTES);
    let end = (0..=end).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_is_attached_is_said() {
        let told =
            |text: &str, size: u64| AttachedBeginning::of(text.as_bytes(), size).unwrap().told();
        assert_eq!(told("one\ntwo\n", 8), "2 lines");
        let lines = "x\n".repeat(3_000);
        assert_eq!(told(&lines, 6_000), "the first 2,000 of 3,000 lines");
        assert_eq!(
            told(&lines, 20_000_000),
            "the first 2,000 lines of 20,000,000 bytes"
        );
        let one = "ä".repeat(60_000);
        assert_eq!(told(&one, 120_000), "the first 100,000 of 120,000 bytes");
        let cut = AttachedBeginning::of(&one.as_bytes()[..110_001], 120_000).unwrap();
        assert_eq!(cut.told(), "the first 100,000 of 120,000 bytes");
        let shown = cut.content();
        assert!(shown.ends_with("ä[cut here: the first 100,000 of 120,000 bytes are shown; read the file for the rest]\n"));
        assert!(AttachedBeginning::of(b"\xff\xfe", 2).is_none());
    }
}
