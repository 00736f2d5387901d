//! Which tool results a compaction took out of view: by tool, what they were about, and how large they were. This is for
//! people; it stands beside the loss report, which says how many there were.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use longhaul_core::json::{self, ObjectReader, items};
use longhaul_core::models::Tokenizer;
use longhaul_provider::Dialect;

use super::element::ElementParts;
use super::splice::value;
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
        calls.extend(calls_of(dialect, &read, tools));
        for (call, content) in results_of(dialect, &read) {
            if !is_gone(&call) || !seen.insert(call.clone()) {
                continue;
            }
            let known: Option<&KnownCall> = calls.get(&call);
            results.push(ResultThatWent {
                tool: known.map_or_else(String::new, |known| known.tool.clone()),
                about: known.and_then(|known| known.about.clone()),
                tokens: density.tokens(weight::result(content)),
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

fn calls_of(
    dialect: Dialect,
    read: &ElementParts<'_>,
    tools: &KnownTools,
) -> Vec<(String, KnownCall)> {
    let known = |name: &str, input: ObjectReader<'_>| {
        let path = tools
            .of_call(name, input)
            .and_then(|tool| tool.path.as_deref());
        let mut fields = path.into_iter().chain(ABOUT);
        let about = fields.find_map(|field| input.string(field));
        KnownCall {
            tool: in_one_line(name),
            about: about.map(|about| in_one_line(&about)),
        }
    };
    match dialect {
        Dialect::Anthropic => {
            let blocks = read.blocks().into_iter().filter_map(|place| {
                let block = read.block(&place);
                let is_call = block.string("type").as_deref() == Some("tool_use");
                let input = block.object("input").filter(|_| is_call)?;
                Some((
                    block.string("id")?.into_owned(),
                    known(&block.string("name")?, input),
                ))
            });
            blocks.collect()
        }
        Dialect::OpenAi => {
            let listed = read.field("tool_calls").and_then(items).unwrap_or_default();
            let listed = listed.into_iter().filter_map(|call| {
                let call = ObjectReader::new(call);
                let function = call.object("function")?;
                let input = function.string("arguments").unwrap_or_default();
                let known = known(
                    &function.string("name")?,
                    ObjectReader::new(input.as_bytes()),
                );
                Some((call.string("id")?.into_owned(), known))
            });
            listed.collect()
        }
    }
}

/// The results of an element, each with the call that it answers.
fn results_of<'e>(dialect: Dialect, read: &ElementParts<'e>) -> Vec<(String, &'e [u8])> {
    match dialect {
        Dialect::Anthropic => {
            let blocks = read.blocks().into_iter().filter_map(|block| {
                let object = read.block(&block);
                let is_result = object.string("type").as_deref() == Some("tool_result");
                let call = object.string("tool_use_id").filter(|_| is_result)?;
                let content = value(read.text, block, "content");
                let content = content.and_then(|place| read.text.get(place));
                Some((call.into_owned(), content.unwrap_or_default()))
            });
            blocks.collect()
        }
        Dialect::OpenAi => {
            let call = read.field("tool_call_id").and_then(json::text);
            let call = call.filter(|_| read.role_name == "tool");
            let results = call.map(|call| (call.into_owned(), read.content()));
            results.into_iter().collect()
        }
    }
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
