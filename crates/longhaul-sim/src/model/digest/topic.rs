//! The topic of a summary section, recognized by its heading, and the numbered headings in a text.

/// The topic of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SectionTopic {
    /// What the user wants.
    Intent,
    /// Techniques and terms.
    Concepts,
    /// Files and code.
    Files,
    /// Errors and their handling.
    Errors,
    /// How problems were solved.
    Solving,
    /// The user's messages.
    Messages,
    /// Open tasks.
    Pending,
    /// The most recent work.
    Current,
    /// Finished work.
    Completed,
    /// What comes next.
    Next,
    /// What is needed to continue the work.
    Continuing,
    /// Something else.
    Other,
}

impl SectionTopic {
    /// The topic of a heading.
    pub(crate) fn of(heading: &str) -> Self {
        let heading = heading.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| heading.contains(word));
        if has(&["user message", "user's message", "messages"]) {
            Self::Messages
        } else if has(&["error", "mistake"]) {
            Self::Errors
        } else if has(&["pending", "todo", "open task", "outstanding", "remaining"]) {
            Self::Pending
        } else if has(&["next"]) {
            Self::Next
        } else if has(&["continu"]) {
            Self::Continuing
        } else if has(&["completed", "done", "accomplished"]) {
            Self::Completed
        } else if has(&["current", "in progress"]) {
            Self::Current
        } else if has(&["file", "code"]) {
            Self::Files
        } else if has(&["concept", "technolog", "technical"]) {
            Self::Concepts
        } else if has(&["problem", "solv", "decision"]) {
            Self::Solving
        } else if has(&["request", "intent", "goal", "task", "objective"]) {
            Self::Intent
        } else {
            Self::Other
        }
    }
}

/// A numbered heading on a line: its number and its words.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start().trim_start_matches(['#', '*', ' ']);
    let digits = line.len()
        - line
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let number = line[..digits]
        .parse()
        .ok()
        .filter(|number| (1..=30).contains(number))?;
    let rest = line[digits..].strip_prefix(['.', ')'])?;
    let rest = rest
        .strip_prefix([' ', '\t'])?
        .trim_start()
        .trim_start_matches('*');
    let end = [":", "**", " — ", " – ", " - "]
        .iter()
        .filter_map(|mark| rest.find(mark))
        .min();
    let title = rest[..end.unwrap_or(rest.len())].trim();
    let fit =
        (3..=80).contains(&title.len()) && title.starts_with(|letter: char| letter.is_alphabetic());
    fit.then_some((number, title))
}

/// The headings that a text asks for: the sequence of numbered lines from 1 on with the most known topics.
pub(crate) fn asked_headings(text: &str) -> Vec<(SectionTopic, String)> {
    let mut runs: Vec<Vec<(SectionTopic, String)>> = Vec::new();
    for (number, title) in text.lines().filter_map(heading) {
        match runs.last_mut() {
            Some(run) if number == run.len() + 1 => {
                run.push((SectionTopic::of(title), title.to_owned()))
            }
            _ if number == 1 => runs.push(vec![(SectionTopic::of(title), title.to_owned())]),
            _ => {}
        }
    }
    let known = |run: &Vec<(SectionTopic, String)>| {
        run.iter()
            .filter(|(topic, _)| *topic != SectionTopic::Other)
            .count()
    };
    runs.reverse();
    runs.into_iter()
        .filter(|run| known(run) >= 3)
        .max_by_key(known)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_found_in_several_styles() {
        assert_eq!(
            heading("1. Primary Request and Intent: all of it"),
            Some((1, "Primary Request and Intent"))
        );
        assert_eq!(
            heading("   2) **Files and code** with snippets"),
            Some((2, "Files and code"))
        );
        assert_eq!(heading("## 3. Errors"), Some((3, "Errors")));
        assert_eq!(heading("10,000 lines"), None);
        let asked = asked_headings(
            "Do this:\n1. go\n\n1. Intent\n2. Files\n3. Work completed\n4. Context for continuing",
        );
        let topics: Vec<SectionTopic> = asked.iter().map(|(topic, _)| *topic).collect();
        assert_eq!(
            topics,
            [
                SectionTopic::Intent,
                SectionTopic::Files,
                SectionTopic::Completed,
                SectionTopic::Continuing
            ]
        );
    }
}
