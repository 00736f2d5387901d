//! The first words of the user, by which people find a conversation again.

use longhaul_core::facts::HostTexts;

use super::compactor::Compactor;
use super::element::{ElementParts, texts};
use super::request_context::RequestContext;
use crate::body::BodyRole;

/// The longest title, in characters.
const LONGEST: usize = 80;
/// How many messages are looked at: agents put texts of their own before the user's.
const LOOKED_AT: usize = 8;
/// The longest message that is looked at, in bytes.
const LONGEST_MESSAGE: usize = 256 << 10;

impl Compactor {
    /// The first words of the user in a request; `None` if there are none.
    pub(crate) fn title(&self, material: &RequestContext) -> Option<String> {
        let roles = material.roles().iter().enumerate();
        let asked = roles.filter(|(_, role)| **role == BodyRole::User);
        asked.take(LOOKED_AT).find_map(|(index, _)| {
            let element = material.element(index)?;
            let is_short = element.len() <= LONGEST_MESSAGE;
            let host = &self.settings.vocabulary.host_texts;
            is_short.then(|| first_words(&element, host))?
        })
    }
}

/// The first words of a message that are the user's own.
fn first_words(element: &[u8], host: &HostTexts) -> Option<String> {
    let read = ElementParts::read(element)?;
    let blocks = read.blocks();
    let mut said = blocks
        .iter()
        .filter(|place| read.block(place).string("type").as_deref() == Some("text"))
        .filter_map(|place| read.block(place).string("text"))
        .map(|text| text.into_owned())
        .chain(blocks.is_empty().then(|| texts(read.content())));
    said.find_map(|text| {
        let own = host.own_words(&text);
        let words = own.split(|letter: char| letter.is_whitespace() || letter.is_control());
        let words: Vec<&str> = (words.filter(|word| !word.is_empty()))
            .take(LONGEST)
            .collect();
        let line = words.join(" ");
        match line.char_indices().nth(LONGEST) {
            None => (!line.is_empty()).then_some(line),
            Some((end, _)) => {
                let cut = line.get(..end).unwrap_or_default();
                // A long first word is cut, too.
                let whole = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
                Some(format!("{whole}…"))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(content: serde_json::Value) -> Option<String> {
        let element = serde_json::json!({"role": "user", "content": content}).to_string();
        first_words(element.as_bytes(), &HostTexts::builtin())
    }

    #[test]
    fn a_title_is_the_users_first_words_in_one_line_without_the_hosts() {
        let reminder = "<system-reminder>\nToday is Friday.\n</system-reminder>";
        assert_eq!(
            title("Fix\n\tthe \u{1b}build".into()).as_deref(),
            Some("Fix the build")
        );
        let blocks = serde_json::json!([{"type": "text", "text": reminder}, {"type": "image"},
            {"type": "text", "text": format!("{reminder}\nMove the tests.")}]);
        assert_eq!(title(blocks).as_deref(), Some("Move the tests."));
        let results = serde_json::json!([{"type": "tool_result", "content": [{"type": "text", "text": "no"}]}]);
        assert_eq!(title(results), None);
        let long = title("many words ".repeat(40).into()).unwrap();
        assert!(
            long.ends_with("words…") && long.chars().count() <= LONGEST + 1,
            "{long}"
        );
        assert_eq!(
            title("x".repeat(500).into()).unwrap().chars().count(),
            LONGEST + 1
        );
    }
}
