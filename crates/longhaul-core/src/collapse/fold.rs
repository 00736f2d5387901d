//! Folds: what stands in the conversation for spans of it, and how a boundary carries them.

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

/// One span, folded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fold {
    /// What it says.
    pub text: String,
    /// How many messages it stands for; 0 if that is not known.
    pub messages: u64,
    /// When the first of them was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// When the last of them was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

impl Fold {
    /// The fold of a span.
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

/// The stored form; what a later version adds is passed over.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredFolds {
    version: u32,
    spans: Vec<Fold>,
}

impl Folds {
    /// The folds that a boundary carries as `compactMetadata.folds`. None if it carries none that can be read.
    pub fn from_boundary(boundary: EntryView<'_>) -> Option<Self> {
        let stored = boundary.object(boundary.facets.metadata).get("folds")?;
        let stored: StoredFolds = serde_json::from_slice(stored).ok()?;
        (stored.version > 0 && !stored.spans.is_empty()).then_some(Self(stored.spans))
    }

    /// A summary that was made in another way, as the first fold, without what surrounds it in its message: it stays
    /// word for word until folds are condensed. None if the entry is no summary.
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

    /// What goes on a boundary as `compactMetadata.folds`.
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

    /// These and newer ones behind them.
    #[must_use]
    pub fn added(mut self, new: impl IntoIterator<Item = Fold>) -> Self {
        self.0.extend(new);
        self
    }

    /// One fold in place of all these.
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

    /// These in at most so many tokens, with no model: the longest are shortened first; what would be too short to tell
    /// anything is left out, oldest first.
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

    /// The text, as it stands in the summary message.
    pub fn text(&self) -> String {
        let mut text = String::from(include_str!("opening.md").trim_end());
        for (number, fold) in (1..).zip(&self.0) {
            text.push_str(&format!("\n\n{}\n{}", fold.heading(number), fold.text));
        }
        text
    }

    /// What the text weighs, padded (T2).
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
