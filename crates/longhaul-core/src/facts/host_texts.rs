//! Telling the user's words from texts that hosts put into user messages: command wrappers, interrupt markers,
//! reminders (ruling 14). The list is data, in `host_texts.txt`.

use std::borrow::Cow;

const BUILTIN: &str = include_str!("host_texts.txt");

/// What marks a text as the host's.
#[derive(Debug, Clone, Default)]
pub struct HostTexts {
    begins: Vec<String>,
    elements: Vec<String>,
}

impl HostTexts {
    /// The built-in list.
    pub fn builtin() -> Self {
        Self::parse(BUILTIN)
    }

    /// Reads a list: beginnings under `[begins]`, names of elements under `[elements]`, one a line.
    pub fn parse(text: &str) -> Self {
        let mut texts = Self::default();
        let mut elements = false;
        for line in text.lines().map(str::trim) {
            match line {
                "" => {}
                _ if line.starts_with('#') => {}
                "[begins]" => elements = false,
                "[elements]" => elements = true,
                _ if elements => texts.elements.push(line.to_owned()),
                _ => texts.begins.push(line.to_owned()),
            }
        }
        texts
    }

    /// Whether a text holds nothing that a user wrote.
    pub fn is_hosts(&self, text: &str) -> bool {
        let text = text.trim_start();
        self.begins.iter().any(|begin| text.starts_with(begin)) || self.is_elements(text)
    }

    /// Whether a text is nothing but elements that hosts add.
    fn is_elements(&self, text: &str) -> bool {
        let mut rest = text.trim();
        while let Some(length) = self.element(rest) {
            rest = rest[length..].trim_start();
        }
        rest.is_empty()
    }

    /// The text without the elements that hosts add: a paragraph ends where one stood.
    pub fn own_words<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut own = String::new();
        let mut from = 0;
        for (at, _) in text.match_indices('<') {
            if at >= from
                && let Some(length) = self.element(&text[at..])
            {
                own.push_str(&text[from..at]);
                own.push_str("\n\n");
                from = at + length;
            }
        }
        match from {
            0 => Cow::Borrowed(text),
            _ => Cow::Owned(own + &text[from..]),
        }
    }

    /// The bytes of the element that a text begins with.
    fn element(&self, text: &str) -> Option<usize> {
        let inside = text.strip_prefix('<')?;
        self.elements.iter().find_map(|name| {
            let body = inside.strip_prefix(name.as_str())?;
            body.starts_with(['>', ' ']).then_some(())?;
            let close = format!("</{name}>");
            let at = body.find(&close)?;
            Some(1 + name.len() + at + close.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_texts_of_the_host_are_no_words_of_the_user() {
        let texts = HostTexts::builtin();
        for text in [
            "[Request interrupted by user for tool use]",
            "<command-name>/exit</command-name>\n  <command-args></command-args>",
            " <local-command-stdout>Bye!</local-command-stdout>",
            "<bash-input>ls</bash-input>",
            "<system-reminder>\nx\n</system-reminder>\n<ide_selection>y</ide_selection>",
            "<task-notification><task-id>b</task-id></task-notification>\nRead the output",
            " ",
        ] {
            assert!(texts.is_hosts(text), "{text}");
        }
        for text in [
            "<system-reminder>x</system-reminder> and now fix it",
            "<b>bold</b>",
            "what does <command-name> mean?",
            "<system-reminder> never closed",
            "[image] of it",
        ] {
            assert!(!texts.is_hosts(text), "{text}");
        }
    }

    #[test]
    fn y4_what_a_host_adds_to_a_message_is_not_the_users() {
        let texts = HostTexts::builtin();
        let text =
            "fix <b>it</b> <system-reminder>never stop</system-reminder> now <ide_selection>x";
        assert_eq!(
            texts.own_words(text),
            "fix <b>it</b> \n\n now <ide_selection>x"
        );
        assert!(matches!(texts.own_words("plain < text"), Cow::Borrowed(_)));
    }
}
