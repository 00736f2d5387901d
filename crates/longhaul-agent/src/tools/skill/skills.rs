//! The skills of a session, and which of them were invoked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::{Clock, SystemClock};
use longhaul_core::normalize::fragment::fill;
use longhaul_core::rehydrate::{InvokedSkill, RestoreSourceResult};

use super::{Skill, SkillInvoker, body, listing};
use crate::own_command::OwnCommand;

/// How similar a name must be to be suggested in place of an unknown one, from 0 to 1.
const NEAR: f64 = 0.75;
/// The maximum number of suggested names.
const OFFERED: usize = 3;
/// The maximum number of names that are listed where none is similar.
const LISTED: usize = 20;

/// Why a skill was not invoked, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillInvokeError {
    /// No skill has this name; the text lists those that exist.
    #[error("{0}")]
    Unknown(String),
    /// Only the user may invoke it.
    #[error("{0}")]
    ForTheUser(String),
    /// The instructions cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// The skills of a session.
pub struct Skills {
    skills: Vec<Skill>,
    invoked_skills: Mutex<BTreeMap<String, InvokedSkill>>,
    clock: Arc<dyn Clock>,
}

impl Skills {
    /// The skills that were found. If several have the same name, the first one counts.
    pub fn new(found: Vec<Skill>) -> Self {
        Self::with_clock(found, Arc::new(SystemClock))
    }

    /// The skills that were found, with another clock.
    pub fn with_clock(found: Vec<Skill>, clock: Arc<dyn Clock>) -> Self {
        let mut skills: Vec<Skill> = Vec::new();
        for skill in found {
            if !skills.iter().any(|there| there.name == skill.name) {
                skills.push(skill);
            }
        }
        // Sorted by name: the list is part of the prompt, and folders are read in any order.
        skills.sort_by(|one, other| one.name.cmp(&other.name));
        Self {
            skills,
            invoked_skills: Mutex::default(),
            clock,
        }
    }

    /// All skills, sorted by name.
    pub fn all(&self) -> &[Skill] {
        &self.skills
    }

    /// The skills that the model may invoke.
    pub(crate) fn for_model(&self) -> impl Iterator<Item = &Skill> {
        self.skills
            .iter()
            .filter(|skill| skill.by == SkillInvoker::Model)
    }

    /// A line for each skill that the model may invoke, within this many characters: where there are too many skills,
    /// descriptions are shortened first, and names left out last.
    pub fn listing(&self, characters: usize) -> String {
        let skills: Vec<&Skill> = self.for_model().collect();
        listing::list(&skills, characters)
    }

    /// Reads a skill's instructions with the arguments filled in, and remembers that it was invoked. Its commands for the
    /// shell stay as they are written; [`load`](Self::load) tells them apart.
    ///
    /// # Errors
    /// Returns a [`SkillInvokeError`] if the skill is unknown, reserved for the user, or unreadable.
    pub async fn invoke(
        &self,
        name: &str,
        args: &str,
        by: SkillInvoker,
    ) -> Result<String, SkillInvokeError> {
        let loaded = self.load(name, args, by).await?;
        let text = loaded.text();
        self.invoked(&loaded, &text);
        Ok(text)
    }

    /// Reads a skill's instructions with the arguments filled in, as a command whose commands for the shell are still to
    /// be run.
    ///
    /// # Errors
    /// Returns a [`SkillInvokeError`] if the skill is unknown, reserved for the user, or unreadable.
    pub async fn load(
        &self,
        name: &str,
        args: &str,
        by: SkillInvoker,
    ) -> Result<OwnCommand, SkillInvokeError> {
        let name = name.trim().trim_start_matches('/');
        let Some(skill) = self.find(name) else {
            return Err(SkillInvokeError::Unknown(self.unknown(name)));
        };
        if (by, skill.by) == (SkillInvoker::Model, SkillInvoker::User) {
            return Err(SkillInvokeError::ForTheUser(fill(
                include_str!("fragments/for_the_user.md"),
                &[("name", &skill.name)],
            )));
        }
        let parts = body::read(skill, args).await.map_err(|why| {
            let file = skill.file.display().to_string();
            SkillInvokeError::Unreadable(fill(
                include_str!("fragments/unreadable.md"),
                &[("name", &skill.name), ("file", &file), ("why", &why)],
            ))
        })?;
        Ok(OwnCommand {
            name: skill.name.clone(),
            parts,
            allowed_tools: skill.allowed_tools.clone(),
            typed: String::new(),
        })
    }

    /// Remembers that a skill was invoked, with its instructions as they were sent.
    pub(crate) fn invoked(&self, loaded: &OwnCommand, content: &str) {
        let Some(skill) = self.find(&loaded.name) else {
            return;
        };
        self.remember(InvokedSkill {
            name: skill.name.clone(),
            path: skill.file.clone(),
            content: content.to_owned(),
            at: self.clock.now(),
        });
    }

    /// Remembers that a skill was invoked: here, or before the session was resumed.
    pub(crate) fn remember(&self, skill: InvokedSkill) {
        let mut invoked = self
            .invoked_skills
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        invoked.insert(skill.name.clone(), skill);
    }

    /// The invoked skills for rehydration (R3); `None` if there were none.
    pub fn gathered(&self) -> Option<RestoreSourceResult<Vec<InvokedSkill>>> {
        let invoked = self
            .invoked_skills
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let skills: Vec<InvokedSkill> = invoked.values().cloned().collect();
        (!skills.is_empty()).then_some(RestoreSourceResult::Found(skills))
    }

    fn find(&self, name: &str) -> Option<&Skill> {
        let exact = self.skills.iter().find(|skill| skill.name == name);
        exact.or_else(|| {
            let alike = |skill: &&Skill| skill.name.eq_ignore_ascii_case(name);
            self.skills.iter().find(alike)
        })
    }

    fn unknown(&self, name: &str) -> String {
        if name.is_empty() {
            return include_str!("fragments/no_name.md").trim_end().to_owned();
        }
        let wanted = name.to_lowercase();
        let mut near: Vec<(f64, &str)> = (self.for_model())
            .map(|skill| {
                let there = skill.name.to_lowercase();
                (strsim::jaro_winkler(&there, &wanted), &*skill.name)
            })
            .filter(|(alike, _)| *alike >= NEAR)
            .collect();
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        let names = near.into_iter().map(|(_, name)| name).take(OFFERED);
        let near: Vec<&str> = names.collect();
        let all: Vec<&str> = self.for_model().map(|skill| &*skill.name).collect();
        let instead = match (near.is_empty(), all.is_empty()) {
            (false, _) => fill(
                include_str!("fragments/near.md"),
                &[("names", &near.join(", "))],
            ),
            (true, false) => {
                let all = all[..all.len().min(LISTED)].join(", ");
                fill(include_str!("fragments/all.md"), &[("names", &all)])
            }
            (true, true) => include_str!("fragments/none.md").trim_end().to_owned(),
        };
        let name = super::one_line(name, 80);
        let gaps = [("name", &*name), ("instead", &instead)];
        fill(include_str!("fragments/unknown.md"), &gaps)
    }
}
