//! Decides about a call by the rules and the mode that hold at that moment (`state.rs`). `command.rs` decides about
//! commands.

use std::path::Path;

use serde_json::Value;

use super::gate::{Gate, RuleLifetime};
use super::paths::LocatedPath;
use super::rule::{PermissionRule, RuleSubject, host};
use super::state::{PermissionState, WRITERS, path_rule, reads};
use super::{PermissionDecision, Permissions, command, suggest};
use crate::event::ApprovalMode;
use crate::tool::{CallGuard, ToolAccess};

const NOBODY_TO_ASK: &str = include_str!("nobody_to_ask.md");

impl Permissions {
    /// Decides about a call.
    pub fn judge(&self, tool: &str, input: &Value, access: &ToolAccess) -> PermissionDecision {
        let state = self.read();
        match state.judge(tool, input, access) {
            PermissionDecision::Ask { reason, .. } if state.mode == ApprovalMode::DontAsk => {
                PermissionDecision::Deny {
                    reason: format!("{} ({reason})", NOBODY_TO_ASK.trim_end()),
                }
            }
            judgement => judgement,
        }
    }
}

impl Gate for Permissions {
    fn judge(&self, tool: &str, input: &Value, access: &ToolAccess) -> PermissionDecision {
        Self::judge(self, tool, input, access)
    }

    fn guard(&self, access: &ToolAccess) -> CallGuard {
        let state = self.read();
        let ToolAccess::Runs { command, folder } = access else {
            return CallGuard::Nothing;
        };
        let folder = state.workspace.cwd.join(folder);
        if command::looks_with_git(command, &folder, &state) {
            CallGuard::Git
        } else {
            CallGuard::Nothing
        }
    }

    fn remember(&self, rule: &str, lasting: RuleLifetime) -> Result<(), String> {
        match lasting {
            RuleLifetime::Session => self.approve(rule).map_err(|error| error.to_string()),
            RuleLifetime::Project => self
                .allow_in_project(rule)
                .map_err(|error| error.to_string()),
        }
    }

    fn mode(&self) -> ApprovalMode {
        Self::mode(self)
    }

    fn set_mode(&self, mode: ApprovalMode) {
        Self::set_mode(self, mode);
    }

    fn allow_for_turn(&self, rules: &[String]) -> Vec<String> {
        Self::allow_for_turn(self, rules)
    }

    fn end_turn_rules(&self) {
        Self::end_turn_rules(self);
    }

    fn forbidden_hosts(&self) -> Vec<String> {
        self.read().forbidden_hosts()
    }

    fn forget_approvals(&self) -> usize {
        Self::forget_approvals(self)
    }
}

impl PermissionState {
    /// Decides about a call, before the decision for sessions in which nobody can be asked.
    pub(super) fn judge(
        &self,
        tool: &str,
        input: &Value,
        access: &ToolAccess,
    ) -> PermissionDecision {
        let whole = |rules: &[PermissionRule]| {
            let rule = rules
                .iter()
                .find(|rule| rule.names_tool(tool) && means(rule, tool, input));
            rule.map(|rule| rule.text().to_owned())
        };
        if let Some(rule) = whole(&self.deny) {
            return PermissionDecision::Deny {
                reason: format!("The rule {rule} forbids this call."),
            };
        }
        let judgement = match access {
            ToolAccess::Runs { command, folder } => {
                command::judge(command, &self.workspace.cwd.join(folder), self)
            }
            ToolAccess::Reads(path) => self.judge_reading(tool, path),
            ToolAccess::Writes(path) => self.judge_writing(tool, path),
            ToolAccess::Fetches(host) => self.judge_fetching(tool, host),
            ToolAccess::SearchesWeb(hosts) => self.judge_searching(tool, hosts),
            ToolAccess::Nothing => PermissionDecision::Allow,
            ToolAccess::AsksUser(_) => PermissionDecision::Ask {
                reason: "The model asks the user a question.".to_owned(),
                rule: None,
            },
            ToolAccess::LeavesPlanMode => self.judge_leaving_plan_mode(),
            ToolAccess::Other => self.judge_other(tool, input),
        };
        match whole(&self.ask) {
            Some(rule) if !matches!(judgement, PermissionDecision::Deny { .. }) => asked_by(&rule),
            _ => judgement,
        }
    }

