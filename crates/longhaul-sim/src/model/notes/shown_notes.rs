//! The notes as a prompt shows them: the file's path, its sections with their exact text, the caps that it mentions.

/// A section as it is shown in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownNotesSection<'a> {
    /// The exact text from the heading to the last line that is not blank.
    pub(super) shown: &'a str,
    /// The text of the heading.
    pub(super) title: &'a str,
    /// The heading and the italic description, which stay.
    pub(super) head: &'a str,
    /// The notes in the section so far.
    pub(super) body: &'a str,
}

/// The notes that a prompt shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownNotes<'a> {
    /// The path of the file.
    pub(super) path: &'a str,
    /// The sections of the file.
    pub(super) sections: Vec<ShownNotesSection<'a>>,
    /// The maximum number of tokens in a section, if the prompt gives one.
    pub(super) section_cap: Option<usize>,
    /// The maximum number of tokens in all sections, if the prompt gives one.
    pub(super) total_cap: Option<usize>,
}

impl<'a> ShownNotes<'a> {
    /// Reads a prompt; `None` if it does not ask to keep notes.
    pub(super) fn read(words: &'a str) -> Option<Self> {
        let path = words
            .split(|letter: char| letter.is_whitespace() || "`'\"()<>,;".contains(letter))
            .map(|word| word.trim_end_matches(['.', ':']))
            .find(|word| word.len() > 3 && word.ends_with(".md"))?;
        let lower = words.to_lowercase();
        let asks = ["edit", "update", "up to date"]
            .iter()
            .any(|verb| lower.contains(verb));
        if !asks || !(lower.contains("note") || lower.contains("session memory")) {
            return None;
        }
        let sections = sections(words);
        let (section_cap, total_cap) = caps(&lower);
        (sections.len() >= 3).then_some(Self {
            path,
            sections,
            section_cap,
            total_cap,
        })
    }
}

/// The sections with a heading and an italic line under it.
fn sections(words: &str) -> Vec<ShownNotesSection<'_>> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in words.split_inclusive('\n') {
        if line.starts_with("# ") {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([words.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| section(&words[*start..end]))
        .collect()
}

fn section(text: &str) -> Option<ShownNotesSection<'_>> {
    let mut at = 0;
    let mut head = None;
    let mut title = "";
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        // A tag or a fence closes the file in the prompt.
        if at > 0 && (bare.starts_with("</") || bare == "```" || bare == "---") {
            break;
        }
        if at == 0 {
            title = bare.trim_start_matches('#').trim();
        } else if head.is_none() && !bare.is_empty() {
            let italic =
                |mark: char| bare.len() > 2 && bare.starts_with(mark) && bare.ends_with(mark);
            if !(italic('_') || italic('*') && !bare.starts_with("**")) {
                return None;
            }
            head = Some(at + line.trim_end().len());
        }
        at += line.len();
        if !bare.is_empty() {
            end = at - line.len() + line.trim_end().len();
        }
    }
    let head = head?;
    Some(ShownNotesSection {
        shown: &text[..end],
        title,
        head: &text[..head],
        body: text[head..end].trim_matches('\n'),
    })
}

/// The caps that a prompt mentions: a number of tokens in a sentence about a section, or about the whole.
fn caps(lower: &str) -> (Option<usize>, Option<usize>) {
    let (mut section, mut total) = (None, None);
    for sentence in lower.split(['.', '\n', ';']) {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        let number = words.windows(2).find_map(|pair| {
            let digits: String = pair[0].chars().filter(char::is_ascii_digit).collect();
            let number: usize = digits.parse().ok()?;
            pair[1].starts_with("token").then_some(number)
        });
        let Some(number) = number else {
            continue;
        };
        let whole = [
            "total",
            "in all",
            "whole",
            "entire",
            "all sections",
            "altogether",
        ]
        .iter()
        .any(|word| sentence.contains(word));
        let of_section = sentence.contains("section") && !whole;
        // A sentence about the current size is not a cap.
        let measured = ["currently", "is now", "it has", "has grown"]
            .iter()
            .any(|word| sentence.contains(word));
        match (measured, whole, of_section) {
            (true, ..) => {}
            (_, true, _) => total = Some(total.map_or(number, |cap: usize| cap.min(number))),
            (_, _, true) => section = Some(section.map_or(number, |cap: usize| cap.min(number))),
            _ => {}
        }
    }
    (section, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "Update the session notes in /s/notes.md with the edit tool. Keep each section under 2,000 tokens; 12,000 tokens in all.\n<file>\n# Title\n_A few words_\n\n# State\n_What goes on_\n- reading\n- writing\n\n# Log\n_Steps_\n</file>\nNow edit.";

    #[test]
    fn sections_are_cut_out_exactly() {
        let page = ShownNotes::read(PROMPT).unwrap();
        assert_eq!(page.path, "/s/notes.md");
        assert_eq!(
            (page.section_cap, page.total_cap),
            (Some(2000), Some(12_000))
        );
        let titles: Vec<&str> = page.sections.iter().map(|section| section.title).collect();
        assert_eq!(titles, ["Title", "State", "Log"]);
        assert_eq!(
            page.sections[1].shown,
            "# State\n_What goes on_\n- reading\n- writing"
        );
        assert_eq!(page.sections[1].body, "- reading\n- writing");
        assert_eq!(page.sections[2].shown, "# Log\n_Steps_");
        assert!(
            page.sections
                .iter()
                .all(|section| PROMPT.matches(section.shown).count() == 1)
        );
    }

    #[test]
    fn other_prompts_are_not_notes() {
        assert_eq!(
            ShownNotes::read("Please update notes.md with what we found"),
            None
        );
    }
}
