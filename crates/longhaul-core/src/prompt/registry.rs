//! The sections of a prompt with their texts, each computed once until the conversation is cleared or compacted (A2).
//!
//! What a text says is for the host, or for [`Standard`](super::Standard); how texts become blocks is for
//! [`SystemPrompt`](super::SystemPrompt).

use super::section::{EveryTurnReason, PromptSection, SectionLifetime, SectionZone};

/// Sections in the order in which they were added. Static ones are sent before dynamic ones whatever that order is.
#[derive(Debug, Clone, Default)]
pub struct SectionRegistry {
    slots: Vec<SectionSlot>,
    refreshed: bool,
}

#[derive(Debug, Clone)]
struct SectionSlot {
    section: PromptSection,
    text: Option<String>,
    due: Option<SectionChangeCause>,
}

/// Why a section was computed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionChangeCause {
    /// It was added to a prompt that had been in use.
    Added,
    /// The conversation was cleared.
    Cleared,
    /// The conversation was compacted.
    Compacted,
    /// It is computed every turn, for this reason.
    EveryTurn(EveryTurnReason),
}

/// A section whose text is not what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionChange {
    /// The section's name.
    pub section: &'static str,
    /// How many characters it had; none if there was no such section.
    pub before: Option<usize>,
    /// How many it has now; none if there is no such section any more.
    pub after: Option<usize>,
    /// Why it was computed again.
    pub cause: SectionChangeCause,
}

/// Two sections cannot have one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is already a section named {0}: give this one another name")]
pub struct NameTaken(pub &'static str);

impl SectionRegistry {
    /// Adds a section behind those that are there.
    pub fn add(&mut self, section: PromptSection) -> Result<(), NameTaken> {
        if self
            .slots
            .iter()
            .any(|slot| slot.section.name() == section.name())
        {
            return Err(NameTaken(section.name()));
        }
        self.slots.push(SectionSlot {
            section,
            text: None,
            due: Some(SectionChangeCause::Added),
        });
        Ok(())
    }

    /// The sections that the next [`Registry::refresh`] computes, so that a host can gather what they need before.
    pub fn due(&self) -> impl Iterator<Item = &PromptSection> {
        let due = self.slots.iter().filter(|slot| slot.cause().is_some());
        due.map(|slot| &slot.section)
            .filter(|section| section.zone() == SectionZone::Dynamic)
    }

    /// Brings all texts up to date: `compute` is asked for those that are due, and for no other. A section without a
    /// text, or with a blank one, is not sent.
    ///
    /// Tells which texts are not what they were at the last call; of the first call, nothing.
    pub fn refresh(
        &mut self,
        mut compute: impl FnMut(&PromptSection) -> Option<String>,
    ) -> Vec<SectionChange> {
        let mut changes = Vec::new();
        for slot in &mut self.slots {
            let Some(cause) = slot.cause() else { continue };
            let text = match slot.section.text() {
                Some(text) => Some(text.to_owned()),
                None => compute(&slot.section),
            };
            let text = text.filter(|text| !text.trim().is_empty());
            slot.due = None;
            if slot.text == text {
                continue;
            }
            let before = std::mem::replace(&mut slot.text, text);
            changes.push(SectionChange {
                section: slot.section.name(),
                before: before.as_deref().map(characters),
                after: slot.text.as_deref().map(characters),
                cause,
            });
        }
        if std::mem::replace(&mut self.refreshed, true) {
            changes
        } else {
            Vec::new()
        }
    }

    /// The conversation was cleared: everything is computed again. Also for a switch of model, which leaves nothing in
    /// the cache to be kept.
    pub fn clear(&mut self) {
        self.forget(SectionChangeCause::Cleared);
    }

    /// The conversation was compacted: everything is computed again. Not for a compaction that keeps the head (P2).
    pub fn compacted(&mut self) {
        self.forget(SectionChangeCause::Compacted);
    }

    fn forget(&mut self, cause: SectionChangeCause) {
        for slot in &mut self.slots {
            // One that was never computed is still new.
            slot.due = slot.due.or(Some(cause));
        }
    }

    /// Takes over texts by name, as [`Registry::texts`] gave them in an earlier run: they hold as if computed in this
    /// one, and a section that had no text then has none until it is computed again.
    pub fn restore<'t>(&mut self, texts: impl IntoIterator<Item = (&'t str, &'t str)> + Clone) {
        for slot in &mut self.slots {
            let mut texts = texts.clone().into_iter();
            let text = texts.find(|(name, _)| *name == slot.section.name());
            slot.text = text.map(|(_, text)| text.to_owned());
            slot.due = None;
        }
        self.refreshed = true;
    }

    /// The sections that are sent, in their order, with their texts as of the last refresh.
    pub fn texts(&self) -> impl Iterator<Item = (&PromptSection, &str)> {
        let zone = |zone| {
            let slots = self.slots.iter();
            slots.filter(move |slot| slot.section.zone() == zone)
        };
        zone(SectionZone::Static)
            .chain(zone(SectionZone::Dynamic))
            .filter_map(|slot| Some((&slot.section, slot.text.as_deref()?)))
    }
}

impl SectionSlot {
    fn cause(&self) -> Option<SectionChangeCause> {
        match self.section.lifetime() {
            SectionLifetime::Kept => self.due,
            SectionLifetime::EveryTurn(reason) => {
                self.due.or(Some(SectionChangeCause::EveryTurn(reason)))
            }
        }
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}
