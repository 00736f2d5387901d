//! The rules and the mode that hold at a moment, and what they say about a path. `judge.rs` and `command.rs` decide about
//! calls by them.

use std::path::PathBuf;

use super::path_pattern::RulePathBases;
use super::paths::LocatedPath;
use super::rule::{PermissionRule, PermissionRuleError, RuleSubject, host};
use super::workspace::ReadableWorkspace;
use crate::event::ApprovalMode;

/// Tools that write files, for rules that forbid: a rule that protects a file from one of them protects it from all.
pub(super) const WRITERS: &[&str] = &["Edit", "Write", "MultiEdit", "NotebookEdit"];

/// What a session may currently do.
#[derive(Debug)]
pub(super) struct PermissionState {
    pub(super) workspace: ReadableWorkspace,
    pub(super) mode: ApprovalMode,
    pub(super) deny: Vec<PermissionRule>,
    pub(super) ask: Vec<PermissionRule>,
    pub(super) allowed_by_settings: Vec<PermissionRule>,
    pub(super) allowed_in_session: Vec<PermissionRule>,
    /// What the user approved until the next compaction.
    pub(super) approved: Vec<PermissionRule>,
    /// What a command of the user's own allows until its turn ends.
    pub(super) allowed_in_turn: Vec<PermissionRule>,
    /// The plan file, resolved.
    pub(super) plan_file: Option<PathBuf>,
    /// The session's folder for temporary files, resolved.
    pub(super) scratchpad: Option<PathBuf>,
}

impl PermissionState {
    /// The rules that allow.
    pub(super) fn allow(&self) -> impl Iterator<Item = &PermissionRule> {
        self.allowed_by_settings
            .iter()
            .chain(&self.allowed_in_session)
            .chain(&self.approved)
            .chain(&self.allowed_in_turn)
    }

    /// Parses a rule that is given in this session.
    pub(super) fn parse(&self, rule: &str) -> Result<PermissionRule, PermissionRuleError> {
        let bases = RulePathBases {
            cwd: &self.workspace.cwd,
            settings: &self.workspace.cwd,
            home: self.workspace.home.as_deref(),
        };
        PermissionRule::parse(rule, bases)
    }

    /// The rule that forbids a path to readers (`Read`) or to writers (`Edit`).
    pub(super) fn denies_path(&self, tool: &str, path: &LocatedPath) -> Option<&PermissionRule> {
        path_rule(
            &self.deny,
            |rule| match tool {
                "Edit" => WRITERS.contains(&rule.tool.as_str()),
                _ => reads(rule, tool),
            },
            path,
        )
    }

    /// The rules that forbid files to readers.
    pub(super) fn read_denials(&self) -> impl Iterator<Item = &PermissionRule> {
        self.deny.iter().filter(|rule| reads(rule, "Read"))
    }

    /// Whether a file may be read without asking.
    pub(super) fn may_read_unasked(&self, tool: &str, path: &LocatedPath) -> bool {
        self.workspace.may_read(path)
            || self
                .allow()
                .any(|rule| reads(rule, tool) && covers(rule, path))
    }

    /// Whether a file may be written without asking.
    pub(super) fn may_write_unasked(&self, tool: &str, path: &LocatedPath) -> bool {
        if self.plan_file.as_ref() == Some(&path.real) && self.mode == ApprovalMode::Plan {
            return true;
        }
        let is_scratch = |folder: &PathBuf| path.real.starts_with(folder) && path.real != *folder;
        if self.mode != ApprovalMode::Plan && self.scratchpad.as_ref().is_some_and(is_scratch) {
            return true;
        }
        let delicate = self.workspace.delicate(path);
        // A rule for all files does not cover files that change what programs do; a rule that names them does.
        let meant = |rule: &PermissionRule| match (&delicate, &rule.what) {
            (None, _) => true,
            (Some(name), RuleSubject::Paths(pattern)) => {
                pattern.text().to_lowercase().contains(name.as_str())
            }
            (Some(_), _) => false,
        };
        let by_rule = self
            .allow()
            .any(|rule| rule.names_tool(tool) && covers(rule, path) && meant(rule));
        by_rule
            || self.mode == ApprovalMode::AcceptEdits
                && delicate.is_none()
                && self.workspace.holds(path)
    }

    /// The hosts that rules forbid to fetch from or to search in.
    pub(super) fn forbidden_hosts(&self) -> Vec<String> {
        let rules = self.deny.iter().filter(|rule| {
            matches!(rule.what, RuleSubject::Domain(_))
                && ["WebFetch", "WebSearch"].contains(&rule.tool.as_str())
        });
        let hosts = rules.filter_map(|rule| {
            let (_, named) = rule.text().split_once("domain:")?;
            Some(host(named.trim_end_matches(')')))
        });
        hosts.collect()
    }
}

/// Whether a rule is about reading with this tool.
pub(super) fn reads(rule: &PermissionRule, tool: &str) -> bool {
    rule.tool == "Read" || rule.names_tool(tool) && !WRITERS.contains(&tool)
}

/// Whether one of these rules forbids reading a file.
pub(super) fn forbids_reading(rules: &[PermissionRule], path: &LocatedPath) -> bool {
    path_rule(rules, |rule| reads(rule, "Read"), path).is_some()
}

/// The first of these rules that touches a path.
pub(super) fn path_rule<'a>(
    rules: &'a [PermissionRule],
    about: impl Fn(&PermissionRule) -> bool,
    path: &LocatedPath,
) -> Option<&'a PermissionRule> {
    rules.iter().find(|rule| {
        about(rule) && matches!(&rule.what, RuleSubject::Paths(pattern) if pattern.touches(path))
    })
}

fn covers(rule: &PermissionRule, path: &LocatedPath) -> bool {
    match &rule.what {
        RuleSubject::All => true,
        RuleSubject::Paths(pattern) => pattern.covers(path),
        _ => false,
    }
}
