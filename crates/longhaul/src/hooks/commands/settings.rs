//! The hooks of settings files, and which of them an event runs. `reader.rs` reads the files, `run.rs` runs the hooks.

use super::command::HookCommand;
use super::event::HookEvent;
use super::matcher::HookMatcher;
use super::name::HookEventName;
use super::notice::HookNotice;

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
