//! The prompt that asks the model to fold spans: composed of fragments, one idea per file.

use super::{FoldLimits, FoldSpan};
use crate::quoting::quoted;
use crate::summary::{NO_TOOLS, SummaryInstructions, WHOSE_WORDS, joined};

/// What happens to the existing folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierFolds {
    /// The existing folds stay word for word.
    Stay,
    /// The existing folds have grown too long, and are condensed into one.
    Condense,
}

/// The contents of a folding prompt.
#[derive(Debug, Clone, Copy)]
pub struct FoldPrompt<'a> {
    /// The spans, oldest first.
    pub spans: &'a [FoldSpan],
    /// How the first message that is not folded begins, if the model is shown it.
    pub kept: Option<&'a str>,
    /// What happens to earlier folds.
    pub earlier: EarlierFolds,
    /// How long folds may be.
    pub limits: &'a FoldLimits,
    /// Additional instructions for the folds.
    pub instructions: &'a SummaryInstructions<'a>,
}

/// Writes the message that asks for folds.
pub fn prompt(asked: &FoldPrompt<'_>) -> String {
    let count = asked.spans.len();
    let task = match count {
        1 => include_str!("task_one.md").to_owned(),
        _ => include_str!("task.md").replace("{count}", &count.to_string()),
    };
    let numbered = (1..).zip(asked.spans);
    let spans: Vec<String> = numbered
        .map(|(number, span)| described(number, span))
        .collect();
    let kept = asked.kept.map_or_else(String::new, |quote| {
        include_str!("kept.md").replace("{quote}", &quoted(quote.trim()))
    });
    let answer = include_str!("answer.md").replace("{words}", &asked.limits.words.to_string());
    let condense = match asked.earlier {
        EarlierFolds::Stay => "".to_owned(),
        EarlierFolds::Condense => {
            let words = asked.limits.condensed_words.to_string();
            include_str!("condense.md").replace("{words}", &words)
        }
    };
    let added = asked.instructions.text();
    joined(&[
        NO_TOOLS,
        &task,
        &spans.join("\n"),
        &kept,
        &answer,
        include_str!("holds.md"),
        &condense,
        WHOSE_WORDS,
        &added,
        include_str!("closing.md"),
    ])
}

fn described(number: usize, span: &FoldSpan) -> String {
    let text = include_str!("span.md").trim_end();
    let messages = match span.messages {
        1 => "1 message".to_owned(),
        more => format!("{more} messages"),
    };
    // The quote is inserted last, because it may contain anything.
    text.replace("{number}", &number.to_string())
        .replace("{messages}", &messages)
        .replace("{quote}", &quoted(span.opening.trim()))
}
