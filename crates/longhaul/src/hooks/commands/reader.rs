//! Reads the `hooks` of settings files in Claude Code's format. Entries that do not fit become notices, the rest become
//! hooks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::command::{HookCommand, HookLaunch};
use super::matcher::HookMatcher;
use super::name::HookEventName;
use super::notice::{HookNotice, HookNoticeKind};
use super::settings::{HookGroup, HookSettings};

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
}

/// Adds the hooks of one file to the settings.
struct HookSettingsReader<'a> {
    file: &'a Path,
    settings: &'a mut HookSettings,
}

impl HookSettingsReader<'_> {
    fn notice(&mut self, place: impl Into<String>, kind: HookNoticeKind) {
        self.settings.notices.push(HookNotice {
            file: self.file.to_owned(),
            place: place.into(),
            kind,
        });
    }

    fn file(&mut self, value: &Value) {
        let Some(file) = value.as_object() else {
            return self.notice("", HookNoticeKind::Expected("an object"));
        };
        if let Some(off) = file.get("disableAllHooks").and_then(Value::as_bool) {
            self.settings.switched_off = off;
            if off {
                self.notice("disableAllHooks", HookNoticeKind::AllDisabled);
            }
        }
        match file.get("hooks") {
            None | Some(Value::Null) => {}
            Some(Value::Object(events)) => {
                for (name, groups) in events {
                    self.event(name, groups);
                }
            }
            Some(_) => self.notice("hooks", HookNoticeKind::Expected("an object of events")),
        }
    }

    fn event(&mut self, name: &str, groups: &Value) {
        let place = format!("hooks.{name}");
        let Some(event) = HookEventName::parse(name) else {
            return self.notice(place, HookNoticeKind::UnknownEvent(name.to_owned()));
        };
        let Some(groups) = groups.as_array() else {
            return self.notice(place, HookNoticeKind::Expected("a list"));
        };
        for (at, group) in groups.iter().enumerate() {
            self.group(event, &format!("{place}[{at}]"), group);
        }
    }

    fn group(&mut self, event: HookEventName, place: &str, group: &Value) {
        let Some(group) = group.as_object() else {
            return self.notice(place, HookNoticeKind::Expected("an object with `hooks`"));
        };
        let matcher = match group.get("matcher") {
            None | Some(Value::Null) => HookMatcher::All,
            Some(Value::String(text)) => match HookMatcher::parse(text) {
                Ok(matcher) => matcher,
                Err(_) => {
                    return self.notice(format!("{place}.matcher"), HookNoticeKind::BadMatcher);
                }
            },
            Some(_) => {
                return self.notice(
                    format!("{place}.matcher"),
                    HookNoticeKind::Expected("a text"),
                );
            }
        };
        let Some(hooks) = group.get("hooks").and_then(Value::as_array) else {
            return self.notice(format!("{place}.hooks"), HookNoticeKind::Expected("a list"));
        };
        let mut commands = Vec::new();
        for (at, hook) in hooks.iter().enumerate() {
            let place = format!("{place}.hooks[{at}]");
            match hook.as_object() {
                Some(hook) => commands.extend(self.hook(event, &place, hook)),
                None => self.notice(place, HookNoticeKind::Expected("an object")),
            }
        }
        self.settings.groups.push(HookGroup {
            event,
            matcher,
            commands,
        });
    }

    fn hook(
        &mut self,
        event: HookEventName,
        place: &str,
        hook: &Map<String, Value>,
    ) -> Option<HookCommand> {
        match hook.get("type").and_then(Value::as_str) {
            Some("command") => {}
            Some(other) => {
                self.notice(place, HookNoticeKind::UnsupportedType(other.to_owned()));
                return None;
            }
            None => {
                self.notice(
                    format!("{place}.type"),
                    HookNoticeKind::Expected("`\"command\"`"),
                );
                return None;
            }
        }
        let line = hook.get("command").and_then(Value::as_str).map(str::trim);
        let Some(line) = line.filter(|line| !line.is_empty()) else {
            self.notice(
                format!("{place}.command"),
                HookNoticeKind::Expected("a command"),
            );
            return None;
        };
        if !self.understood(event, place, hook) {
            return None;
        }
        Some(HookCommand {
            launch: self.launch(place, line, hook.get("args"))?,
            timeout: self.timeout(event, place, hook.get("timeout")),
            label: format!("{} {place}", self.file.display()),
        })
    }

    /// Whether the hook can run although some of its fields have no effect here.
    fn understood(&mut self, event: HookEventName, place: &str, hook: &Map<String, Value>) -> bool {
        if hook.contains_key("if") {
            let about_a_tool = event.is_about_a_tool();
            self.notice(
                format!("{place}.if"),
                HookNoticeKind::Unsupported(if about_a_tool {
                    "is not evaluated here; the hook runs for every call its matcher matches"
                } else {
                    "has no meaning for this event; the hook never runs"
                }),
            );
            if !about_a_tool {
                return false;
            }
        }
        if hook.get("shell").and_then(Value::as_str) == Some("powershell") {
            self.notice(
                format!("{place}.shell"),
                HookNoticeKind::Unsupported("PowerShell is not used here; the hook does not run"),
            );
            return false;
        }
        for field in ["async", "asyncRewake"] {
            if hook.get(field).and_then(Value::as_bool) == Some(true) {
                self.notice(
                    format!("{place}.{field}"),
                    HookNoticeKind::Unsupported("hooks are waited for here; let a long one fork"),
                );
            }
        }
        true
    }

    fn launch(&mut self, place: &str, line: &str, args: Option<&Value>) -> Option<HookLaunch> {
        let Some(args) = args else {
            return Some(HookLaunch::Line(line.to_owned()));
        };
        let texts = args.as_array().and_then(|args| {
            let texts = args.iter().map(|arg| arg.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>()
        });
        if texts.is_none() {
            self.notice(
                format!("{place}.args"),
                HookNoticeKind::Expected("a list of texts"),
            );
        }
        Some(HookLaunch::Program(line.to_owned(), texts?))
    }

    fn timeout(&mut self, event: HookEventName, place: &str, timeout: Option<&Value>) -> Duration {
        let default = match event {
            HookEventName::SessionEnd => HookCommand::END_TIMEOUT,
            _ => HookCommand::DEFAULT_TIMEOUT,
        };
        let Some(timeout) = timeout else {
            return default;
        };
        let seconds = timeout.as_f64().filter(|seconds| *seconds > 0.0);
        let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        duration.unwrap_or_else(|| {
            self.notice(
                format!("{place}.timeout"),
                HookNoticeKind::Expected("a number of seconds above 0"),
            );
            default
        })
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
