//! What a request demands of the reply besides its words: whether and how many tools may be called, whether to think
//! first, how long the answer may be, and in which format.

use serde_json::Value;

use super::conversation::prompt;
use crate::request::MessagesRequest;

/// A number of bytes that surely fit into a token. Real text has 3 to 4; content that must not be truncated is planned
/// with less.
const BYTES_A_TOKEN: usize = 3;

/// Which calls a reply may make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedCalls {
    /// No calls: `tool_choice` or the user forbids them.
    Forbidden,
    /// At most one call.
    One,
    /// Several calls.
    Many,
    /// At least one call is required.
    Forced,
    /// A call of this tool is required.
    ForcedTo(String),
}

/// Whether thinking is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedThinking {
    /// The reply has no thinking blocks.
    Off,
    /// The reply has thinking blocks where the model wants them.
    On,
    /// A budget is given: every reply begins with thinking, or the API would not take it back within a turn.
    Always,
}

/// The constraints of a request on its reply.
#[derive(Debug, Clone)]
pub struct ReplyConstraints<'a> {
    /// The index of the message with the user's newest words.
    pub prompt_at: usize,
    /// The user's newest words.
    pub words: String,
    /// Which calls are allowed.
    pub calls: AllowedCalls,
    /// The tools that the user asked not to use, by name.
    pub unwanted: Vec<String>,
    /// Whether to think.
    pub thinking: RequestedThinking,
    /// The maximum length of the answer in bytes.
    pub room: usize,
    /// The JSON Schema that the answer must follow.
    pub format: Option<&'a Value>,
}

impl<'a> ReplyConstraints<'a> {
    /// Reads the constraints from a request.
    pub fn of(request: &'a MessagesRequest) -> Self {
        let (prompt_at, words) = prompt(&request.messages).unwrap_or_default();
        let choice = request.fields.get("tool_choice");
        let single = choice.and_then(|choice| choice.get("disable_parallel_tool_use"));
        let names: Vec<&str> = request
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        let wish = wish(&words, &names);
        let calls = match choice
            .and_then(|choice| choice.get("type"))
            .and_then(Value::as_str)
        {
            Some("none") => AllowedCalls::Forbidden,
            Some("any") => AllowedCalls::Forced,
            Some("tool") => AllowedCalls::ForcedTo(
                choice
                    .and_then(|choice| choice.get("name"))
                    .and_then(Value::as_str)
                    .unwrap_or("")
                    .to_owned(),
            ),
            _ if wish.no_tools => AllowedCalls::Forbidden,
            _ if single == Some(&Value::Bool(true)) => AllowedCalls::One,
            _ => AllowedCalls::Many,
        };
        let thinking = request
            .fields
            .get("thinking")
            .and_then(|thinking| thinking.get("type"));
        Self {
            prompt_at,
            words,
            calls,
            unwanted: wish.unwanted,
            thinking: match thinking.and_then(Value::as_str) {
                Some("enabled") => RequestedThinking::Always,
                Some("adaptive" | "between_tools") => RequestedThinking::On,
                _ => RequestedThinking::Off,
            },
            room: request.max_tokens.unwrap_or(4096) as usize * BYTES_A_TOKEN,
            format: request
                .fields
                .get("output_config")
                .and_then(|config| config.get("format"))
                .or_else(|| request.fields.get("output_format"))
                .and_then(|format| format.get("schema")),
        }
    }
}

#[derive(Debug, Default)]
struct ToolRestrictions {
    no_tools: bool,
    unwanted: Vec<String>,
}

const NEGATIONS: &[&str] = &[
    "no", "not", "don't", "dont", "never", "without", "avoid", "cannot", "can't",
];
const BETWEEN: &[&str] = &[
    "use", "using", "call", "calling", "make", "making", "invoke", "invoking", "run", "running",
    "any", "the", "of", "more", "further", "to", "your", "these", "those", "a", "single",
    "allowed", "attempt", "request",
];

/// What the user's words say about tools: "do not use any tools", "text only", "don't use Bash".
fn wish(words: &str, names: &[&str]) -> ToolRestrictions {
    let mut wish = ToolRestrictions::default();
    let lower = words
        .to_lowercase()
        .replace(['*', '_', '’'], "'")
        .replace("''", "");
    for sentence in lower.split(['.', '!', '?', '\n', ';']) {
        let tokens: Vec<&str> = sentence
            .split(|letter: char| {
                letter.is_whitespace() || matches!(letter, ',' | ':' | '(' | ')' | '`' | '"')
            })
            .map(|token| token.trim_matches(|letter: char| !letter.is_alphanumeric()))
            .filter(|token| !token.is_empty())
            .collect();
        wish.no_tools |= text_only(&tokens);
        for (at, token) in tokens.iter().enumerate() {
            if !NEGATIONS.contains(token) {
                continue;
            }
            for next in tokens.iter().skip(at + 1).take(7) {
                if matches!(*next, "tool" | "tools" | "tool-calls" | "tool-use") {
                    wish.no_tools |= wish.unwanted.is_empty();
                    break;
                }
                let named = names.iter().find(|name| squeezed(name) == squeezed(next));
                if let Some(name) = named {
                    wish.unwanted.push((*name).to_owned());
                } else {
                    let listing = matches!(*next, "or" | "and") && !wish.unwanted.is_empty();
                    if !listing && !BETWEEN.contains(next) {
                        break;
                    }
                }
            }
        }
    }
    wish
}

fn text_only(tokens: &[&str]) -> bool {
    let pair = |first, second| {
        tokens
            .windows(2)
            .any(|pair| pair[0] == first && pair[1] == second)
    };
    let answering = tokens.iter().any(|token| {
        ["answer", "respond", "reply", "response", "output"]
            .iter()
            .any(|verb| token.starts_with(verb))
    });
    tokens.contains(&"text-only")
        || pair("text", "only")
        || pair("only", "text")
        || answering
            && (pair("plain", "text")
                || pair("in", "text")
                || pair("with", "text")
                || pair("in", "prose"))
}

fn squeezed(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_about_tools_are_understood() {
        let names = ["Bash", "Read"];
        for forbidding in [
            "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
            "Explain it without using any tools.",
            "Please don't use tools here",
            "answer in plain text",
            "You must not make any more tool calls; tools will be refused",
            "**Do not** use the tools",
        ] {
            assert!(wish(forbidding, &names).no_tools, "{forbidding}");
        }
        for harmless in [
            "Use the tools as you like.",
            "Don't forget to run the tests with our tools",
            "Convert the page to plain text",
            "Do not touch tests; our tooling is fine",
            "Do not use any other tools",
        ] {
            assert!(!wish(harmless, &names).no_tools, "{harmless}");
        }
        let only_bash = wish("Do not use the Bash tool for this", &names);
        assert!(!only_bash.no_tools && only_bash.unwanted == ["Bash"]);
    }
}
