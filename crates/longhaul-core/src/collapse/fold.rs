//! Folds: the texts that replace spans of the conversation, and how a boundary carries them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FoldSpan;
use crate::facts::budget::units_within;
use crate::facts::{BudgetItem, BudgetShare, ItemProtection, fit, shorten};
use crate::json;
use crate::local_summary::earlier;
use crate::message::{BlockKind, EntryView};
use crate::quoting::without_claims;
use crate::summary::collapsed;
use crate::tokens::{RoughEstimator, utf16_len};

/// Raised when a reader of an older version would misread what is written.
const VERSION: u32 = 1;

/// One folded span.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fold {
    /// The text of the fold.
    pub text: String,
    /// How many messages it replaces; 0 if that is not known.
    pub messages: u64,
    /// When the first of these messages was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// When the last of these messages was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

impl Fold {
    /// Creates the fold of a span.
    pub fn new(span: &FoldSpan, text: &str) -> Self {
        Self {
            text: collapsed(text),
            messages: span.messages,
            from: span.from,
            to: span.to,
        }
    }

    fn heading(&self, number: usize) -> String {
        let time = |time: Timestamp| time.strftime("%Y-%m-%d %H:%M").to_string();
        let mut facts = Vec::new();
        match self.messages {
            0 => {}
            1 => facts.push("1 message".to_owned()),
            more => facts.push(format!("{more} messages")),
        }
        match (self.from.map(time), self.to.map(time)) {
            (Some(from), Some(to)) if from != to => facts.push(format!("{from} to {to} UTC")),
            (Some(at), _) | (None, Some(at)) => facts.push(format!("{at} UTC")),
            (None, None) => {}
        }
        let facts = if facts.is_empty() {
            String::new()
        } else {
            format!(" ({})", facts.join(", "))
        };
        let heading = include_str!("heading.md").trim_end();
        heading
            .replace("{number}", &number.to_string())
            .replace("{facts}", &facts)
    }
}

/// All folds of a conversation, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folds(Vec<Fold>);

/// The stored form; fields that a later version adds are ignored.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredFolds {
    version: u32,
    spans: Vec<Fold>,
}

impl Folds {
    /// The folds that a boundary carries as `compactMetadata.folds`. `None` if it carries no readable ones.
    pub fn from_boundary(boundary: EntryView<'_>) -> Option<Self> {
        let stored = boundary.object(boundary.facets.metadata).get("folds")?;
        let stored: StoredFolds = serde_json::from_slice(stored).ok()?;
        (stored.version > 0 && !stored.spans.is_empty()).then_some(Self(stored.spans))
    }

    /// Turns a summary that was made in another way into the first fold, without the text around it in its message. It
    /// stays word for word until folds are condensed. Returns none if the entry is not a summary.
    pub fn from_summary(summary: EntryView<'_>) -> Option<Self> {
        let text = match summary.compaction_text() {
            Some(text) => text,
            None if summary.facets.flags.compact_summary => {
                let mut blocks = summary.facets.blocks.iter();
                let text = blocks.find(|block| block.kind == BlockKind::Text)?;
                json::text(text.body.of(summary.line))?
            }
            None => return None,
        };
        let text = collapsed(&without_claims(&earlier(&text)));
        let to = summary.timestamp();
        (!text.is_empty()).then(|| {
            Self(vec![Fold {
                text,
                messages: 0,
                from: None,
                to,
            }])
        })
    }

    /// The value of a boundary's `compactMetadata.folds`.
    ///
    /// # Errors
    /// Fails if the value cannot be written as JSON.
    pub fn to_boundary(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(StoredFolds {
            version: VERSION,
            spans: self.0.clone(),
        })
    }

    /// The folds, oldest first.
    pub fn spans(&self) -> &[Fold] {
        &self.0
    }

    /// These folds, followed by newer ones.
    #[must_use]
    pub fn added(mut self, new: impl IntoIterator<Item = Fold>) -> Self {
        self.0.extend(new);
        self
    }

    /// Replaces all folds by one.
    #[must_use]
    pub fn condensed(self, text: &str) -> Self {
        let messages = self.0.iter().map(|fold| fold.messages).sum();
        let from = self.0.iter().find_map(|fold| fold.from.or(fold.to));
        let to = self.0.iter().rev().find_map(|fold| fold.to.or(fold.from));
        Self(vec![Fold {
            text: collapsed(text),
            messages,
            from,
            to,
        }])
    }

    /// Shortens the folds to at most this many tokens without a model. The longest are shortened first; folds that
    /// would be too short to be useful are left out, oldest first.
    #[must_use]
    pub fn shortened(mut self, tokens: u64) -> Self {
        if self.weight() <= tokens {
            return self;
        }
        let frame = utf16_len(&self.text()) - self.0.iter().map(units).sum::<usize>();
        let limit = units_within(tokens).saturating_sub(frame as u64);
        let items: Vec<BudgetItem> = self
            .0
            .iter()
            .map(|fold| BudgetItem {
                units: units(fold) as u64,
                standing: ItemProtection::Plain,
            })
            .collect();
        let mut shares = fit(&items, limit, 0).into_iter();
        self.0.retain_mut(|fold| match shares.next() {
            Some(BudgetShare::Shortened(most)) => {
                fold.text = shorten(&fold.text, most as usize);
                true
            }
            Some(BudgetShare::Omitted) => false,
            Some(BudgetShare::Whole) | None => true,
        });
        self
    }

    /// The text of the folds as it appears in the summary message.
    pub fn text(&self) -> String {
        let mut text = String::from(include_str!("opening.md").trim_end());
        for (number, fold) in (1..).zip(&self.0) {
            text.push_str(&format!("\n\n{}\n{}", fold.heading(number), fold.text));
        }
        text
    }

    /// The padded weight of the text (T2).
    pub fn weight(&self) -> u64 {
        if self.0.is_empty() {
            0
        } else {
            RoughEstimator::text(&self.text()).padded()
        }
    }
}

fn units(fold: &Fold) -> usize {
    utf16_len(&fold.text)
}
