//! Decides about a shell command, part by part: each part must be allowed, and one forbidden part forbids the whole
//! command.

use std::path::{Path, PathBuf};

use super::folders::CommandFolders;
use super::paths::LocatedPath;
use super::read_only::git::{looks_around, why_not};
use super::read_only::{is_harmless_in_env, is_read_only, is_sink, only_looks};
use super::rule::{PermissionRule, RuleSubject};
use super::shell::{ShellScript, ShellWord, SimpleCommand, reachable, read, without_timing};
use super::state::PermissionState;
use super::{PermissionDecision, denied, suggest};
use crate::event::ApprovalMode;

/// Decides about a command under these rules, before the mode modifies the answer. `from` is the folder that the shell
/// is in.
pub(super) fn judge(command: &str, from: &Path, state: &PermissionState) -> PermissionDecision {
    let script = read(command);
    let folders = CommandFolders::of(&script, from, &state.workspace);
    let reach: Vec<SimpleCommand> = script.parts.iter().flat_map(reachable).collect();
    let forbidden =
        by_rule(command, &reach, state).or_else(|| denied::named(&script, &reach, &folders, state));
    if let Some(reason) = forbidden {
        return PermissionDecision::Deny { reason };
    }
    let uncertain = perhaps(command, &script, &reach, &state.deny)
        .map(|rule| format!("It is not certain whether the rule {rule} forbids it."))
        .or_else(|| denied::perhaps(&script, &reach, &folders, state));
    let looks = is_read_only(&script, &folders, &state.workspace);
    if state.mode == ApprovalMode::Plan && (!looks || uncertain.is_some()) {
        return PermissionDecision::not_in_plan_mode();
    }
    if let Some(rule) = perhaps(command, &script, &reach, &state.ask) {
        return ask(format!("The rule {rule} says to ask."));
    }
    if let Some(reason) = uncertain {
        return ask(reason);
    }
    let all_commands =
        |rule: &&PermissionRule| rule.names_tool("Bash") && matches!(rule.what, RuleSubject::All);
    if looks
        || state.mode == ApprovalMode::BypassPermissions
        || state.allow().any(|rule| all_commands(&rule))
    {
        return PermissionDecision::Allow;
    }
    if allowed_as_it_is(command, state) {
        return PermissionDecision::Allow;
    }
    if let Some(why) = script.unclear {
        return ask(format!("It is not clear what it would run: {why}."));
    }
    by_parts(command, &script, &folders, state)
}

fn ask(reason: String) -> PermissionDecision {
    PermissionDecision::Ask { reason, rule: None }
}

/// A definite no: a rule against a command in it.
fn by_rule(command: &str, reach: &[SimpleCommand], state: &PermissionState) -> Option<String> {
    let rule = state
        .deny
        .iter()
        .filter(|rule| rule.names_tool("Bash"))
        .find(|rule| match &rule.what {
            RuleSubject::All => true,
            RuleSubject::Command(pattern) => {
                let hits = |part: &SimpleCommand| {
                    [part.text(), part.raw(), part.raw_with_assigns()]
                        .iter()
                        .any(|text| pattern.surely_matches(text))
                };
                pattern.surely_matches(command.trim()) || reach.iter().any(hits)
            }
            _ => false,
        })?;
    Some(format!("The rule {} forbids this command.", rule.text()))
}

/// The first of these rules that matches the command, or might: only the shell knows the result of an expansion.
fn perhaps<'a>(
    command: &str,
    script: &ShellScript,
    reach: &[SimpleCommand],
    rules: &'a [PermissionRule],
) -> Option<&'a str> {
    let rules = rules.iter().filter(|rule| rule.names_tool("Bash"));
    let mut meant = rules.filter(|rule| match &rule.what {
        RuleSubject::All => true,
        RuleSubject::Command(pattern) => {
            script.unclear.is_some()
                || pattern.surely_matches(command.trim())
                || reach.iter().any(|part| {
                    pattern.may_match(&part.words)
                        || pattern.surely_matches(&part.raw())
                        || pattern.surely_matches(&part.raw_with_assigns())
                })
        }
        _ => false,
    });
    meant.next().map(PermissionRule::text)
}

/// Whether a rule without a star equals the command, character by character.
fn allowed_as_it_is(command: &str, state: &PermissionState) -> bool {
    state.allow().any(|rule| match &rule.what {
        RuleSubject::Command(pattern) => {
            rule.names_tool("Bash") && pattern.is_exact() && pattern.surely_matches(command.trim())
        }
        _ => false,
    })
}

