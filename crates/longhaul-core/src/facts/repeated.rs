//! A message of the user as it is written into a summary message: a repeated message is written once, and a short
//! answer is written with its question.

use super::appendix;
use super::message::UserMessage;
use super::text_search::normalized;
use crate::hash::Map;
use crate::tokens::utf16_len;

/// The most ranges of numbers before a repeated text.
const MOST_RANGES: usize = 4;

/// A message, and the numbers of the user's messages with exactly that text.
#[derive(Debug, Clone)]
pub(super) struct RepeatedMessage<'a> {
    /// The newest of the messages.
    pub(super) message: &'a UserMessage,
    /// The numbers of all messages, ascending.
    pub(super) ordinals: Vec<u32>,
}

impl<'a> RepeatedMessage<'a> {
    /// Groups messages with the same words, in the order in which they were last said.
    pub(super) fn group(messages: &[&'a UserMessage]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::with_capacity(messages.len());
        let mut known: Map<String, usize> = Map::default();
        for message in messages {
            let alone = Self {
                message,
                ordinals: vec![message.ordinal],
            };
            let is_plain = message.cut.is_none()
                && message.asked.is_none()
                && message.images + message.documents == 0;
            if !is_plain {
                groups.push(alone);
                continue;
            }
            match known.get(&normalized(&message.text)) {
                Some(at) => {
                    let group = &mut groups[*at];
                    group.message = message;
                    group.ordinals.push(message.ordinal);
                }
                None => {
                    known.insert(normalized(&message.text), groups.len());
                    groups.push(alone);
                }
            }
        }
        groups.sort_by_key(|said| said.message.ordinal);
        groups
    }

    /// Whether the session's first request is among them.
    pub(super) fn is_first(&self) -> bool {
        self.ordinals.first() == Some(&1)
    }

    /// The message in at most this many UTF-16 units.
    pub(super) fn written(&self, most: usize) -> String {
        let number = format!("[{}]", self.message.ordinal);
        let numbers = self.numbers();
        let question = self
            .message
            .asked
            .as_ref()
            .map_or_else(String::new, |asked| {
                format!("(in answer to: “{}”)\n", normalized(asked))
            });
        let more = utf16_len(&numbers) + utf16_len(&question) - utf16_len(&number);
        let text = appendix::message(self.message, most.saturating_sub(more));
        match text.strip_prefix(&number) {
            Some(rest) => [&numbers, rest, &question].concat(),
            None => [text, question].concat(),
        }
    }

    /// `[7]`, or `[2, 5 to 7]` for a repeated message.
    fn numbers(&self) -> String {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for ordinal in &self.ordinals {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == *ordinal => *last = *ordinal,
                _ => ranges.push((*ordinal, *ordinal)),
            }
        }
        let mut named: Vec<String> = Vec::new();
        // The oldest and the newest are the most informative.
        let left_out = ranges.len().saturating_sub(MOST_RANGES);
        for (at, (first, last)) in ranges.iter().enumerate() {
            match (at, first == last) {
                (1, _) if left_out > 0 => named.push("…".to_owned()),
                (at, _) if (1..=left_out).contains(&at) => {}
                (_, true) => named.push(first.to_string()),
                (_, false) => named.push(format!("{first} to {last}")),
            }
        }
        format!("[{}]", named.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(ordinal: u32, text: &str) -> UserMessage {
        let json = serde_json::json!({"ordinal": ordinal, "uuid": "u", "text": text});
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn x1_what_was_said_several_times_is_written_once_with_its_numbers() {
        let texts = ["start", "go on", "go  on", "go on", "stop", "go on"];
        let all: Vec<UserMessage> = (1..)
            .zip(texts)
            .map(|(at, text)| message(at, text))
            .collect();
        let said = RepeatedMessage::group(&all.iter().collect::<Vec<_>>());
        let lines: Vec<String> = said.iter().map(|said| said.written(usize::MAX)).collect();
        assert_eq!(lines, ["[1] start\n", "[5] stop\n", "[2 to 4, 6] go on\n"]);
        let every_other: Vec<UserMessage> = (0..40).map(|at| message(at * 2 + 1, "yes")).collect();
        let said = RepeatedMessage::group(&every_other.iter().collect::<Vec<_>>());
        assert_eq!(said[0].written(usize::MAX), "[1, …, 75, 77, 79] yes\n");
        assert!(said[0].is_first());
    }

    #[test]
    fn x1_a_short_answer_stands_with_its_question() {
        let mut answer = message(4, "option 2");
        answer.asked = Some("1. Postgres\n2. MySQL\nWhich one?".to_owned());
        let said = RepeatedMessage::group(&[&answer]);
        assert_eq!(
            said[0].written(usize::MAX),
            "[4] option 2\n(in answer to: “1. Postgres 2. MySQL Which one?”)\n"
        );
    }
}
