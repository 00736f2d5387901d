//! Merges the settings files: for single values the most specific file wins, lists are joined.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul::hooks::HookSettings;
use serde_json::Value;

use super::grant::ProjectTrust;
use super::reader::{self, SettingsDocument};
use super::settings_folders::{SettingsFile, SettingsFolders, SettingsOwner};
use super::trust_requirement::{self, TrustRequirement};
use crate::effort::EffortSetting;
use crate::event::ApprovalMode;
use crate::permission::{PermissionRule, PermissionRules, RulePathBases};

/// The settings of all files together.
#[derive(Debug, Default)]
pub(super) struct MergedSettings {
    pub(super) rules: PermissionRules,
    pub(super) additional_directories: Vec<PathBuf>,
    pub(super) mode: Option<ApprovalMode>,
    pub(super) env: BTreeMap<String, String>,
    /// The part of `env` that comes from files other than the user's own for all projects.
    pub(super) project_env: BTreeMap<String, String>,
    /// Variables that programs get although they look like secrets.
    pub(super) passed: Vec<String>,
    pub(super) model: Option<String>,
    pub(super) effort: Option<EffortSetting>,
    pub(super) auto_compact: Option<bool>,
    /// How long the user may be idle until hooks are told.
    pub(super) idle_after: Option<Duration>,
    pub(super) output_style: Option<String>,
    pub(super) language: Option<String>,
    /// Servers of the project that the user enabled.
    pub(super) enabled_servers: Vec<String>,
    /// Servers that any file disabled.
    pub(super) disabled_servers: Vec<String>,
    pub(super) all_servers: bool,
    /// The hooks of the files that apply.
    pub(super) hooks: HookSettings,
    /// Requirements of files that came with the project. They need the user's trust.
    pub(super) wants: Vec<TrustRequirement>,
    /// Requirements of files that may be the user's own for this project. They need the user's trust.
    pub(super) local_wants: Vec<TrustRequirement>,
    /// Whether rules that forbid may be missing.
    rules_missing: bool,
}

/// The addition to a notice about an unreadable file: nobody should believe that its rules protect them.
const RULES_DO_NOT_HOLD: &str =
    "NONE OF ITS RULES APPLY, not even those that forbid, until it is corrected";

impl MergedSettings {
    /// Adds a file on top, from where it was found.
    pub(super) fn add(
        &mut self,
        file: &SettingsFile,
        real: &Path,
        places: &SettingsFolders,
        trust: ProjectTrust,
        notices: &mut Vec<String>,
    ) {
        let document = match reader::read(&file.path, real, RULES_DO_NOT_HOLD, notices) {
            Ok(Some(document)) => document,
            Ok(None) => return,
            Err(_) => {
                self.rules_missing = true;
                return;
            }
        };
        match file.owner {
            SettingsOwner::User => {}
            SettingsOwner::Project => self
                .wants
                .extend(trust_requirement::wants(&document, file.owner)),
            SettingsOwner::Local => self
                .local_wants
                .extend(trust_requirement::wants(&document, file.owner)),
        }
        if document
            .fields
            .get("permissions")
            .is_some_and(|value| !value.is_object() && !value.is_null())
        {
            self.rules_missing = true;
        }
        self.add_permissions(&document, file, places, trust, notices);
        self.add_servers(&document, file.owner, trust, notices);
        self.add_passed(&document, file.owner, notices);
        if trust == ProjectTrust::Untrusted {
            return;
        }
        if let Some(model) = document.string("model", notices) {
            self.model = Some(model);
        }
        if let Some(name) = document.string("effortLevel", notices) {
            match EffortSetting::named(&name) {
                Some(effort) => self.effort = Some(effort),
                None => notices.push(document.notice(
                    &["effortLevel"],
                    &format!("should be {}; ignored, correct it", EffortSetting::NAMES),
                )),
            }
        }
        if let Some(on) = document.boolean("autoCompactEnabled", notices) {
            self.auto_compact = Some(on);
        }
        if let Some(milliseconds) = document.count("messageIdleNotifThresholdMs", notices) {
            self.idle_after = Some(Duration::from_millis(milliseconds));
        }
        if let Some(style) = document.string("outputStyle", notices) {
            self.output_style = Some(style);
        }
        if let Some(language) = document.string("language", notices) {
            self.language = Some(language);
        }
        self.hooks.add(&file.path, document.bytes());
        self.add_env(&document, file.owner, notices);
    }

    /// Records that a file which may contain rules that forbid was not read.
    pub(super) fn left_out(&mut self) {
        self.rules_missing = true;
    }