    /// Outside of plan mode the tool itself refuses.
    fn judge_leaving_plan_mode(&self) -> PermissionDecision {
        match self.mode {
            ApprovalMode::Plan => PermissionDecision::Ask {
                reason: "The model has made a plan and wants to begin.".to_owned(),
                rule: None,
            },
            ApprovalMode::DontAsk => PermissionDecision::Deny {
                reason: "There is nobody who could agree to a plan.".to_owned(),
            },
            ApprovalMode::Default | ApprovalMode::AcceptEdits | ApprovalMode::BypassPermissions => {
                PermissionDecision::Allow
            }
        }
    }

    fn judge_reading(&self, tool: &str, path: &Path) -> PermissionDecision {
        let path = LocatedPath::find(&self.workspace.cwd.join(path));
        if let Some(rule) = self.denies_path(reader(tool), &path) {
            return forbidden(rule, "reading", &self.workspace.shown(&path.named));
        }
        if let Some(rule) = path_rule(&self.ask, |rule| reads(rule, tool), &path) {
            return asked_by(rule.text());
        }
        if self.mode == ApprovalMode::BypassPermissions || self.may_read_unasked(tool, &path) {
            return PermissionDecision::Allow;
        }
        PermissionDecision::Ask {
            reason: format!("{} is outside of the workspace.", path.real.display()),
            rule: suggest::for_path("Read", &path.real, &self.workspace.cwd),
        }
    }

    fn judge_writing(&self, tool: &str, path: &Path) -> PermissionDecision {
        let path = LocatedPath::find(&self.workspace.cwd.join(path));
        if let Some(rule) = self.denies_path("Edit", &path) {
            return forbidden(rule, "writing", &self.workspace.shown(&path.named));
        }
        if self.mode == ApprovalMode::Plan && self.plan_file.as_ref() != Some(&path.real) {
            return PermissionDecision::not_in_plan_mode();
        }
        if let Some(rule) = path_rule(
            &self.ask,
            |rule| WRITERS.contains(&rule.tool.as_str()),
            &path,
        ) {
            return asked_by(rule.text());
        }
        if self.mode == ApprovalMode::BypassPermissions || self.may_write_unasked(tool, &path) {
            return PermissionDecision::Allow;
        }
        let shown = self.workspace.shown(&path.named);
        if let Some(name) = self.workspace.delicate(&path) {
            return PermissionDecision::Ask {
                reason: format!(
                    "It writes {shown}, and {name} changes what programs do or holds secrets."
                ),
                rule: None,
            };
        }
        if self.workspace.holds(&path) {
            PermissionDecision::Ask {
                reason: format!("It writes {shown}."),
                rule: suggest::for_path("Edit", &path.named, &self.workspace.cwd),
            }
        } else {
            PermissionDecision::Ask {
                reason: format!(
                    "It writes {}, which is outside of the workspace.",
                    path.real.display()
                ),
                rule: suggest::for_path("Edit", &path.real, &self.workspace.cwd),
            }
        }
    }

    fn judge_fetching(&self, tool: &str, from: &str) -> PermissionDecision {
        let from = host(from);
        let about = |rule: &&PermissionRule| match &rule.what {
            RuleSubject::Domain(pattern) => rule.names_tool(tool) && pattern.surely_matches(&from),
            _ => false,
        };
        if let Some(rule) = self.deny.iter().find(about) {
            return forbidden(rule, "fetching from", &from);
        }
        if let Some(rule) = self.ask.iter().find(about) {
            return asked_by(rule.text());
        }
        let whole =
            |rule: &PermissionRule| rule.names_tool(tool) && matches!(rule.what, RuleSubject::All);
        if self.mode == ApprovalMode::BypassPermissions
            || self.allow().any(|rule| about(&rule) || whole(rule))
        {
            return PermissionDecision::Allow;
        }
        let names_host = !from.is_empty()
            && !from.contains(['*', '(', ')'])
            && !from.contains(char::is_whitespace);
        PermissionDecision::Ask {
            reason: format!("It fetches from {from}."),
            rule: match tool {
                "WebFetch" => names_host.then(|| format!("WebFetch(domain:{from})")),
                _ => Some(tool.to_owned()),
            },
        }
    }

