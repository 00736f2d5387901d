//! Parses a script, JSON Lines or one document, and reports what is wrong with a bad one and on which line.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{HelperResponder, ReplyScript, ScriptEnd, ScriptedCall, ScriptedTurn, TurnCounting};
use crate::model::DraftStop;

/// The file is not a valid script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ScriptError {
    /// The line number, counted from 1.
    pub line: usize,
    /// The problem.
    pub message: String,
}

fn wrong(line: usize, message: impl Into<String>) -> ScriptError {
    ScriptError {
        line,
        message: message.into(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptHeader<'a> {
    script: Option<u32>,
    by: Option<String>,
    end: Option<String>,
    helpers: Option<String>,
    #[serde(borrow)]
    turns: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTurn {
    thinking: Option<String>,
    text: Option<ScriptTexts>,
    tools: Option<Vec<RawCall>>,
    stop: Option<String>,
    fault: Option<String>,
    repeat: Option<u64>,
    #[serde(rename = "match")]
    pattern: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`text` has to be a text or a list of texts")]
enum ScriptTexts {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    name: String,
    #[serde(default)]
    input: Map<String, Value>,
}

pub(super) fn script(text: &str) -> Result<ReplyScript, ScriptError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut script = ReplyScript::default();
    if is_document(text) {
        document(text, &mut script)?;
    } else {
        lines(text, &mut script)?;
    }
    if script.steps.is_empty() && script.rules.is_empty() && script.end != ScriptEnd::Agent {
        return Err(wrong(1, "the script has no turns"));
    }
    Ok(script)
}

/// Whether the text is one JSON document and not a single turn: a list, an object with `turns`, or a value that spans
/// several lines.
fn is_document(text: &str) -> bool {
    let trimmed = text.trim_start();
    let first = trimmed.lines().next().unwrap_or("");
    if trimmed.starts_with('[') {
        return true;
    }
    let whole_line = serde_json::from_str::<&RawValue>(first).is_ok();
    trimmed.starts_with('{') && (!whole_line || first.contains("\"turns\""))
}

fn document(text: &str, script: &mut ReplyScript) -> Result<(), ScriptError> {
    let bad = |error: serde_json::Error| wrong(error.line(), plain(&error));
    let turns = if text.trim_start().starts_with('[') {
        serde_json::from_str::<Vec<&RawValue>>(text).map_err(bad)?
    } else {
        let mut head: ScriptHeader<'_> = serde_json::from_str(text).map_err(bad)?;
        let turns = head.turns.take();
        read_header(&head, 1, script)?;
        turns.ok_or_else(|| wrong(1, "the document has no `turns`"))?
    };
    for raw in turns {
        let offset = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let line = 1 + text.as_bytes()[..offset.min(text.len())]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        turn(raw.get(), line, script)?;
    }
    Ok(())
}

fn lines(text: &str, script: &mut ReplyScript) -> Result<(), ScriptError> {
    let mut first = true;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") || line.starts_with('#') {
            continue;
        }
        let number = index + 1;
        let is_head = first
            && line.contains("\"script\"")
            && serde_json::from_str::<Map<String, Value>>(line)
                .is_ok_and(|map| map.contains_key("script"));
        if is_head {
            let head: ScriptHeader<'_> =
                serde_json::from_str(line).map_err(|error| wrong(number, plain(&error)))?;
            read_header(&head, number, script)?;
        } else {
            turn(line, number, script)?;
        }
        first = false;
    }
    Ok(())
}

fn read_header(
    head: &ScriptHeader<'_>,
    line: usize,
    script: &mut ReplyScript,
) -> Result<(), ScriptError> {
    if let Some(version) = head.script.filter(|version| *version != 1) {
        return Err(wrong(
            line,
            format!("script version {version} is not known; this reads version 1"),
        ));
    }
    let choice = |field: &str, given: &Option<String>, known: &[&str]| match given {
        Some(given) => known
            .iter()
            .position(|name| name == given)
            .map(Some)
            .ok_or_else(|| {
                wrong(
                    line,
                    format!(
                        "`{field}` is `{given}`; it has to be one of {}",
                        known.join(", ")
                    ),
                )
            }),
        None => Ok(None),
    };
    if let Some(at) = choice("by", &head.by, &["calls", "replies"])? {
        script.by = [TurnCounting::Calls, TurnCounting::Replies][at];
    }
    if let Some(at) = choice("end", &head.end, &["stop", "last", "loop", "agent"])? {
        script.end = [
            ScriptEnd::Stop,
            ScriptEnd::Last,
            ScriptEnd::Loop,
            ScriptEnd::Agent,
        ][at];
    }
    if let Some(at) = choice("helpers", &head.helpers, &["script", "built-in"])? {
        script.helpers = [HelperResponder::Script, HelperResponder::BuiltIn][at];
    }
    Ok(())
}

fn turn(text: &str, line: usize, script: &mut ReplyScript) -> Result<(), ScriptError> {
    let raw: RawTurn = serde_json::from_str(text)
        .map_err(|error| wrong(line + error.line().saturating_sub(1), plain(&error)))?;
    let calls: Vec<ScriptedCall> = raw
        .tools
        .unwrap_or_default()
        .into_iter()
        .map(|call| ScriptedCall {
            name: call.name,
            input: Value::Object(call.input),
        })
        .collect();
    let stop = match (raw.stop.as_deref(), calls.is_empty()) {
        (None, _) | (Some("end_turn"), true) | (Some("tool_use"), false) => DraftStop::Natural,
        (Some("refusal"), _) => DraftStop::Refusal,
        (Some("max_tokens"), _) => DraftStop::CutOff,
        (Some("end_turn"), false) => {
            return Err(wrong(
                line,
                "a turn with `tools` stops with `tool_use`, not `end_turn`",
            ));
        }
        (Some("tool_use"), true) => return Err(wrong(line, "`tool_use` needs `tools`")),
        (Some(other), _) => {
            let known = "end_turn, tool_use, refusal, max_tokens";
            return Err(wrong(
                line,
                format!("`stop` is `{other}`; it has to be one of {known}"),
            ));
        }
    };
    let texts = match raw.text {
        None => Vec::new(),
        Some(ScriptTexts::One(text)) => vec![text],
        Some(ScriptTexts::Many(texts)) => texts,
    };
    if texts.is_empty()
        && calls.is_empty()
        && raw.thinking.is_none()
        && raw.stop.is_none()
        && raw.fault.is_none()
    {
        return Err(wrong(
            line,
            "the turn says nothing: give it `text`, `thinking`, `tools`, `stop` or `fault`",
        ));
    }
    if raw.repeat == Some(0) {
        return Err(wrong(line, "`repeat` has to be 1 or more"));
    }
    if raw.repeat.is_some() && raw.pattern.is_some() {
        return Err(wrong(
            line,
            "a turn with `match` answers every call that matches; `repeat` has no meaning there",
        ));
    }
    if raw.pattern.as_deref() == Some("") {
        return Err(wrong(line, "`match` is empty"));
    }
    let step = ScriptedTurn {
        line,
        thinking: raw.thinking,
        texts,
        calls,
        stop,
        fault: raw.fault,
        repeat: raw.repeat.unwrap_or(1),
        pattern: raw.pattern,
    };
    match step.pattern {
        Some(_) => script.rules.push(step),
        None => script.steps.push(step),
    }
    Ok(())
}

/// The error without serde's own position, which refers to a single line.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}
