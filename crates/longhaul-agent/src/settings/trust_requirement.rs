//! The requirements of a project's settings that need the user's trust, one by one: the user is shown these, and each
//! is remembered once the user has agreed. Another command, another value or another rule is another requirement.

use std::fmt;

use longhaul::hooks::HookSettings;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::Value;

use super::reader::SettingsDocument;
use super::settings_folders::SettingsOwner;

/// Something in a project's settings that needs the user's trust.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum TrustRequirement {
    /// A rule: calls that run without asking.
    Allow(String),
    /// A rule for the turns of a command: calls that run without asking.
    CommandAllows {
        /// The name of the command, without the slash.
        command: String,
        /// The rule.
        rule: String,
    },
    /// A further folder to work in.
    Folder(String),
    /// A project's server that starts without asking, by its name.
    EnableServer(String),
    /// All of the project's servers start without asking.
    EnableAllServers,
    /// The mode to begin with.
    Mode(String),
    /// Servers to start. The user is asked about each separately.
    Servers,
    /// All hooks are switched off, including the user's own.
    HooksOff,
    /// A variable for commands.
    Variable {
        /// The name of the variable.
        name: String,
        /// The value of the variable.
        value: String,
    },
    /// A command that runs by itself.
    Hook {
        /// When it runs.
        event: String,
        /// The events that it applies to; if empty, all.
        matcher: String,
        /// The command that runs.
        command: String,
    },
}

impl TrustRequirement {
    /// The key for remembering the user's consent. It does not reveal the content, because values may be secret.
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(self)
    }

    /// The kind of the requirement, for where there is no space for more.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hook { .. } | Self::HooksOff => "hooks (commands that run by themselves)",
            Self::Variable { .. } => "environment variables for commands",
            Self::Allow(_) | Self::CommandAllows { .. } | Self::Folder(_) | Self::Mode(_) => {
                "permissions (calls that run without asking)"
            }
            Self::Servers | Self::EnableServer(_) | Self::EnableAllServers => {
                "MCP servers (programs that are started)"
            }
        }
    }
}

impl fmt::Display for TrustRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allow(rule) => write!(f, "allows without asking: {rule}"),
            Self::CommandAllows { command, rule } => {
                write!(
                    f,
                    "allows without asking, in the command /{command}: {rule}"
                )
            }
            Self::Folder(folder) => write!(f, "opens the folder {folder} to the agent"),
            Self::EnableServer(name) => {
                write!(f, "starts the MCP server {name} without asking")
            }
            Self::EnableAllServers => write!(f, "starts all of its MCP servers without asking"),
            Self::Mode(mode) => match mode.as_str() {
                "bypassPermissions" => {
                    write!(
                        f,
                        "begins in the mode {mode}: EVERYTHING runs without asking"
                    )
                }
                _ => write!(f, "begins in the mode {mode}"),
            },
            Self::Servers => write!(f, "has MCP servers (programs; you are asked about each)"),
            Self::HooksOff => write!(f, "switches all hooks off, yours too"),
            Self::Variable { name, value } => write!(f, "sets the variable {name}={value}"),
            Self::Hook {
                event,
                matcher,
                command,
            } => {
                if matcher.is_empty() {
                    write!(f, "runs at {event}: {command}")
                } else {
                    write!(f, "runs at {event} ({matcher}): {command}")
                }
            }
        }
    }
}

/// A hash of a value in its canonical JSON form.
pub(super) fn fingerprint(of: &impl Serialize) -> String {
    let bytes = serde_json::to_vec(of).unwrap_or_default();
    let digest = digest(&SHA256, &bytes);
    let bytes = digest.as_ref().iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// All requirements of a settings file, whether or not they are granted.
pub(super) fn wants(
    document: &SettingsDocument<'_>,
    owner: SettingsOwner,
) -> Vec<TrustRequirement> {
    let mut wants = Vec::new();
    let mut hooks = HookSettings::default();
    hooks.add(document.path, document.bytes());
    wants.extend(
        hooks
            .written()
            .into_iter()
            .map(|hook| TrustRequirement::Hook {
                event: hook.event,
                matcher: hook.matcher,
                command: hook.command,
            }),
    );
    let is_on = |name: &str| document.fields.get(name).and_then(Value::as_bool) == Some(true);
    if is_on("disableAllHooks") {
        wants.push(TrustRequirement::HooksOff);
    }
    let variables = document.fields.get("env").and_then(Value::as_object);
    for (name, value) in variables.into_iter().flatten() {
        wants.push(TrustRequirement::Variable {
            name: name.clone(),
            value: value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        });
    }
    let texts = |value: Option<&Value>| -> Vec<String> {
        let list = value.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    if let Some(permissions) = document.fields.get("permissions") {
        let rules = texts(permissions.get("allow")).into_iter();
        wants.extend(rules.map(|rule| TrustRequirement::Allow(rule.trim().to_owned())));
        let folders = texts(permissions.get("additionalDirectories"));
        wants.extend(folders.into_iter().map(TrustRequirement::Folder));
        match permissions.get("defaultMode").and_then(Value::as_str) {
            None | Some("default" | "plan") => {}
            // The user is not asked about what is refused anyway.
            Some("bypassPermissions") if owner == SettingsOwner::Project => {}
            Some(mode) => wants.push(TrustRequirement::Mode(mode.to_owned())),
        }
    }
    if owner == SettingsOwner::Local {
        if is_on("enableAllProjectMcpServers") {
            wants.push(TrustRequirement::EnableAllServers);
        }
        let enabled = texts(document.fields.get("enabledMcpjsonServers"));
        wants.extend(enabled.into_iter().map(TrustRequirement::EnableServer));
    }
    wants
}
