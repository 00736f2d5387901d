//! How much of what the user wrote the model still had in view at the end of a session, word for word.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::facts::{Facts, Vocabulary};
use longhaul_core::message::Entry;
use serde_json::{Value, json};

use crate::provider::texts_of;

/// Counts of the user's messages and stated rules.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kept {
    /// Messages in view, and all.
    pub(crate) messages: (usize, usize),
    /// Rules in view, and all.
    pub(crate) rules: (usize, usize),
}

impl Kept {
    /// Adds those of another session.
    pub(crate) fn add(&mut self, other: Self) {
        let pairs = [
            (&mut self.messages, other.messages),
            (&mut self.rules, other.rules),
        ];
        for (ours, theirs) in pairs {
            ours.0 += theirs.0;
            ours.1 += theirs.1;
        }
    }
}

/// Looks for the user's words of these messages in what the model saw, line by line. White space does not count; a short
/// line may be found by chance, for every way alike. What our own reading words anew (the answer to a question, together
/// with the question) is not counted.
pub(crate) fn kept(sent: &[&Value], texts: &[String]) -> Kept {
    let facts = facts(sent);
    let mut client = Vec::new();
    for message in sent {
        texts_of(&message["content"], &mut client);
    }
    let (client, view) = (joined(&client), joined(texts));
    let count = |said: Vec<&str>| {
        let said: Vec<Vec<String>> = said.into_iter().map(lines).collect();
        let holds = |text: &str, said: &[String]| said.iter().all(|line| text.contains(line));
        let said = said.iter().filter(|said| holds(&client, said));
        let found = said.clone().filter(|said| holds(&view, said));
        (found.count(), said.count())
    };
    let messages = facts.messages().iter().map(|message| message.text.as_str());
    let rules = facts.rules().iter().map(|rule| rule.text.as_str());
    Kept {
        messages: count(messages.collect()),
        rules: count(rules.collect()),
    }
}

fn facts(sent: &[&Value]) -> Facts {
    let mut facts = Facts::new(Arc::new(Vocabulary::default()));
    for (at, message) in sent.iter().enumerate() {
        let line = json!({"type": message["role"], "uuid": format!("m{at}"), "message": message});
        let entry = Entry::read(Bytes::from(line.to_string())).unwrap();
        facts.push(entry.view());
    }
    facts
}

/// The texts in one piece, because a message may consist of several.
fn joined(texts: &[String]) -> String {
    let lines = texts.iter().flat_map(|text| text.lines()).map(plain);
    lines.collect::<Vec<_>>().join("\n")
}

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(plain);
    lines.filter(|line| !line.is_empty()).collect()
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