    /// Hosts that rules forbid are left out of every search (`forbidden_hosts`), so here they matter only where a search
    /// names them.
    fn judge_searching(&self, tool: &str, hosts: &[String]) -> PermissionDecision {
        let about = |rule: &PermissionRule, at: &str| match &rule.what {
            RuleSubject::Domain(pattern) => rule.names_tool(tool) && pattern.surely_matches(at),
            _ => false,
        };
        let named = |rules: &[PermissionRule]| {
            let rule = rules
                .iter()
                .find(|rule| hosts.iter().any(|at| about(rule, at)));
            rule.map(|rule| rule.text().to_owned())
        };
        if let Some(rule) = named(&self.ask) {
            return asked_by(&rule);
        }
        let whole =
            |rule: &PermissionRule| rule.names_tool(tool) && matches!(rule.what, RuleSubject::All);
        let covered = |at: &String| self.allow().any(|rule| about(rule, at));
        if self.mode == ApprovalMode::BypassPermissions
            || self.allow().any(whole)
            || !hosts.is_empty() && hosts.iter().all(covered)
        {
            return PermissionDecision::Allow;
        }
        PermissionDecision::Ask {
            reason: "It searches the web through the provider, who bills each search.".to_owned(),
            // A search in one place is no reason to allow all others.
            rule: Some(match hosts {
                [only] => format!("{tool}(domain:{only})"),
                _ => tool.to_owned(),
            }),
        }
    }

    fn judge_other(&self, tool: &str, input: &Value) -> PermissionDecision {
        // The calls of an agent or a skill are decided one by one.
        let is_ours = matches!(tool, "Task" | "Agent" | "Skill");
        if self.mode == ApprovalMode::Plan && !is_ours {
            return PermissionDecision::not_in_plan_mode();
        }
        let allowed = self
            .allow()
            .any(|rule| rule.names_tool(tool) && means(rule, tool, input));
        if is_ours || allowed || self.mode == ApprovalMode::BypassPermissions {
            return PermissionDecision::Allow;
        }
        PermissionDecision::Ask {
            reason: format!("No rule allows {tool}."),
            rule: Some(tool.to_owned()),
        }
    }
}

fn reader(tool: &str) -> &str {
    match tool {
        "Grep" | "Glob" | "LS" | "NotebookRead" => tool,
        _ => "Read",
    }
}

/// Whether a rule matches a call by its tool alone, or by the name of the agent or skill in its input.
fn means(rule: &PermissionRule, tool: &str, input: &Value) -> bool {
    let keys: &[&str] = match tool {
        "Task" | "Agent" => &["subagent_type", "agent"],
        "Skill" => &["skill", "name", "command"],
        _ => &[],
    };
    match &rule.what {
        RuleSubject::All => true,
        RuleSubject::Named(pattern) => keys.iter().any(|key| {
            let name = input.get(*key).and_then(Value::as_str);
            name.is_some_and(|name| pattern.surely_matches(name.trim_start_matches('/')))
        }),
        _ => false,
    }
}

fn asked_by(rule: &str) -> PermissionDecision {
    PermissionDecision::Ask {
        reason: format!("The rule {rule} says to ask."),
        rule: None,
    }
}

fn forbidden(rule: &PermissionRule, doing: &str, what: &str) -> PermissionDecision {
    PermissionDecision::Deny {
        reason: format!("The rule {} forbids {doing} {what}.", rule.text()),
    }
}
