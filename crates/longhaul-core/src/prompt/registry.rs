//! The sections of a prompt with their texts, each computed once until the conversation is cleared or compacted (A2).
//!
//! The host or [`StandardSection`](super::StandardSection) writes the texts; [`SystemPrompt`](super::SystemPrompt)
//! turns them into blocks.

use super::section::{EveryTurnReason, PromptSection, SectionLifetime, SectionZone};

/// Sections in the order in which they were added. Static sections are sent before dynamic ones regardless of that
/// order.
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
#[non_exhaustive]
pub enum SectionChangeCause {
    /// The section was added to a prompt that was already in use.
    Added,
    /// The conversation was cleared.
    Cleared,
    /// The conversation was compacted.
    Compacted,
    /// The section is computed every turn, for this reason.
    EveryTurn(EveryTurnReason),
}

/// A section whose text changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionChange {
    /// The section's name.
    pub section: &'static str,
    /// The section's previous length in characters; `None` if it did not exist.
    pub before: Option<usize>,
    /// The section's current length in characters; `None` if it no longer exists.
    pub after: Option<usize>,
    /// Why the section was computed again.
    pub cause: SectionChangeCause,
}

/// Two sections cannot have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is already a section named {0}: give this one another name")]
pub struct NameTaken(pub &'static str);

impl SectionRegistry {
    /// Adds a section after the existing ones.
    ///
    /// # Errors
    /// Fails if a section of this name exists. The registry is then unchanged.
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

    /// Returns the sections that the next [`SectionRegistry::refresh`] computes, so that a host can gather what they
    /// need.
    pub fn due(&self) -> impl Iterator<Item = &PromptSection> {
        let due = self.slots.iter().filter(|slot| slot.cause().is_some());
        due.map(|slot| &slot.section)
            .filter(|section| section.zone() == SectionZone::Dynamic)
    }

    /// Updates all texts: `compute` is called only for sections that are due. A section without a text, or with a blank
    /// one, is not sent.
    ///
    /// Returns the texts that changed since the last call; after the first call, the list is empty.
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

    /// Marks everything to be computed again because the conversation was cleared. This is also for a switch of model,
    /// after which the cache holds nothing worth keeping.
    pub fn clear(&mut self) {
        self.forget(SectionChangeCause::Cleared);
    }

    /// Marks everything to be computed again because the conversation was compacted. This is not for a compaction that
    /// keeps the request prefix (P2).
    pub fn compacted(&mut self) {
        self.forget(SectionChangeCause::Compacted);
    }

    fn forget(&mut self, cause: SectionChangeCause) {
        for slot in &mut self.slots {
            // A section that was never computed is still new.
            slot.due = slot.due.or(Some(cause));
        }
    }

    /// Restores texts by name, as [`SectionRegistry::texts`] returned them in an earlier run. They hold as if computed
    /// in this run, and a section that had no text then has none until it is computed again.
    pub fn restore<'t>(&mut self, texts: impl IntoIterator<Item = (&'t str, &'t str)> + Clone) {
        for slot in &mut self.slots {
            let mut texts = texts.clone().into_iter();
            let text = texts.find(|(name, _)| *name == slot.section.name());
            slot.text = text.map(|(_, text)| text.to_owned());
            slot.due = None;
        }
        self.refreshed = true;
    }

    /// Returns the sections that are sent, in order, with their texts as of the last refresh.
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
