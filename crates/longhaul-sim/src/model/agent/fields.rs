//! Fills the fields of a tool with words from the prompt: a city for `city`, a number for `days`, one of the values
//! that a field lists. Fields without a match are left to be made up.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The names of fields that take the whole request.
const WHOLE: &[&str] = &[
    "query",
    "question",
    "text",
    "prompt",
    "message",
    "search",
    "topic",
    "keyword",
    "term",
    "expression",
    "input",
];
/// The words before the subject of a request.
const ABOUT: &[&str] = &["in", "of", "for", "at", "about", "from", "to", "on"];

/// The fields that these words fill, as hints for an input of this schema. `tool` is the tool's name, which is not a
/// value.
pub(super) fn filled(schema: &Value, words: &str, tool: &str) -> Value {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut given = Given {
        words,
        tool,
        used: BTreeSet::new(),
    };
    let mut hints = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    // Values with a field's name come first, so that none of them is taken for another field.
    for (name, node) in properties.into_iter().flatten() {
        if let Some(value) = given.listed(node).or_else(|| given.by_name(name, node)) {
            hints.insert(name.clone(), value);
        }
    }
    for (name, node) in properties.into_iter().flatten() {
        if required.contains(&name.as_str())
            && !hints.contains_key(name)
            && let Some(value) = given.guessed(name, node)
        {
            hints.insert(name.clone(), value);
        }
    }
    Value::Object(hints)
}

struct Given<'w> {
    words: &'w str,
    tool: &'w str,
    /// Values that are already used are not used for another field.
    used: BTreeSet<String>,
}

impl<'w> Given<'w> {
    /// A value that the field lists and the words mention.
    fn listed(&self, node: &Value) -> Option<Value> {
        let values = node.get("enum")?.as_array()?;
        let tokens: Vec<String> = tokens(self.words).map(str::to_lowercase).collect();
        let is_named = |value: &&Value| {
            let text = value.as_str().map(str::to_lowercase);
            text.is_some_and(|text| tokens.contains(&text))
        };
        values.iter().find(is_named).cloned()
    }

    /// The value before or after the field's name: `city: Paris`, `city "Paris"`, `the city of Paris`, `3 days`.
    fn by_name(&mut self, name: &str, node: &Value) -> Option<Value> {
        let tokens: Vec<&str> = tokens(self.words).collect();
        let field = name.to_lowercase().replace(['_', '-'], " ");
        let field = field.rsplit(' ').next().unwrap_or(&field);
        let is_it = |token: &&str| {
            let token = token.to_lowercase();
            token == field || token == name.to_lowercase() || token == format!("{field}s")
        };
        let at = tokens.iter().position(is_it)?;
        if is_number(node) {
            let near = [at.checked_sub(1), Some(at + 1), Some(at + 2)];
            let mut near = near.iter().flatten().filter_map(|at| tokens.get(*at));
            return near.find_map(|token| self.number(token));
        }
        if !is_text(node) {
            return None;
        }
        let token = tokens.get(at)?;
        let begin = self.words.find(token)? + token.len();
        let rest = self.words.get(begin..)?;
        let set = rest.trim_start().starts_with([':', '=', '"', '`', '“']);
        let rest = rest.trim_start_matches([':', '=', ' ']);
        let rest = ["is ", "of ", "set to "]
            .iter()
            .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
        let value = match quoted(rest).filter(|_| rest.starts_with(['"', '`', '“'])) {
            Some(value) => value.to_owned(),
            None => match proper_run(rest) {
                Some(value) => value,
                None if set => self::tokens(rest).next()?.to_owned(),
                None => return None,
            },
        };
        self.take(value)
    }

    /// The value that fits the field best.
    fn guessed(&mut self, name: &str, node: &Value) -> Option<Value> {
        if is_number(node) {
            let mut tokens = tokens(self.words);
            return tokens.find_map(|token| self.number(token));
        }
        if !is_text(node) || node.get("enum").is_some() {
            return None;
        }
        let name = name.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let mut found: Vec<String> = Vec::new();
        let mut where_it = |is_it: &dyn Fn(&str) -> bool| {
            let pieces = self.words.split_whitespace().map(bare);
            found.extend(pieces.filter(|piece| is_it(piece)).map(str::to_owned));
        };
        match () {
            () if has(&["url", "uri", "link"]) => where_it(&|token| token.contains("://")),
            () if has(&["mail"]) => where_it(&|token| token.contains('@')),
            () if has(&["date", "day", "time"]) => where_it(&|token| {
                token.contains(['-', ':']) && token.starts_with(|c: char| c.is_ascii_digit())
            }),
            () if has(&["path", "file", "folder"]) => {
                where_it(&|token| token.contains('/') || token.contains('.'));
            }
            () => {
                found.extend(quoted(self.words).map(str::to_owned));
                if has(WHOLE) {
                    found.push(self.request());
                }
                found.extend(self.proper_names());
                found.extend(self.about());
            }
        }
        let fresh = |value: &String| !value.is_empty() && !self.used.contains(value);
        let value = found.into_iter().find(fresh)?;
        self.take(value)
    }

