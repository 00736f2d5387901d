//! Skills: folders with a `SKILL.md`. The front matter is read at the start, the body when the skill is invoked.

use std::fs;
use std::path::{Path, PathBuf};

use super::admission::{FileAdmission, FileLookup};
use super::arguments;
use super::front_matter::{self, FrontMatterFile};
use super::settings_folders::SettingsOwner;

/// A skill: instructions that the agent loads when it needs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDefinition {
    /// The name of the skill.
    pub name: String,
    /// What the skill is for and when to use it.
    pub description: String,
    /// The skill's `SKILL.md`.
    pub path: PathBuf,
    /// Where the file was found, links resolved: it is read there again when the skill is invoked.
    pub real: PathBuf,
    /// Rules for tools that it may use without asking, as they are written.
    pub allowed_tools: Vec<String>,
    /// Whether the model may invoke it by itself.
    pub model_may_invoke: bool,
    /// Whether the user may invoke it as `/name`.
    pub user_may_invoke: bool,
    /// The model to run it with.
    pub model: Option<String>,
    /// Whether the file came with the project, so that its rules need the user's trust.
    pub(super) owner: SettingsOwner,
}

impl SkillDefinition {
    /// Whether the file came with the project.
    pub(super) fn comes_with_project(&self) -> bool {
        self.owner != SettingsOwner::User
    }

    /// The skill's folder, which contains the files that it refers to.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// The body with these arguments, from the current content of the file. An error says what is wrong with the file.
    pub fn invoke(&self, arguments: &str) -> Result<String, String> {
        let read = front_matter::text_of(&self.real).and_then(|text| front_matter::parse(&text));
        let headed = read.map_err(|why| format!("{}{why}", self.path.display()))?;
        let body = headed
            .body
            .replace("${CLAUDE_SKILL_DIR}", &self.folder().to_string_lossy());
        Ok(arguments::fill(body.trim(), arguments))
    }
}

/// The skills of these folders, sorted by name; of two with the same name, the first one counts.
pub(super) fn load(
    folders: &[PathBuf],
    admission: &mut FileAdmission,
    notices: &mut Vec<String>,
) -> Vec<SkillDefinition> {
    let mut skills: Vec<SkillDefinition> = Vec::new();
    for (folder, owner) in listed(folders, admission) {
        let path = folder.join("SKILL.md");
        if !path.is_file() {
            continue;
        }
        let Some(real) = admission.find_text(&path, owner, notices) else {
            continue;
        };
        let Some(headed) = front_matter::read(&path, &real, notices) else {
            continue;
        };
        let folder_name = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = headed
            .text("name")
            .unwrap_or_else(|| folder_name.into_owned());
        if !is_name(&name) {
            notices.push(format!("{}: its name `{name}` should have no blanks or slashes; it is not used until it is corrected", path.display()));
            continue;
        }
        if !skills.iter().any(|skill| skill.name == name) {
            skills.push(SkillDefinition {
                owner,
                ..skill(name, path, real, &headed)
            });
        }
    }
    skills.sort_by(|one, other| one.name.cmp(&other.name));
    skills
}

fn skill(name: String, path: PathBuf, real: PathBuf, headed: &FrontMatterFile) -> SkillDefinition {
    let description = headed
        .text("description")
        .unwrap_or_else(|| first_line(&headed.body));
    let when = headed
        .text("when_to_use")
        .map(|when| format!(" {when}"))
        .unwrap_or_default();
    SkillDefinition {
        name,
        description: description + &when,
        path,
        real,
        allowed_tools: headed.tools("allowed-tools").unwrap_or_default(),
        model_may_invoke: !headed.flag("disable-model-invocation", false),
        user_may_invoke: headed.flag("user-invocable", true),
        model: headed.text("model"),
        owner: SettingsOwner::User,
    }
}

/// The first line of a text, as a description if there is no other.
pub(super) fn first_line(body: &str) -> String {
    let mut lines = body
        .lines()
        .map(|line| line.trim().trim_start_matches('#').trim());
    lines
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
}

/// Whether this is a valid name. Names are used in rules, in commands and as a tool's input.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(|character: char| {
            character.is_whitespace() || character.is_control() || "/\\(),".contains(character)
        })
}

/// The entries of folders of skills or agents, with their owners. A folder that leads out of the project is skipped.
pub(super) fn listed(
    folders: &[PathBuf],
    admission: &mut FileAdmission,
) -> Vec<(PathBuf, SettingsOwner)> {
    let mut listed = Vec::new();
    for folder in folders {
        let owner = admission.owner_of(folder);
        if let FileLookup::At(_) = admission.find(folder, owner) {
            listed.extend(children(folder).into_iter().map(|child| (child, owner)));
        }
    }
    listed
}

/// The entries of a folder, sorted by name. A missing folder is empty.
pub(super) fn children(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut children: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    children.sort();
    children
}
