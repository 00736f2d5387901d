//! `${VAR}` and `${VAR:-default}` in the settings of servers.

use std::collections::BTreeMap;

/// Fills in what the project itself has set, and leaves the user's own variables as they are written: the user is shown
/// this, and an answer is remembered for it.
pub(super) fn settle(text: &str, set: &BTreeMap<String, String>) -> String {
    let mut settled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.find("${").map(|at| rest.split_at(at)) {
        settled.push_str(before);
        let Some((inner, after)) = from[2..].split_once('}') else {
            settled.push_str(from);
            return settled;
        };
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let value = set.get(name);
        match value.filter(|value| default.is_none() || !value.is_empty()) {
            Some(value) => settled.push_str(value),
            None => settled.push_str(&from[..inner.len() + 3]),
        }
        rest = after;
    }
    settled.push_str(rest);
    settled
}

/// Fills in all variables. An error names a variable that is not set and has no default.
pub(super) fn expand(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        let Some((inner, after)) = from[2..].split_once('}') else {
            filled.push_str(from);
            return Ok(filled);
        };
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let value = lookup(name).filter(|value| default.is_none() || !value.is_empty());
        match value.or_else(|| default.map(str::to_owned)) {
            Some(value) => filled.push_str(&value),
            None => return Err(name.to_owned()),
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}
