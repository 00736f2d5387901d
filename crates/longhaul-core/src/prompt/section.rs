//! A section of the system prompt: its name, where it stands, how long its text holds (A1, A2).
//!
//! Not its text: texts are kept by the [`Registry`](super::Registry). Only a static section brings its own, as a
//! constant of the program, so that nothing of a host can get into the part that all users share.

/// On which side of the boundary a section stands. The boundary is this type; no text marks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionZone {
    /// Before it: the same bytes for every user of the build.
    Static,
    /// Behind it: whatever belongs to this user, machine or session.
    Dynamic,
}

/// How long a section's text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionLifetime {
    /// Until the conversation is cleared or compacted.
    Kept,
    /// For one turn. Each change of it breaks the cache, so somebody must have said why that is worth it.
    EveryTurn(EveryTurnReason),
}

/// Why a section is computed every turn. There is no blank one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EveryTurnReason(&'static str);

impl EveryTurnReason {
    /// The reason of a section that this program brings along; a test holds all of them against [`Reason::new`].
    pub(super) const fn known(text: &'static str) -> Self {
        Self(text)
    }

    /// A reason in words.
    pub fn new(text: &'static str) -> Result<Self, MissingReason> {
        match text.trim() {
            "" => Err(MissingReason),
            _ => Ok(Self(text)),
        }
    }

    /// The words.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// A section was to be computed every turn, and nobody said why.
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
    /// A static section, with its text.
    pub const fn constant(name: &'static str, text: &'static str) -> Self {
        Self {
            name,
            source: SectionOrigin::Constant(text),
        }
    }

    /// A dynamic section whose text is computed by the host.
    pub const fn computed(name: &'static str, lifetime: SectionLifetime) -> Self {
        Self {
            name,
            source: SectionOrigin::Computed(lifetime),
        }
    }

    /// Its name, unique in a registry.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Where it stands.
    pub fn zone(&self) -> SectionZone {
        match self.source {
            SectionOrigin::Constant(_) => SectionZone::Static,
            SectionOrigin::Computed(_) => SectionZone::Dynamic,
        }
    }

    /// How long its text holds.
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
