//! Splits a user's text into sentences, as slices of it.
//!
//! Code between fences and quoted lines are skipped: they are not the user's own words. List items are separate
//! sentences; a sentence may continue after a line break only where the line looks wrapped.

/// Lines shorter than this were ended by the writer, not wrapped.
const WRAPPED: usize = 60;
/// Lines with at least this indentation are code or logs.
const INDENTED: usize = 4;

const ABBREVIATIONS: [&str; 10] = [
    "e.g", "i.e", "etc", "vs", "cf", "mr", "dr", "approx", "resp", "z.b",
];

/// The sentences of a text in order, trimmed.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut cutter = SentenceSplitter {
        text,
        start: None,
        end: 0,
        found: Vec::new(),
    };
    let mut fence: Option<&str> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let at = offset;
        offset += line.len();
        let trimmed = line.trim();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (None, Some(_)) => {
                cutter.finish();
                fence = marker;
            }
            (Some(open), Some(marker)) if open == marker => fence = None,
            (Some(_), _) => {}
            (None, None) if trimmed.is_empty() || trimmed.starts_with('>') => cutter.finish(),
            (None, None) => {
                let indent = line.len() - line.trim_start().len();
                let skipped = list_marker(trimmed);
                // Wrapped text continues in lower case and is not indented like code or logs.
                let goes_on = trimmed.starts_with(char::is_lowercase) && indent < INDENTED;
                if skipped > 0 || !goes_on {
                    cutter.finish();
                }
                let body = at + indent + skipped;
                cutter.line(body, at + indent + trimmed.len());
                if trimmed.len() < WRAPPED {
                    cutter.finish();
                }
            }
        }
    }
    cutter.finish();
    cutter.found
}

struct SentenceSplitter<'a> {
    text: &'a str,
    /// Where the open sentence begins.
    start: Option<usize>,
    end: usize,
    found: Vec<&'a str>,
}

impl SentenceSplitter<'_> {
    /// Processes one line; an unfinished sentence at its end stays open.
    fn line(&mut self, from: usize, to: usize) {
        let mut in_code = false;
        let mut start = self.start.unwrap_or(from);
        let mut characters = self.text[from..to].char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let behind = from + at + character.len_utf8();
            match character {
                '`' => in_code = !in_code,
                // A sentence is quoted on a single line, so it must not contain another line break.
                _ if crate::quoting::is_break(character) && character != '\n' => {
                    self.keep(start, behind);
                    start = behind;
                }
                '。' | '！' | '？' | '；' => {
                    self.keep(start, behind);
                    start = behind;
                }
                '.' | '!' | '?' | '…' if !in_code => {
                    let next = characters.peek().map(|(_, next)| *next);
                    let ends = next.is_none_or(|next| {
                        next.is_whitespace() || matches!(next, '"' | '\'' | ')' | '”' | '’')
                    });
                    if ends && !(character == '.' && is_abbreviation(&self.text[start..from + at]))
                    {
                        self.keep(start, behind);
                        start = behind;
                    }
                }
                _ => {}
            }
        }
        self.start = (!self.text[start..to].trim().is_empty()).then_some(start);
        self.end = to;
    }

    fn keep(&mut self, start: usize, end: usize) {
        let closers: &[char] = &['"', '\'', ')', '”', '’'];
        let sentence = self.text[start..end]
            .trim()
            .trim_start_matches(closers)
            .trim_start();
        if sentence.chars().any(char::is_alphanumeric) {
            self.found.push(sentence);
        }
    }

    fn finish(&mut self) {
        if let Some(start) = self.start.take() {
            self.keep(start, self.end);
        }
    }
}

/// The number of bytes of a list or heading marker at the start of a line, with the space after it.
fn list_marker(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marker = match line.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] => 2,
        [b'#', ..] => line.bytes().take_while(|byte| *byte == b'#').count(),
        _ if line.starts_with('•') => '•'.len_utf8(),
        _ if (1..=3).contains(&digits) => match line.as_bytes().get(digits..digits + 2) {
            Some([b'.' | b')', b' ']) => digits + 2,
            _ => 0,
        },
        _ => 0,
    };
    match marker {
        0 => 0,
        _ => marker + (line[marker..].len() - line[marker..].trim_start().len()),
    }
}

fn is_abbreviation(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next()
        .unwrap_or_default();
    ABBREVIATIONS
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y4_sentences_lists_code_and_other_scripts_are_told_apart() {
        let text = "Fix it. Never touch `a. b` files, e.g. the lock!  \"Why?\" (OK.)\n\
            - always test\n2) use v1.2 only\n```\nmust not count.\n```\n> you must quote\n\
            请不要删除。必须测试！好\n# Rules\nno end";
        assert_eq!(
            sentences(text),
            [
                "Fix it.",
                "Never touch `a. b` files, e.g. the lock!",
                "Why?",
                "(OK.",
                "always test",
                "use v1.2 only",
                "请不要删除。",
                "必须测试！",
                "好",
                "Rules",
                "no end",
            ]
        );
    }

    #[test]
    fn y4_a_wrapped_sentence_goes_on_and_a_short_line_ends() {
        let wrapped = "This sentence is long enough that its writer's editor wrapped it and\nit must go on. Then\nanother";
        let found = sentences(wrapped);
        assert_eq!(
            found[0],
            "This sentence is long enough that its writer's editor wrapped it and\nit must go on."
        );
        assert_eq!(found[1..], ["Then", "another"]);
        assert_eq!(sentences("never use sed\nalways test").len(), 2);
        assert!(sentences("").is_empty());
    }
}
