//! Attachments for skills in use and skills that are available.

use super::fields::{filled, first, objects};
use crate::json::ObjectReader;
use crate::normalize::fragment::fill;
use crate::quoting::{inline, quoted};

/// Returns the text for skills.
pub(super) fn tell(kind: &str, attachment: ObjectReader<'_>) -> Option<String> {
    match kind {
        "invoked_skills" => {
            let skills = objects(attachment, "skills")?.into_iter().map(|skill| {
                let path = filled(skill, "path").unwrap_or_else(|| "-".into());
                Some(fill(
                    include_str!("fragments/skill.txt"),
                    &[
                        ("name", &inline(&filled(skill, "name")?)),
                        ("path", &inline(&path)),
                        ("content", &quoted(&filled(skill, "content")?)),
                    ],
                ))
            });
            let skills: Option<Vec<String>> = skills.collect();
            let skills = skills.filter(|skills| !skills.is_empty())?;
            Some(fill(
                include_str!("fragments/skills.txt"),
                &[("items", &skills.join("\n\n"))],
            ))
        }
        "skill_listing" => listing(&quoted(&filled(attachment, "content")?)),
        "skill_discovery" => {
            let skills = objects(attachment, "skills")?.into_iter().map(|skill| {
                let what = first(skill, &["description", "content"]).unwrap_or_default();
                let name = filled(skill, "name")?;
                Some(format!("- {}: {}", inline(&name), inline(&what)))
            });
            let skills: Option<Vec<String>> = skills.collect();
            listing(&skills.filter(|skills| !skills.is_empty())?.join("\n"))
        }
        _ => None,
    }
}

fn listing(content: &str) -> Option<String> {
    Some(fill(
        include_str!("fragments/skill_listing.txt"),
        &[("content", content)],
    ))
}
