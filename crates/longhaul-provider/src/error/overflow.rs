//! Recognizes "prompt too long" in the wording of every server met so far, with the numbers where they are given (L1).
//!
//! Texts may change and new servers have new wordings, so a code or a type counts first. A response without a text is
//! never taken for an overflow: a mistake would cost the user a compaction.

use super::prompt_overflow::PromptOverflow;
use super::response::ErrorResponse;

/// One wording. Everything is lower case, and so is the text that it is compared with.
struct OverflowWording {
    /// The text contains all of these.
    holds: &'static [&'static str],
    /// The request's tokens come directly after the first of these that is found.
    actual: &'static [&'static str],
    /// Another part of the request's tokens comes directly after this.
    and: Option<&'static str>,
    /// The limit comes directly after the first of these that is found.
    limit: &'static [&'static str],
}

const fn wording(
    holds: &'static [&'static str],
    actual: &'static [&'static str],
    limit: &'static [&'static str],
) -> OverflowWording {
    OverflowWording {
        holds,
        actual,
        and: None,
        limit,
    }
}

const WORDINGS: &[OverflowWording] = &[
    // Anthropic, and Vertex with Anthropic's models.
    wording(&["prompt is too long"], &["too long:"], &[">"]),
    OverflowWording {
        holds: &["exceed context limit"],
        actual: &["context limit:"],
        and: Some("+"),
        limit: &[">"],
    },
    // Bedrock.
    wording(&["input is too long for requested model"], &[], &[]),
    // Gemini, with and without the count.
    wording(
        &["input token count", "exceeds the maximum"],
        &["input token count ("],
        &["tokens allowed ("],
    ),
    // OpenAI's chat completions, OpenRouter, vLLM, DeepSeek.
    wording(
        &["maximum context length is"],
        &[
            "resulted in",
            "requested about",
            "you requested",
            "request has",
            "prompt contains at least",
            "prompt contains",
            "messages contain",
        ],
        &["maximum context length is"],
    ),
    wording(
        &["context length is only"],
        &["you passed", "you requested"],
        &["context length is only"],
    ),
    // OpenAI's Responses.
    wording(&["exceeds the context window"], &[], &[]),
    // xAI.
    wording(
        &["maximum prompt length is"],
        &["request contains"],
        &["maximum prompt length is"],
    ),
    // Groq.
    wording(&["reduce the length of the messages"], &[], &[]),
    // Copilot.
    wording(
        &["token", "exceeds the limit of"],
        &["token count of"],
        &["exceeds the limit of"],
    ),
    // llama.cpp.
    wording(
        &["exceeds the available context size"],
        &["request ("],
        &["available context size ("],
    ),
    // LM Studio.
    wording(
        &["greater than the context length"],
        &[],
        &["context length of", "context length ("],
    ),
    // MiniMax. The number after it is an error code.
    wording(&["context window exceeds limit"], &[], &[]),
    // Kimi.
    wording(
        &["exceeded model token limit"],
        &["requested:"],
        &["token limit:"],
    ),
    // Mistral.
    wording(
        &["too large for model with", "maximum context length"],
        &["contains"],
        &["too large for model with"],
    ),
    // Qwen.
    wording(&["range of input length should be"], &[], &["[1,"]),
    // Claude Code's gateway.
    wording(&["prompt_too_long"], &[], &[]),
    wording(&["context_length_exceeded"], &[], &[]),
    wording(&["context length exceeded"], &[], &[]),
    wording(&["request entity too large"], &[], &[]),
];

/// The overflow that a response reports, if it does.
pub(super) fn find(answer: &ErrorResponse) -> Option<PromptOverflow> {
    let text = answer.message.to_lowercase();
    // The text is about bytes if the status says so; some servers use it for tokens.
    let about_bytes = answer.status == Some(413) && text.contains("entity too large");
    let found = WORDINGS
        .iter()
        .filter(|_| !about_bytes)
        .find(|wording| wording.holds.iter().all(|part| text.contains(part)))
        .map(|wording| wording.read(&text));
    let coded = [&answer.code, &answer.kind]
        .into_iter()
        .flatten()
        .any(|name| {
            matches!(
                name.as_str(),
                "context_length_exceeded" | "exceed_context_size_error" | "prompt_too_long"
            )
        });
    let told = answer.overflow;
    match (found, coded) {
        (Some(found), _) => Some(PromptOverflow {
            actual: found.actual.or(told.actual),
            limit: found.limit.or(told.limit),
        }),
        (None, true) => Some(told),
        (None, false) => None,
    }
}

impl OverflowWording {
    fn read(&self, text: &str) -> PromptOverflow {
        let first = |marks: &[&str]| marks.iter().find_map(|mark| number_after(text, mark));
        let actual = first(self.actual);
        let more = self.and.and_then(|mark| number_after(text, mark));
        PromptOverflow {
            actual: actual.map(|actual| actual.saturating_add(more.unwrap_or(0))),
            limit: first(self.limit),
        }
    }
}

/// The number that follows `mark`, with or without thousands separators.
fn number_after(text: &str, mark: &str) -> Option<u64> {
    text.match_indices(mark).find_map(|(at, mark)| {
        let rest = text[at + mark.len()..].trim_start();
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != ',' && c != '_')
            .unwrap_or(rest.len());
        let digits: String = rest[..end].chars().filter(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}
