//! One rule, in Claude Code's syntax: `Bash`, `Bash(npm run test:*)`, `Edit(src/**)`, `WebFetch(domain:example.com)`,
//! `mcp__server__tool`, `Task(name)`. `state.rs` and `command.rs` match it against calls.

use super::path_pattern::{RulePathBases, RulePathPattern};
use super::text_pattern::TextPattern;

/// A parsed rule.
#[derive(Debug, Clone)]
pub struct PermissionRule {
    text: String,
    pub(crate) tool: String,
    pub(crate) what: RuleSubject,
}

/// Which calls of a tool a rule applies to.
#[derive(Debug, Clone)]
pub(crate) enum RuleSubject {
    /// All calls.
    All,
    /// Calls with these commands.
    Command(TextPattern),
    /// Calls that touch these files.
    Paths(RulePathPattern),
    /// Calls to this host.
    Domain(TextPattern),
    /// Calls of an agent, a skill or anything else with a name.
    Named(TextPattern),
}

/// Why a text is not a valid rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermissionRuleError {
    /// No tool is named.
    #[error("a rule begins with the name of a tool, as in `Bash(git diff:*)`")]
    NoTool,
    /// The parentheses do not match.
    #[error(
        "a rule is a tool's name, or a name with one pair of parentheses after it, as in `Bash(git diff:*)`"
    )]
    Parentheses,
    /// The path is not a valid pattern.
    #[error(
        "`{0}` is not a valid path pattern; write it as in a .gitignore file, for example `Edit(src/**)`"
    )]
    Path(String),
    /// `WebFetch` and `WebSearch` only accept domains.
    #[error("write the host as in `WebFetch(domain:example.com)`")]
    Domain,
}

impl PermissionRule {
    /// Parses a rule.
    pub fn parse(text: &str, bases: RulePathBases<'_>) -> Result<Self, PermissionRuleError> {
        let text = text.trim();
        let (tool, inner) = match text.split_once('(') {
            None if text.contains(')') => return Err(PermissionRuleError::Parentheses),
            None => (text, None),
            Some((tool, rest)) => (
                tool,
                Some(
                    rest.strip_suffix(')')
                        .ok_or(PermissionRuleError::Parentheses)?,
                ),
            ),
        };
        if tool.is_empty()
            || tool.contains(|character: char| character.is_whitespace() || character == ',')
        {
            return Err(PermissionRuleError::NoTool);
        }
        let what = match inner {
            None | Some("" | "*") => RuleSubject::All,
            Some(inner) => RuleSubject::parse(tool, inner, bases)?,
        };
        Ok(Self {
            text: text.to_owned(),
            tool: tool.to_owned(),
            what,
        })
    }

    /// The rule as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names this call's tool, or that tool's family: `Edit` stands for all tools that write files, `Read`
    /// for all that read.
    pub(crate) fn names_tool(&self, tool: &str) -> bool {
        let rule = self.tool.as_str();
        if let Some(of_server) = rule.strip_prefix("mcp__") {
            let Some(called) = tool.strip_prefix("mcp__") else {
                return false;
            };
            return match of_server.split_once("__") {
                None => called.split("__").next() == Some(of_server),
                Some(_) => TextPattern::parse(of_server).surely_matches(called),
            };
        }
        match tool {
            "Write" | "MultiEdit" | "NotebookEdit" => rule == "Edit" || rule == tool,
            "Grep" | "Glob" | "LS" | "NotebookRead" => rule == "Read" || rule == tool,
            "Task" | "Agent" => rule == "Task" || rule == "Agent",
            _ => rule == tool,
        }
    }
}

impl RuleSubject {
    fn parse(
        tool: &str,
        inner: &str,
        bases: RulePathBases<'_>,
    ) -> Result<Self, PermissionRuleError> {
        Ok(match tool {
            "Bash" => Self::Command(TextPattern::parse(inner)),
            "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Grep" | "Glob" | "LS"
            | "NotebookRead" => Self::Paths(
                RulePathPattern::parse(inner, bases)
                    .ok_or_else(|| PermissionRuleError::Path(inner.to_owned()))?,
            ),
            "WebFetch" | "WebSearch" => {
                let domain = inner
                    .strip_prefix("domain:")
                    .ok_or(PermissionRuleError::Domain)?;
                Self::Domain(TextPattern::parse(&host(domain)))
            }
            _ => Self::Named(TextPattern::parse(inner)),
        })
    }
}

/// A host in the form in which hosts are compared.
pub(crate) fn host(text: &str) -> String {
    let text = text.trim().trim_end_matches('.').to_lowercase();
    let without_port = text.rsplit_once(':').filter(|(host, port)| {
        !host.is_empty() && !host.ends_with(':') && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    match without_port {
        Some((host, _)) if !text.ends_with(']') => host.trim_end_matches('.').to_owned(),
        _ => text,
    }
}