    fn number(&mut self, token: &str) -> Option<Value> {
        let value: Value = match token.parse::<i64>() {
            Ok(whole) => whole.into(),
            Err(_) => token
                .parse::<f64>()
                .ok()
                .filter(|it| it.is_finite())?
                .into(),
        };
        self.used.insert(token.to_owned()).then_some(value)
    }

    fn take(&mut self, value: String) -> Option<Value> {
        self.used.insert(value.clone()).then(|| Value::from(value))
    }

    /// The request without the sentence that names the tool, if there is another one.
    fn request(&self) -> String {
        let mut sentences = sentences(self.words);
        let other = sentences.find(|sentence| !sentence.contains(self.tool));
        let text = other.unwrap_or(self.words).trim();
        text.trim_end_matches(['.', '!']).to_owned()
    }

    /// Capitalized names that do not begin a sentence.
    fn proper_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for sentence in sentences(self.words) {
            let mut rest = sentence.trim_start();
            while let Some((_, after)) = rest.split_once(' ') {
                rest = after.trim_start_matches([' ', '"', '(', '“']);
                if let Some(name) = proper_run(rest) {
                    rest = rest.get(name.len()..).unwrap_or("");
                    if name != self.tool && name != "I" {
                        names.push(name);
                    }
                }
            }
        }
        names
    }

    /// The text after a word such as `in` or `about`, up to the end of the clause.
    fn about(&self) -> Option<String> {
        let mut words = self.request();
        if let Some(end) = words.find(['?', ',', ';', '!']) {
            words.truncate(end);
        }
        let words: Vec<&str> = words.split_whitespace().collect();
        let opens = |word: &&str| ABOUT.contains(&word.to_lowercase().as_str());
        let at = words.iter().rposition(opens)?;
        Some(words[at + 1..].join(" "))
    }
}

fn is_number(node: &Value) -> bool {
    kinds(node).any(|kind| matches!(kind, "integer" | "number"))
}

fn is_text(node: &Value) -> bool {
    kinds(node).any(|kind| kind == "string")
}

fn kinds(node: &Value) -> impl Iterator<Item = &str> {
    let kind = node.get("type");
    let several = kind.and_then(Value::as_array).into_iter().flatten();
    kind.into_iter().chain(several).filter_map(Value::as_str)
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', '\n'])
        .filter(|sentence| !sentence.trim().is_empty())
}

/// The words without the punctuation around them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let tokens = text.split(|letter: char| letter.is_whitespace() || "=,;\"“”".contains(letter));
    tokens.map(bare).filter(|token| !token.is_empty())
}

fn bare(token: &str) -> &str {
    token
        .trim_matches(|letter: char| ",;!?\"'`()<>“”:=".contains(letter))
        .trim_end_matches('.')
}

/// The text in the first quotation marks.
fn quoted(text: &str) -> Option<&str> {
    let inner = text.split(['"', '`', '“', '”']).nth(1)?.trim();
    (!inner.is_empty()).then_some(inner)
}

/// The capitalized words at the beginning of a text, such as `New York` or `Springfield, IL`.
fn proper_run(text: &str) -> Option<String> {
    let mut end = 0;
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        if !bare.starts_with(char::is_uppercase) {
            break;
        }
        let at = text[end..].find(bare)? + end;
        end = at + bare.len();
        let closes = word.trim_end().len() > bare.len();
        let state = text.get(end..).and_then(|rest| rest.strip_prefix(", "));
        let state = state.and_then(|rest| rest.get(..2));
        if closes && !state.is_some_and(|two| two.chars().all(char::is_uppercase)) {
            break;
        }
    }
    (end > 0).then(|| text[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_filled_from_the_words_of_a_prompt() {
        let schema = json!({ "type": "object", "required": ["city", "days"], "properties": {
            "city": { "type": "string" }, "days": { "type": "integer" },
            "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] } } });
        for (words, wanted) in [
            (
                "What is it like in New York, in Celsius, for the next 3 days? Use the get_weather tool.",
                json!({ "city": "New York", "days": 3, "unit": "celsius" }),
            ),
            (
                "Call get_weather with city: \"Bad Ems\" and days=2",
                json!({ "city": "Bad Ems", "days": 2 }),
            ),
            (
                "Use get_weather for Springfield, IL and 5 days.",
                json!({ "city": "Springfield, IL", "days": 5 }),
            ),
            (
                "use the get_weather tool for the city of paris, 1 day",
                json!({ "city": "paris", "days": 1 }),
            ),
        ] {
            let hints = filled(&schema, words, "get_weather");
            assert_eq!(hints, wanted, "{words}");
        }
        let search = json!({ "type": "object", "required": ["query"],
            "properties": { "query": { "type": "string" } } });
        assert_eq!(
            filled(
                &search,
                "Who built the pier? Use the web_search tool.",
                "web_search"
            ),
            json!({ "query": "Who built the pier?" })
        );
    }
}
