//! Telling the user's words from texts that hosts put into user messages: command wrappers, interrupt markers,
//! reminders (ruling 14). The list is data, in `host_texts.txt`.

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
        while let Some(inside) = rest.strip_prefix('<') {
            let behind = self.elements.iter().find_map(|name| {
                let body = inside.strip_prefix(name.as_str())?;
                body.starts_with(['>', ' ']).then_some(())?;
                let close = format!("</{name}>");
                let at = body.find(&close)?;
                Some(&body[at + close.len()..])
            });
            match behind {
                Some(behind) => rest = behind.trim_start(),
                None => return false,
            }
        }
        rest.is_empty()
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
}
