//! The default prompt of a terminal agent: static sections that are the same for everybody (A1).
//!
//! A host with a prompt of its own builds its own registry or sends a custom prompt.

use super::{NameTaken, PromptSection, SectionRegistry, StandardSection};

/// The description of the default agent, for the prefix block.
pub const AGENT_PREFIX: &str = include_str!("fragments/prefix.md");

/// The static sections of the default agent.
pub(crate) fn agent_sections() -> [PromptSection; 5] {
    [
        PromptSection::constant("session", include_str!("fragments/session.md")),
        PromptSection::constant("work", include_str!("fragments/work.md")),
        PromptSection::constant("care", include_str!("fragments/care.md")),
        PromptSection::constant("tools", include_str!("fragments/tools.md")),
        PromptSection::constant("answers", include_str!("fragments/answers.md")),
    ]
}

/// A registry with the default agent's static sections and all standard dynamic ones.
///
/// # Errors
/// Fails if two sections have the same name, which a test of this crate rules out.
pub fn agent_registry() -> Result<SectionRegistry, NameTaken> {
    let mut registry = SectionRegistry::default();
    let standard = StandardSection::ALL.map(StandardSection::section);
    for section in agent_sections().into_iter().chain(standard) {
        registry.add(section)?;
    }
    Ok(registry)
}
