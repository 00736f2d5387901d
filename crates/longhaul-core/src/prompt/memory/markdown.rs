//! Parses the relevant Markdown of a memory file: imports, front matter, the section for compactions.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

/// The title of the section that is added to the instructions of a compaction (F4).
const COMPACT: &str = "compact instructions";

/// Returns the paths that a text imports, as they are written: `@path` at the beginning of a word, with a space in it
/// written as `\ `. Code and comments are ignored.
pub(super) fn imports(text: &str) -> Vec<String> {
    let mut skipped = literal_ranges(text).into_iter().peekable();
    let mut paths = Vec::new();
    for at in memchr::memchr_iter(b'@', text.as_bytes()) {
        while skipped.next_if(|range| range.end <= at).is_some() {}
        if skipped.peek().is_some_and(|range| range.contains(&at)) {
            continue;
        }
        let begins_word = text[..at]
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || c == '(');
        if begins_word {
            paths.extend(path_at(&text[at + 1..]));
        }
    }
    paths
}

/// Returns the ranges of a text that are taken literally (code and HTML comments), in the order of their beginnings.
fn literal_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        let range = match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => range,
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => match comment(text, &range) {
                Some(range) => range,
                None => continue,
            },
            _ => continue,
        };
        ranges.push(range);
    }
    ranges
}

/// Returns the range of the comment that a piece of HTML begins with.
fn comment(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let html = text[range.clone()].trim_start();
    html.starts_with("<!--").then(|| {
        let length = html.find("-->").unwrap_or(html.len());
        let start = range.end - html.len();
        start..start + length
    })
}

/// Returns the path at the beginning of a text, if it can be one: without a fragment, and without the punctuation of
/// the sentence around it.
fn path_at(text: &str) -> Option<String> {
    let mut path = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.next_if_eq(&' ').is_some() => path.push(' '),
            _ if character.is_whitespace() || character == '#' => break,
            _ => path.push(character),
        }
    }
    let path = path.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '*', '_']);
    let begins_path = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let may_be = path.starts_with("~/") || path.starts_with(begins_path);
    may_be.then(|| path.to_owned())
}

/// Returns a text without its front matter: a first line `---`, fields, a line `---`. A text that merely begins with a
/// horizontal rule stays as it is.
pub fn without_front_matter(text: &str) -> &str {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return text;
    };
    let mut length = first.len();
    for line in lines {
        length += line.len();
        let line = line.trim_end();
        if line == "---" {
            return &text[length..];
        }
        let is_field = line.starts_with([' ', '\t', '-', '#']) || line.contains(':');
        if !is_field {
            return text;
        }
    }
    text
}

/// Returns the section headed `Compact Instructions`, whatever its level, up to the next heading that is not below it.
pub fn compact_instructions(text: &str) -> Option<&str> {
    let mut open: Option<(HeadingLevel, usize)> = None;
    let mut title = String::new();
    let mut in_heading = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let ends = open.is_some_and(|(of, _)| level <= of);
                if let Some((_, start)) = open.take_if(|_| ends)
                    && let Some(section) = not_blank(&text[start..range.start])
                {
                    return Some(section);
                }
                (in_heading, title) = (true, String::new());
            }
            Event::Text(part) | Event::Code(part) if in_heading => title.push_str(&part),
            Event::End(TagEnd::Heading(level)) => {
                in_heading = false;
                let found = title
                    .trim()
                    .trim_end_matches(':')
                    .eq_ignore_ascii_case(COMPACT);
                if found && open.is_none() {
                    open = Some((level, range.end));
                }
            }
            _ => {}
        }
    }
    open.and_then(|(_, start)| not_blank(&text[start..]))
}

fn not_blank(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_words_that_begin_with_an_at_sign() {
        let text = "@a.md and (see @docs/b_c_d.md), @~/x\\ y.md. @./e @/abs/f#part\n- @../g!\nme@example.org @(no) @ @@x";
        let wanted = ["a.md", "docs/b_c_d.md", "~/x y.md", "./e", "/abs/f", "../g"];
        assert_eq!(imports(text), wanted);
    }

    #[test]
    fn imports_in_code_and_comments_are_none() {
        let text = "`@a` ``b `@c` `` @yes.md\n\n```\n@d\n```\n\n    @e\n\n<!-- @f\n@g -->\n\ntext <!-- @h --> @also.md\n\n<details>\n@inside.md\n</details>\n";
        assert_eq!(imports(text), ["yes.md", "also.md", "inside.md"]);
        assert!(imports("~~~\n@unclosed\n").is_empty());
    }

    #[test]
    fn front_matter_is_taken_off_and_a_rule_is_not() {
        assert_eq!(without_front_matter("---\na: 1\n- b\n---\ntext"), "text");
        assert_eq!(without_front_matter("---\r\na: 1\r\n---\r\ntext"), "text");
        for whole in [
            "---\n\nNo fields here\n\n---\nx",
            "---\na: 1\n",
            "text\n---\na: 1\n---\n",
            "",
        ] {
            assert_eq!(without_front_matter(whole), whole);
        }
    }

    #[test]
    fn f4_the_section_for_compactions_ends_with_the_next_heading_of_its_level() {
        let text = "# Rules\nx\n## Compact Instructions\nKeep errors.\n\n```\n## not a heading\n```\n### Below\ny\n## Next\nz";
        let wanted = "Keep errors.\n\n```\n## not a heading\n```\n### Below\ny";
        assert_eq!(compact_instructions(text), Some(wanted));
        assert_eq!(
            compact_instructions("COMPACT instructions:\n===\n\nall\n"),
            Some("all")
        );
        assert_eq!(
            compact_instructions("# **Compact Instructions**\none\n# Next"),
            Some("one")
        );
        assert_eq!(
            compact_instructions("# Compact Instructions\n\n# Next\nx"),
            None
        );
        assert_eq!(
            compact_instructions("# Compact Instructions\n\n# Compact Instructions\nx"),
            Some("x")
        );
        assert_eq!(
            compact_instructions("```\n# Compact Instructions\nx\n```"),
            None
        );
        assert_eq!(compact_instructions("Compact Instructions\nx"), None);
    }
}