fn by_parts(
    command: &str,
    script: &ShellScript,
    folders: &CommandFolders,
    state: &PermissionState,
) -> PermissionDecision {
    let folders = folders.certain();
    let looks = |part: &SimpleCommand| {
        folders.is_some_and(|folders| only_looks(part, folders, &state.workspace))
    };
    let mut asked: Vec<&SimpleCommand> = Vec::new();
    for part in &script.parts {
        let core = without_timing(part);
        // Git is guarded by a shell function, which `timeout` and similar programs do not call.
        let unguarded = core.name() == "git" && core.words.len() != part.words.len();
        let fine = looks(&core) && !unguarded
            || allowed(part, state)
            || part.words.is_empty() && part.assigns.is_empty();
        if !fine && !asked.contains(&part) {
            asked.push(part);
        }
    }
    let outside = script
        .reads
        .iter()
        .find(|word| !may_read(word, folders, state));
    let written = script
        .writes
        .iter()
        .find(|word| !may_write(word, folders, state));
    let sets = script
        .sets
        .iter()
        .find(|name| !super::read_only::is_harmless_variable(name));
    let others = [
        written.map(|word| format!("It writes {}.", word.raw)),
        outside.map(|word| format!("It reads {}, outside of the workspace.", word.raw)),
        sets.map(|name| format!("It sets {name}, which programs may read.")),
    ];
    let other = others.into_iter().flatten().next();
    let is_plain =
        outside.is_none() && sets.is_none() && writes_ordinary_files(script, folders, state);
    let exact = |reason: String| match suggest::for_command(command, &script.parts) {
        Ok(rule) => PermissionDecision::Ask {
            reason,
            rule: Some(rule).filter(|_| is_plain),
        },
        Err(why) => PermissionDecision::Ask {
            reason: format!("{reason} No rule is offered: {why}."),
            rule: None,
        },
    };
    match (asked.as_slice(), other) {
        ([], None) => PermissionDecision::Allow,
        ([], Some(reason)) => exact(reason),
        (asked @ [part], None) => {
            let reason = why(asked, script, folders);
            match suggest::for_part(part) {
                rule @ Some(_) => PermissionDecision::Ask { reason, rule },
                None => exact(reason),
            }
        }
        (asked, Some(other)) if !is_plain => {
            exact(format!("{} {other}", why(asked, script, folders)))
        }
        (asked, _) => exact(why(asked, script, folders)),
    }
}

/// Whether every file that a command writes by redirection is an ordinary file of the workspace, so that whoever agrees
/// to the command once may agree to it from now on.
fn writes_ordinary_files(
    script: &ShellScript,
    folders: Option<&[PathBuf]>,
    state: &PermissionState,
) -> bool {
    let is_ordinary = |word: &ShellWord| {
        is_sink(word)
            || word.is_known()
                && !word.tilde
                && !word.glob
                && folders.is_some_and(|folders| {
                    folders.iter().all(|base| {
                        let path = LocatedPath::find(&base.join(&word.text));
                        state.workspace.holds(&path) && state.workspace.delicate(&path).is_none()
                    })
                })
    };
    script.writes.iter().all(is_ordinary)
}

/// Whether this command runs git because its use is read-only.
pub(super) fn looks_with_git(command: &str, from: &Path, state: &PermissionState) -> bool {
    let script = read(command);
    let folders = CommandFolders::of(&script, from, &state.workspace);
    folders.certain().is_some_and(|folders| {
        let mut parts = script.parts.iter();
        parts.any(|part| looks_around(part, folders))
    })
}

/// Why these parts need consent.
fn why(asked: &[&SimpleCommand], script: &ShellScript, folders: Option<&[PathBuf]>) -> String {
    let folders = folders.unwrap_or_default();
    let mut reasons = asked
        .iter()
        .filter_map(|part| why_not(&without_timing(part), folders));
    if let Some(reason) = reasons.next() {
        return reason;
    }
    let parts: Vec<String> = asked.iter().map(|part| part.raw_with_assigns()).collect();
    match (script.parts.len(), parts.as_slice()) {
        (1, _) => "No rule allows this command.".to_owned(),
        (_, [part]) => format!("No rule allows this part of it: {part}."),
        (_, parts) => format!("No rule allows these parts of it: {}.", parts.join("; ")),
    }
}

/// Whether a rule allows a part.
fn allowed(part: &SimpleCommand, state: &PermissionState) -> bool {
    let core = without_timing(part);
    let as_written = part.raw_with_assigns();
    let harmless = part
        .assigns
        .iter()
        .all(|(name, _)| is_harmless_in_env(name));
    // `"git diff" x` is not a call of git: words that contain blanks are matched as they are written.
    let blurred = core
        .words
        .iter()
        .take(3)
        .any(|word| word.text.contains(char::is_whitespace));
    let patterns = state
        .allow()
        .filter(|rule| rule.names_tool("Bash"))
        .filter_map(|rule| match &rule.what {
            RuleSubject::Command(pattern) => Some(pattern),
            _ => None,
        });
    patterns.into_iter().any(|pattern| {
        let plain = || {
            pattern.surely_matches(&core.raw()) || !blurred && pattern.surely_matches(&core.text())
        };
        pattern.surely_matches(&as_written) || harmless && plain()
    })
}

fn may_write(word: &ShellWord, folders: Option<&[PathBuf]>, state: &PermissionState) -> bool {
    let Some(folders) = folders.filter(|_| word.is_known() && !word.tilde && !word.glob) else {
        return false;
    };
    is_sink(word)
        || folders.iter().all(|base| {
            state.may_write_unasked("Write", &LocatedPath::find(&base.join(&word.text)))
        })
}

fn may_read(word: &ShellWord, folders: Option<&[PathBuf]>, state: &PermissionState) -> bool {
    let Some(folders) = folders.filter(|_| word.is_known() && !word.tilde && !word.glob) else {
        return false;
    };
    is_sink(word)
        || folders
            .iter()
            .all(|base| state.may_read_unasked("Read", &LocatedPath::find(&base.join(&word.text))))
}
