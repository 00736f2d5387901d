//! Reads the `hooks` of settings files in Claude Code's format. Running them is in `run.rs`.

use std::path::{Path, PathBuf};

use super::command::HookCommand;
use super::event::HookEvent;
use super::matcher::HookMatcher;
use super::name::HookEventName;
use super::notice::{HookNotice, HookNoticeKind};
use super::reader::HookSettingsReader;

/// The hooks of all settings files together.
#[derive(Debug, Clone, Default)]
pub struct HookSettings {
    pub(super) groups: Vec<HookGroup>,
    pub(super) switched_off: bool,
    /// What was ignored in the files.
    pub notices: Vec<HookNotice>,
}

/// A hook in a list for people. Command lines may hold keys, so only the user should see it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedHook {
    /// When it runs.
    pub event: String,
    /// The matcher; empty if it matches everything.
    pub matcher: String,
    /// What runs.
    pub command: String,
    /// Where it is configured.
    pub label: String,
}

/// The commands of one matcher.
#[derive(Debug, Clone)]
pub(super) struct HookGroup {
    pub(super) event: HookEventName,
    pub(super) matcher: HookMatcher,
    pub(super) commands: Vec<HookCommand>,
}

impl HookSettings {
    /// Reads these files, the least specific first: the user's, the project's, the project's local one. A missing file
    /// has no hooks; a broken one becomes a notice.
    pub fn load<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> HookSettings {
        let mut settings = HookSettings::default();
        for file in files {
            let file = file.into();
            match read(&file) {
                Ok(Some(text)) => settings.add(&file, &text),
                Ok(None) => {}
                Err(error) => settings.notices.push(HookNotice {
                    file,
                    place: String::new(),
                    kind: HookNoticeKind::Unreadable(error.kind()),
                }),
            }
        }
        settings
    }

    /// Adds the hooks of one file; `disableAllHooks` in a later file wins over that in an earlier one.
    pub fn add(&mut self, file: &Path, text: &[u8]) {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        if text.trim_ascii().is_empty() {
            return;
        }
        let mut reader = HookSettingsReader {
            file,
            settings: self,
        };
        match serde_json::from_slice(text) {
            Ok(value) => reader.file(&value),
            Err(error) => reader.notice(
                "",
                HookNoticeKind::NotJson {
                    line: error.line().max(1),
                    column: error.column().max(1),
                },
            ),
        }
    }

    /// All hooks that will run.
    pub fn listed(&self) -> Vec<ListedHook> {
        if self.switched_off {
            Vec::new()
        } else {
            self.written()
        }
    }

    /// All hooks that are configured, even where a file switches hooks off: another file may switch them on again.
    pub fn written(&self) -> Vec<ListedHook> {
        let groups = self.groups.iter();
        let listed = groups.flat_map(|group| {
            group.commands.iter().map(|command| ListedHook {
                event: group.event.to_string(),
                matcher: group.matcher.to_string(),
                command: command.launch.to_string(),
                label: command.label.clone(),
            })
        });
        listed.collect()
    }

    /// The commands for this event, in the order of the files, each once.
    pub fn matching(&self, event: &HookEvent) -> Vec<&HookCommand> {
        let mut found: Vec<&HookCommand> = Vec::new();
        if self.switched_off {
            return found;
        }
        let name = event.name();
        for group in self.groups.iter().filter(|group| group.event == name) {
            if group.matcher.matches(event.subject()) {
                for command in &group.commands {
                    if !found.iter().any(|other| other.launch == command.launch) {
                        found.push(command);
                    }
                }
            }
        }
        found
    }
}

/// A pipe or a device in place of a settings file could keep the reader waiting for ever.
fn read(file: &Path) -> std::io::Result<Option<Vec<u8>>> {
    match std::fs::metadata(file) {
        Ok(about) if about.is_file() => std::fs::read(file).map(Some),
        Ok(_) => Err(std::io::ErrorKind::InvalidInput.into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
