//! Prompts from standard input: as text, or as one JSON object a line.

use serde_json::Value;

use crate::agent::Said;

/// A line that is no prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the input is no user message: {why}")]
pub struct BadInput {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

/// Reads prompts, one a line: `{"type":"user","message":{"role":"user","content":…}}`. Blank lines are nothing.
pub fn prompts(text: &str) -> Result<Vec<Said>, BadInput> {
    let mut all = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        let bad = |why: String| BadInput { line: number, why };
        let value: Value = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
        if value.get("type").and_then(Value::as_str) != Some("user") {
            return Err(bad("its `type` is not `user`".to_owned()));
        }
        let content = value.pointer("/message/content");
        all.push(match content {
            Some(Value::String(text)) => Said::text(text.clone()),
            Some(Value::Array(blocks)) => said(blocks),
            _ => return Err(bad("it has no `message.content`".to_owned())),
        });
    }
    Ok(all)
}

fn said(blocks: &[Value]) -> Said {
    let text = |block: &Value| {
        let is_text = block.get("type").and_then(Value::as_str) == Some("text");
        is_text.then(|| {
            block
                .get("text")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        })
    };
    let texts: Vec<String> = blocks.iter().filter_map(text).collect();
    Said {
        text: texts.join("\n\n"),
        blocks: blocks
            .iter()
            .filter(|block| text(block).is_none())
            .cloned()
            .collect(),
        attachments: Vec::new(),
    }
}
