//! The first words of the user, by which people find a conversation again.

use longhaul_core::facts::HostTexts;

use super::compactor::Compactor;
use super::element::{ElementParts, texts};
use super::request_context::RequestContext;
use crate::body::BodyRole;
use crate::branch::Credentials;
use crate::watch::without_secrets;

/// The longest title, in characters.
const LONGEST: usize = 80;
/// The longest word at the end of a title that is left out rather than cut.
const LONGEST_WORD: usize = 24;
/// How many messages are looked at: agents put texts of their own before the user's.
const LOOKED_AT: usize = 8;
/// The longest message that is looked at, in bytes.
const LONGEST_MESSAGE: usize = 256 << 10;

impl Compactor {
    /// The first words of the user in a request; `None` if there are none.
    pub(crate) fn title(&self, context: &RequestContext) -> Option<String> {
        let roles = context.roles().iter().enumerate();
        let secrets = Credentials::of(&context.asking.headers, context.asking.uri.query());
        let asked = roles.filter(|(_, role)| **role == BodyRole::User);
        asked.take(LOOKED_AT).find_map(|(index, _)| {
            let element = context.messages.element(index)?;
            let is_short = element.len() <= LONGEST_MESSAGE;
            let host = &self.settings.vocabulary.host_texts;
            is_short.then(|| first_words(&element, host, &secrets))?
        })
    }
}

/// The first words of a message that are the user's own.
fn first_words(element: &[u8], host: &HostTexts, secrets: &Credentials) -> Option<String> {
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
        // Nothing turns the direction of the texts around it.
        let own: String = own
            .chars()
            .filter(|letter| !is_invisible(*letter))
            .collect();
        let words = own.split(|letter: char| letter.is_whitespace() || letter.is_control());
        let words: Vec<&str> = (words.filter(|word| !word.is_empty()))
            .take(LONGEST)
            .collect();
        let line = without_secrets(&words.join(" "), secrets);
        match line.char_indices().nth(LONGEST) {
            None => (!line.is_empty()).then_some(line),
            Some((end, _)) => {
                let cut = line.get(..end).unwrap_or_default();
                // A long word is cut, too: there are scripts without spaces.
                let whole = cut.rsplit_once(' ').map(|(words, _)| words);
                let whole = whole.filter(|words| words.chars().count() + LONGEST_WORD >= LONGEST);
                Some(format!("{}…", whole.unwrap_or(cut)))
            }
        }
    })
}

/// Whether a character only changes how others are shown: direction, isolation, joining without width.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn title(content: serde_json::Value) -> Option<String> {
        let element = serde_json::json!({"role": "user", "content": content}).to_string();
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", "my-own-secret".parse().unwrap());
        let secrets = Credentials::of(&headers, None);
        first_words(element.as_bytes(), &HostTexts::builtin(), &secrets)
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

    #[test]
    fn n8_a_title_has_no_key_in_it() {
        assert_eq!(
            title("My key is sk-ant-api03-AbCd1234, use my-own-secret too".into()).as_deref(),
            Some("My key is …, use … too")
        );
    }

    #[test]
    fn a_title_of_a_script_without_spaces_is_cut_at_a_character() {
        let chinese = format!("修复 {}", "构建".repeat(100));
        assert_eq!(title(chinese.into()).unwrap().chars().count(), LONGEST + 1);
    }

    #[test]
    fn a_title_cannot_turn_what_follows_around() {
        let turned = "Open \u{202e}txt.exe\u{2066} now";
        assert_eq!(title(turned.into()).as_deref(), Some("Open txt.exe now"));
    }
}
