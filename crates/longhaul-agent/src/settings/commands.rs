//! The user's own slash commands: `commands/**/*.md`, each a prompt with placeholders for arguments.

use std::path::{Path, PathBuf};

use super::admission::{FileAdmission, FileLookup};
use super::arguments::ArgumentFiller;
use super::front_matter;
use super::settings_folders::SettingsOwner;
use super::skills::{children, first_line, is_name};
use crate::own_command::{CommandPart, OwnCommand, parts};

/// A prompt that the user calls by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserCommand {
    /// The name without the slash, prefixed with its folders: `git:tidy`.
    pub name: String,
    /// What the command does.
    pub description: String,
    /// The arguments that it takes, for people.
    pub argument_hint: Option<String>,
    /// The file of the command.
    pub path: PathBuf,
    /// Where the file was found, links resolved: it is read there again when the command is called.
    pub real: PathBuf,
    /// Rules for tools that it may use without asking, as they are written.
    pub allowed_tools: Vec<String>,
    /// The model to run it with.
    pub model: Option<String>,
    /// Whether the file came with the project, so that its rules need the user's trust.
    pub(super) owner: SettingsOwner,
}

impl UserCommand {
    /// The command with these arguments, from the current content of the file. Its rules are those that it had when the
    /// settings were read: the user may have agreed to these. An error says what is wrong with the file.
    pub fn invoke(&self, arguments: &str) -> Result<OwnCommand, String> {
        let read = front_matter::text_of(&self.real).and_then(|text| front_matter::parse(&text));
        let headed = read.map_err(|why| format!("{}{why}", self.path.display()))?;
        let body = headed.body.trim();
        let mut filler = ArgumentFiller::new(body, arguments);
        // Arguments are filled in last: what is in them is no command for the shell.
        let filled = parts(body).into_iter().map(|part| match part {
            CommandPart::Text(text) => CommandPart::Text(filler.fill(&text)),
            CommandPart::Shell(command) => CommandPart::Shell(filler.fill(&command)),
        });
        let mut parts: Vec<CommandPart> = filled.collect();
        parts.extend(filler.unused().map(CommandPart::Text));
        Ok(OwnCommand {
            name: self.name.clone(),
            parts,
            allowed_tools: self.allowed_tools.clone(),
            typed: String::new(),
        })
    }

    /// Whether the file came with the project.
    pub(super) fn comes_with_project(&self) -> bool {
        self.owner != SettingsOwner::User
    }
}

const DEEPEST: usize = 8;

/// The commands of these folders, sorted by name; of two with the same name, the first one counts.
pub(super) fn load(
    folders: &[PathBuf],
    admission: &mut FileAdmission,
    notices: &mut Vec<String>,
) -> Vec<UserCommand> {
    let mut commands: Vec<UserCommand> = Vec::new();
    for folder in folders {
        let mut files = Vec::new();
        let owner = admission.owner_of(folder);
        collect(folder, owner, 0, admission, &mut files);
        for path in files {
            let name = name_of(folder, &path);
            if commands.iter().any(|command| command.name == name) {
                continue;
            }
            if !is_name(&name) {
                notices.push(format!("{}: a command's name should have no blanks; it is not used until the file is renamed", path.display()));
                continue;
            }
            let Some(real) = admission.find_text(&path, owner, notices) else {
                continue;
            };
            let Some(headed) = front_matter::read(&path, &real, notices) else {
                continue;
            };
            commands.push(UserCommand {
                name,
                description: headed
                    .text("description")
                    .unwrap_or_else(|| first_line(&headed.body)),
                argument_hint: headed.text("argument-hint"),
                allowed_tools: headed.tools("allowed-tools").unwrap_or_default(),
                model: headed.text("model"),
                path,
                real,
                owner,
            });
        }
    }
    commands.sort_by(|one, other| one.name.cmp(&other.name));
    commands
}

/// Collects the files of a folder, unless it leads out of the project.
fn collect(
    folder: &Path,
    owner: SettingsOwner,
    depth: usize,
    admission: &mut FileAdmission,
    files: &mut Vec<PathBuf>,
) {
    let FileLookup::At(_) = admission.find(folder, owner) else {
        return;
    };
    for path in children(folder) {
        if path.is_dir() && depth < DEEPEST {
            collect(&path, owner, depth + 1, admission, files);
        } else if path.extension().is_some_and(|extension| extension == "md") && path.is_file() {
            files.push(path);
        }
    }
}

fn name_of(folder: &Path, path: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
    names.join(":")
}