    fn add_env(
        &mut self,
        document: &SettingsDocument<'_>,
        owner: SettingsOwner,
        notices: &mut Vec<String>,
    ) {
        for (name, value) in document.object("env", notices).into_iter().flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => {
                    notices.push(document.notice(
                        &["env", name],
                        "should be a text in quotes; ignored, correct it",
                    ));
                    continue;
                }
            };
            if name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
                notices.push(
                    document.notice(&["env", name], "is not a variable; ignored, correct it"),
                );
                continue;
            }
            match owner {
                SettingsOwner::User => {}
                SettingsOwner::Project | SettingsOwner::Local => {
                    self.project_env.insert(name.clone(), text.clone());
                }
            }
            self.env.insert(name.clone(), text);
        }
    }

    /// Only the user decides which variables to pass on: neither a project nor a file in its folder.
    fn add_passed(
        &mut self,
        document: &SettingsDocument<'_>,
        owner: SettingsOwner,
        notices: &mut Vec<String>,
    ) {
        let key = ["passEnvironment"];
        let names = document.strings(&document.fields, &key, notices);
        let names = names.unwrap_or_default();
        if owner == SettingsOwner::User {
            self.passed.extend(names);
        } else if !names.is_empty() {
            let what = "applies only in your own settings, outside of projects; ignored";
            notices.push(document.notice(&key, what));
        }
    }

    fn add_servers(
        &mut self,
        document: &SettingsDocument<'_>,
        owner: SettingsOwner,
        trust: ProjectTrust,
        notices: &mut Vec<String>,
    ) {
        let disabled = document.strings(&document.fields, &["disabledMcpjsonServers"], notices);
        self.disabled_servers.extend(disabled.unwrap_or_default());
        if trust == ProjectTrust::Untrusted {
            return;
        }
        let all = document.boolean("enableAllProjectMcpServers", notices);
        let enabled = document
            .strings(&document.fields, &["enabledMcpjsonServers"], notices)
            .unwrap_or_default();
        if owner != SettingsOwner::Project {
            self.all_servers = all.unwrap_or(self.all_servers);
            self.enabled_servers.extend(enabled);
        } else if all == Some(true) || !enabled.is_empty() {
            // The author of the servers must not be the one who approves them.
            let key = if all == Some(true) {
                "enableAllProjectMcpServers"
            } else {
                "enabledMcpjsonServers"
            };
            let what = "does not apply in a file that comes with the project; set it in .claude/settings.local.json or in your own settings";
            notices.push(document.notice(&[key], what));
        }
    }

    fn add_permissions(
        &mut self,
        document: &SettingsDocument<'_>,
        file: &SettingsFile,
        places: &SettingsFolders,
        trust: ProjectTrust,
        notices: &mut Vec<String>,
    ) {
        let Some(permissions) = document.object("permissions", notices) else {
            return;
        };
        let bases = RulePathBases {
            cwd: &places.cwd,
            settings: &file.base,
            home: places.user_home.as_deref(),
        };
        for (list, name) in [
            (&mut self.rules.allow, "allow"),
            (&mut self.rules.ask, "ask"),
            (&mut self.rules.deny, "deny"),
        ] {
            let key = ["permissions", name];
            let forbids = name != "allow";
            if !forbids && trust == ProjectTrust::Untrusted {
                continue;
            }
            let Ok(texts) = document.strings(permissions, &key, notices) else {
                self.rules_missing |= forbids;
                continue;
            };
            for text in texts {
                match PermissionRule::parse(&text, bases) {
                    Ok(rule) => list.push(rule),
                    Err(error) => {
                        self.rules_missing |= forbids;
                        let what = format!("has a rule that DOES NOT APPLY, `{text}`: {error}");
                        notices.push(document.notice(&key, &what));
                    }
                }
            }
        }
        if trust == ProjectTrust::Untrusted {
            return;
        }
        let folders = document.strings(
            permissions,
            &["permissions", "additionalDirectories"],
            notices,
        );
        for folder in folders.unwrap_or_default() {
            let path = match (folder.strip_prefix("~/"), &places.user_home) {
                (Some(below), Some(home)) => home.join(below),
                _ => places.cwd.join(&folder),
            };
            self.additional_directories.push(path);
        }
        if let Some(mode) = permissions
            .get("defaultMode")
            .filter(|mode| !mode.is_null())
        {
            self.add_mode(mode, document, file.owner, notices);
        }
    }

    fn add_mode(
        &mut self,
        mode: &Value,
        document: &SettingsDocument<'_>,
        owner: SettingsOwner,
        notices: &mut Vec<String>,
    ) {
        let key = ["permissions", "defaultMode"];
        match serde_json::from_value::<ApprovalMode>(mode.clone()) {
            Ok(ApprovalMode::BypassPermissions) if owner == SettingsOwner::Project => notices.push(document.notice(
                &key,
                "may not be bypassPermissions in a file that comes with the project; ignored, set it in your own settings",
            )),
            Ok(mode) => self.mode = Some(mode),
            Err(_) => notices.push(document.notice(
                &key,
                "should be default, acceptEdits, plan, dontAsk or bypassPermissions; ignored, correct it",
            )),
        }
    }

    /// Resets a permissive mode while rules that forbid may be missing.
    pub(super) fn restrain(&mut self, notices: &mut Vec<String>) {
        if self.rules_missing
            && matches!(
                self.mode,
                Some(ApprovalMode::BypassPermissions | ApprovalMode::AcceptEdits)
            )
        {
            self.mode = Some(ApprovalMode::Default);
            notices.push(
                "Rules are missing (see above), so the mode is `default` and not the one that is set; correct the files, or choose the mode yourself"
                    .to_owned(),
            );
        }
    }
}
