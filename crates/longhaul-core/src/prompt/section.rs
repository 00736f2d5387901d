//! A section of the system prompt: its name, its zone, and how long its text is valid (A1, A2).
//!
//! [`SectionRegistry`](super::SectionRegistry) keeps the texts. Only a static section brings its own, as a constant of
//! the program, so that nothing from a host can get into the part that all users share.

/// The side of the boundary on which a section is. The boundary is this type; no text marks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionZone {
    /// Before the boundary: the same bytes for every user of the build.
    Static,
    /// After the boundary: whatever belongs to this user, machine or session.
    Dynamic,
}

/// How long a section's text is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionLifetime {
    /// The text is valid until the conversation is cleared or compacted.
    Kept,
    /// The text is valid for one turn. Each change of it breaks the cache, so the section must state why that is worth
    /// it.
    EveryTurn(EveryTurnReason),
}

/// Why a section is computed every turn. It is never blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EveryTurnReason(&'static str);

impl EveryTurnReason {
    /// Creates the reason of a built-in section. A test checks all of them against [`EveryTurnReason::new`].
    pub(super) const fn known(text: &'static str) -> Self {
        Self(text)
    }

    /// Creates a reason from its words.
    ///
    /// # Errors
    /// Fails if the words are blank.
    pub fn new(text: &'static str) -> Result<Self, MissingReason> {
        match text.trim() {
            "" => Err(MissingReason),
            _ => Ok(Self(text)),
        }
    }

    /// The words of the reason.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// A section is to be computed every turn, but no reason is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a section that is computed every turn breaks the prompt cache whenever it changes: say why, or keep it"
)]
pub struct MissingReason;

/// A section of the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptSection {
    name: &'static str,
    source: SectionOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SectionOrigin {
    Constant(&'static str),
    Computed(SectionLifetime),
}

impl PromptSection {
    /// Creates a static section with its text.
    pub const fn constant(name: &'static str, text: &'static str) -> Self {
        Self {
            name,
            source: SectionOrigin::Constant(text),
        }
    }

    /// Creates a dynamic section whose text the host computes.
    pub const fn computed(name: &'static str, lifetime: SectionLifetime) -> Self {
        Self {
            name,
            source: SectionOrigin::Computed(lifetime),
        }
    }

    /// The section's name, which is unique in a registry.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The section's zone.
    pub fn zone(&self) -> SectionZone {
        match self.source {
            SectionOrigin::Constant(_) => SectionZone::Static,
            SectionOrigin::Computed(_) => SectionZone::Dynamic,
        }
    }

    /// How long the section's text is valid.
    pub fn lifetime(&self) -> SectionLifetime {
        match self.source {
            SectionOrigin::Constant(_) => SectionLifetime::Kept,
            SectionOrigin::Computed(lifetime) => lifetime,
        }
    }

    /// The text of a static section.
    pub(super) fn text(&self) -> Option<&'static str> {
        match self.source {
            SectionOrigin::Constant(text) => Some(text),
            SectionOrigin::Computed(_) => None,
        }
    }
}
