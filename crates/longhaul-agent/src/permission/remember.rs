//! Writes a rule into a settings file, leaving every other byte of it unchanged. The file is replaced as a whole, and
//! no link is followed.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use longhaul::resolved_file;
use serde_json::Value;

use super::rule::PermissionRuleError;
use crate::files::replace;

/// Why a rule was not written.
#[derive(Debug, thiserror::Error)]
pub enum RememberError {
    /// The rule is not valid.
    #[error(transparent)]
    Rule(#[from] PermissionRuleError),
    /// The file is damaged. It was left unchanged.
    #[error("{}:{line}:{column}: is not valid JSON here, so the rule was not added; correct the file and answer again", file.display())]
    Damaged {
        /// The settings file.
        file: PathBuf,
        /// The line of the error, counted from 1.
        line: usize,
        /// The column of the error, counted from 1.
        column: usize,
    },
    /// The file is valid, but cannot hold rules. It was left unchanged.
    #[error("{}: {key} should be {expected}, so the rule was not added; correct the file and answer again", file.display())]
    Shape {
        /// The settings file.
        file: PathBuf,
        /// The key with the wrong type.
        key: &'static str,
        /// The expected type.
        expected: &'static str,
    },
    /// The file or its folder is a link. Nothing was written.
    #[error("{}: the rule was not added, because {} is a symbolic link, and rules are not written through links; put a folder and a file of their own there, or allow it for this session only", file.display(), link.display())]
    Link {
        /// The settings file.
        file: PathBuf,
        /// The link.
        link: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("{}: the rule was not added: {source}; see that the file can be written", file.display())]
    Io {
        /// The settings file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// Appends a rule to `permissions.allow` of a settings file. A rule that exists already is not written again.
pub(super) fn append(file: &Path, rule: &str) -> Result<(), RememberError> {
    let io = |source| RememberError::Io {
        file: file.to_owned(),
        source,
    };
    let real = without_links(file)?;
    let mut text = String::new();
    let read = resolved_file::open(&real).and_then(|mut it| it.read_to_string(&mut text));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(io(error)),
    }
    let Some(changed) = with_rule(file, &text, rule)? else {
        return Ok(());
    };
    let replaced = replace(&real, changed.as_bytes());
    replaced.map_err(|unfit| io(io::Error::other(unfit.to_string().trim_end_matches('.'))))?;
    Ok(())
}

/// The location of the file, in a folder of the project's own. The author of the project may have replaced the file or
/// its folder with a link, and a rule written through that would apply somewhere else, or destroy something else.
fn without_links(file: &Path) -> Result<PathBuf, RememberError> {
    let folder = file.parent().unwrap_or(file);
    for part in [folder, file] {
        if fs::symlink_metadata(part).is_ok_and(|about| about.is_symlink()) {
            return Err(RememberError::Link {
                file: file.to_owned(),
                link: part.to_owned(),
            });
        }
    }
    let project = folder.parent().unwrap_or(folder);
    let project = longhaul_store::real_path(project).map_err(|source| RememberError::Io {
        file: file.to_owned(),
        source,
    })?;
    let below = [folder.file_name(), file.file_name()];
    Ok(project.join(below.into_iter().flatten().collect::<PathBuf>()))
}

fn with_rule(file: &Path, text: &str, rule: &str) -> Result<Option<String>, RememberError> {
    let shape = |key, expected| RememberError::Shape {
        file: file.to_owned(),
        key,
        expected,
    };
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if body.trim().is_empty() {
        let settings = serde_json::json!({ "permissions": { "allow": [rule] } });
        return Ok(Some(format!("{settings:#}\n")));
    }
    let before: Value = serde_json::from_str(body).map_err(|error| RememberError::Damaged {
        file: file.to_owned(),
        line: error.line().max(1),
        column: error.column().max(1),
    })?;
    let damaged = || RememberError::Damaged {
        file: file.to_owned(),
        line: 1,
        column: 1,
    };
    let root = CstRootNode::parse(body, &ParseOptions::default()).map_err(|_| damaged())?;
    let settings = root
        .object_value()
        .ok_or_else(|| shape("the file", "an object"))?;
    let permissions = (settings.object_value_or_create("permissions"))
        .ok_or_else(|| shape("permissions", "an object"))?;
    let allow = (permissions.array_value_or_create("allow"))
        .ok_or_else(|| shape("permissions.allow", "a list"))?;
    let there = &before["permissions"]["allow"];
    if there
        .as_array()
        .is_some_and(|rules| rules.iter().any(|other| other == rule))
    {
        return Ok(None);
    }
    allow.append(CstInputValue::String(rule.to_owned()));
    let mark = &text[..text.len() - body.len()];
    let changed = format!("{mark}{root}");
    // A text editor is trusted only as far as its result can be checked.
    let after: Option<Value> = serde_json::from_str(&changed[mark.len()..]).ok();
    if after != Some(expected(before, rule)) {
        return Err(damaged());
    }
    Ok(Some(changed))
}

fn expected(mut settings: Value, rule: &str) -> Value {
    let rules = &mut settings["permissions"]["allow"];
    match rules {
        Value::Array(rules) => rules.push(Value::from(rule)),
        _ => *rules = Value::Array(vec![Value::from(rule)]),
    }
    settings
}
