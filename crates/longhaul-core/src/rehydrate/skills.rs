//! Restores skills that were invoked (R3). The list of all skills is not sent again: the tool that runs them still
//! names them.

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::restored_attachment::RestoredAttachment;
use crate::tokens::RoughEstimator;
use crate::tokens::cut;
use crate::window::WindowScale;

/// The maximum number of tokens of one skill.
const EACH: u64 = 5_000;
/// The maximum number of tokens of all skills.
const ALL: u64 = 25_000;

/// A skill that was invoked in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvokedSkill {
    /// The name of the skill.
    pub name: String,
    /// The path of the skill's instructions.
    pub path: PathBuf,
    /// The skill's instructions.
    pub content: String,
    /// The time at which the skill was last invoked.
    pub at: Timestamp,
}

pub(super) fn attachment(
    skills: &[InvokedSkill],
    scale: WindowScale,
    notes: &mut Vec<String>,
) -> Option<RestoredAttachment> {
    let mut newest_first: Vec<&InvokedSkill> = skills.iter().collect();
    newest_first.sort_by_key(|skill| std::cmp::Reverse(skill.at));
    let mut room = scale.apply(ALL);
    let mut is_cut = false;
    let mut restored: Vec<Value> = Vec::new();
    for skill in newest_first {
        let kept = cut::beyond(&skill.content, scale.apply(EACH));
        let content = match kept {
            Some(text) => format!(
                "{text}[cut here; read {} for the rest]\n",
                skill.path.display()
            ),
            None => skill.content.clone(),
        };
        let size = RoughEstimator::text(&content).unpadded();
        if size > room {
            notes.push(format!("skill {} was left out: no room for it", skill.name));
            continue;
        }
        room -= size;
        is_cut |= kept.is_some();
        restored.push(json!({"name": skill.name, "path": skill.path, "content": content}));
    }
    (!restored.is_empty()).then(|| RestoredAttachment {
        is_cut,
        value: json!({"type": "invoked_skills", "skills": restored}),
    })
}
