//! Prompts for print mode: as text, or as one JSON object per line, each answered as it arrives.

use std::io::BufRead;

use serde_json::Value;
use tokio::sync::mpsc;

use crate::agent::UserPrompt;

/// The maximum number of waiting lines: a writer that is faster than the model is held back.
const WAITING: usize = 16;

/// A line that is not a valid prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the input is not a user message: {why}")]
pub(crate) struct BadPrintInput {
    /// The line number, counted from 1.
    pub line: usize,
    /// The problem with the line.
    pub why: String,
}

/// One line of the input.
#[derive(Debug)]
pub(super) enum PrintInputLine {
    /// A prompt to work on.
    Said(UserPrompt),
    /// A request of the control protocol, which is answered with "not supported" so that no caller waits for it.
    Control(String),
}

/// Prompts in the order in which they arrive.
#[derive(Debug)]
pub struct PromptQueue(mpsc::Receiver<Result<PrintInputLine, BadPrintInput>>);

impl PromptQueue {
    /// Reads `{"type":"user","message":{"role":"user","content":…}}`, one object per line, on a separate thread: each
    /// is answered while the input stays open. A line that is no prompt is an error of its own, and the next one is read.
    /// `first` goes before them.
    pub fn from_lines(first: Option<UserPrompt>, mut input: impl BufRead + Send + 'static) -> Self {
        let (lines, prompts) = mpsc::channel(WAITING);
        std::thread::spawn(move || {
            if let Some(first) = first
                && lines
                    .blocking_send(Ok(PrintInputLine::Said(first)))
                    .is_err()
            {
                return;
            }
            let mut text = Vec::new();
            for number in 1.. {
                text.clear();
                let read = input.read_until(b'\n', &mut text);
                let is_last = read.is_err();
                let line = match read {
                    Ok(0) => return,
                    Ok(_) => line(&String::from_utf8_lossy(&text)),
                    Err(error) => Err(format!("it cannot be read ({error})")),
                };
                let line = match line {
                    Ok(None) => continue,
                    Ok(Some(line)) => Ok(line),
                    Err(why) => Err(BadPrintInput { line: number, why }),
                };
                // The receiver is gone, or nothing more can be read.
                if lines.blocking_send(line).is_err() || is_last {
                    return;
                }
            }
        });
        Self(prompts)
    }

    pub(super) async fn next(&mut self) -> Option<Result<PrintInputLine, BadPrintInput>> {
        self.0.recv().await
    }
}

impl From<Vec<UserPrompt>> for PromptQueue {
    fn from(all: Vec<UserPrompt>) -> Self {
        let (lines, prompts) = mpsc::channel(all.len().max(1));
        for said in all {
            // The channel has room for all of them.
            let _ = lines.try_send(Ok(PrintInputLine::Said(said)));
        }
        Self(prompts)
    }
}

/// Parses a line. Returns none if it is empty.
fn line(text: &str) -> Result<Option<PrintInputLine>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match value.get("type").and_then(Value::as_str) {
        Some("user") => {}
        Some("keep_alive") => return Ok(None),
        Some("control_request") => {
            let id = value.get("request_id").and_then(Value::as_str);
            return Ok(Some(PrintInputLine::Control(
                id.unwrap_or_default().to_owned(),
            )));
        }
        _ => return Err("its `type` is not `user`".to_owned()),
    }
    let said = match value.pointer("/message/content") {
        Some(Value::String(text)) => UserPrompt::text(text.clone()),
        Some(Value::Array(blocks)) => said(blocks),
        _ => return Err("it has no `message.content`".to_owned()),
    };
    Ok(Some(PrintInputLine::Said(said)))
}

fn said(blocks: &[Value]) -> UserPrompt {
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
    UserPrompt {
        text: texts.join("\n\n"),
        blocks: blocks
            .iter()
            .filter(|block| text(block).is_none())
            .cloned()
            .collect(),
        ..UserPrompt::default()
    }
}
