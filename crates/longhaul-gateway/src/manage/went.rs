//! Which tool results a compaction took out of view: by tool, what they were about, and how large they were. This is for
//! people; it stands beside the loss report, which says how many there were.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use longhaul_core::models::Tokenizer;
use longhaul_provider::Dialect;

use super::element::ElementParts;
use super::tools::KnownTools;
use super::weight::{self, TokenDensity};
use crate::store::{ResultThatWent, ResultsThatWent};

/// How many results are listed; the largest are.
const MOST: usize = 100;
/// The longest name of a tool, and of what its call was about, in characters.
const LONGEST: usize = 120;
/// Fields that say what a call was about, if the tool is not in the table.
const ABOUT: [&str; 9] = [
    "file_path",
    "path",
    "filename",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "description",
];

/// Whether the model of a conversation has a tool that brings results back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recallability {
    Recallable,
    NotRecallable,
}

/// What is known of a call.
struct KnownCall {
    tool: String,
    about: Option<String>,
}

/// Finds the results of some calls in a part of a conversation; `is_gone` says which. `None` if there are none.
pub(super) fn among<'e>(
    elements: impl Iterator<Item = &'e Bytes>,
    is_gone: impl Fn(&str) -> bool,
    (dialect, tokenizer): (Dialect, Tokenizer),
    tools: &KnownTools,
    recall: Recallability,
) -> Option<ResultsThatWent> {
    let density = TokenDensity::likely(tokenizer);
    let mut calls = HashMap::new();
    let mut seen = BTreeSet::new();
    let mut results = Vec::new();
    for element in elements {
        let Some(read) = ElementParts::read(element) else {
            continue;
        };
        calls.extend(known_calls(&read, tools));
        for result in read.results(dialect) {
            let call = result.call.into_owned();
            let content = result.content.and_then(|place| element.get(place));
            if !is_gone(&call) || !seen.insert(call.clone()) {
                continue;
            }
            let known: Option<&KnownCall> = calls.get(&call);
            results.push(ResultThatWent {
                tool: known.map_or_else(String::new, |known| known.tool.clone()),
                about: known.and_then(|known| known.about.clone()),
                tokens: density.tokens(weight::result(content.unwrap_or_default())),
                call,
            });
        }
    }
    results.sort_by_key(|result| std::cmp::Reverse(result.tokens));
    let more = results.len().saturating_sub(MOST) as u64;
    results.truncate(MOST);
    (!results.is_empty()).then_some(ResultsThatWent {
        results,
        more,
        recallable: recall == Recallability::Recallable,
    })
}

fn known_calls(read: &ElementParts<'_>, tools: &KnownTools) -> Vec<(String, KnownCall)> {
    let calls = read.calls().into_iter().map(|call| {
        let tool = tools.of_call(&call.name, call.input());
        let path = tool.and_then(|tool| tool.path.as_deref());
        let mut fields = path.into_iter().chain(ABOUT);
        let about = fields.find_map(|field| Some(in_one_line(&call.input().string(field)?)));
        let tool = in_one_line(&call.name);
        (call.id.into_owned(), KnownCall { tool, about })
    });
    calls.collect()
}

/// A name in one line of bounded length.
fn in_one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = words
        .filter(|word| !word.is_empty())
        .take(LONGEST)
        .collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        None => line,
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y3_results_that_went_are_named_by_tool_file_and_size_the_largest_first() {
        let long = "a line of text\n".repeat(400);
        let elements = [
            serde_json::json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "src/a.rs"}},
                {"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "ls\n-l"}},
                {"type": "tool_use", "id": "c", "name": "Other", "input": {}}]}),
            serde_json::json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "short"},
                {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": long}]},
                {"type": "tool_result", "tool_use_id": "c", "content": "kept"}]}),
        ];
        let elements = elements.map(|element| Bytes::from(element.to_string()));
        let went = among(
            elements.iter(),
            |call| call != "c",
            (Dialect::Anthropic, Tokenizer::Old),
            &KnownTools::builtin(),
            Recallability::Recallable,
        );
        let went = went.unwrap();
        let named: Vec<_> = (went.results.iter())
            .map(|one| (&*one.call, &*one.tool, one.about.as_deref()))
            .collect();
        assert_eq!(
            named,
            [
                ("b", "Bash", Some("ls -l")),
                ("a", "Read", Some("src/a.rs"))
            ]
        );
        assert!(went.results[0].tokens > 1_000);
        assert!(went.recallable);
    }

    #[test]
    fn y3_more_results_than_are_listed_are_counted_in_both_dialects() {
        let elements = (0..MOST + 7).flat_map(|number| {
            [
                serde_json::json!({"role": "assistant", "tool_calls": [{"id": format!("c{number}"), "type": "function",
                    "function": {"name": "look", "arguments": "{\"path\":\"x\"}"}}]}),
                serde_json::json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": "seen"}),
            ]
        });
        let elements: Vec<Bytes> = elements.map(|one| Bytes::from(one.to_string())).collect();
        let went = among(
            elements.iter(),
            |_| true,
            (Dialect::OpenAi, Tokenizer::New),
            &KnownTools::builtin(),
            Recallability::NotRecallable,
        );
        let went = went.unwrap();
        assert_eq!((went.results.len(), went.more), (MOST, 7));
        assert_eq!(went.results[0].about.as_deref(), Some("x"));
    }
}
