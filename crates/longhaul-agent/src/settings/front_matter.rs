//! The front matter of a skill, a command or an agent: YAML between two lines of `---`, then a body.

use std::path::Path;

use serde_json::{Map, Value};

use super::reader::bytes_of;

/// A file with front matter.
#[derive(Debug, Clone, Default)]
pub(super) struct FrontMatterFile {
    pub(super) fields: Map<String, Value>,
    pub(super) body: String,
}

/// Reads a file from where it was found, links resolved. If it cannot be used, adds a notice and returns none.
pub(super) fn read(path: &Path, real: &Path, notices: &mut Vec<String>) -> Option<FrontMatterFile> {
    match text_of(real).and_then(|text| parse(&text)) {
        Ok(headed) => Some(headed),
        Err(why) => {
            notices.push(format!(
                "{}{why}; it is not used until it is corrected",
                path.display()
            ));
            None
        }
    }
}

/// The text of a file by its resolved path, or what is wrong with it.
pub(super) fn text_of(real: &Path) -> Result<String, String> {
    let bytes = bytes_of(real).map_err(|error| format!(": cannot be read ({error})"))?;
    let text = String::from_utf8(bytes.ok_or(": is not there")?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        format!(
            ":{}: is not UTF-8 here",
            1 + before.iter().filter(|byte| **byte == b'\n').count()
        )
    })?;
    Ok(text.trim_start_matches('\u{feff}').replace("\r\n", "\n"))
}

/// Splits a text and parses its front matter. A text without front matter is all body.
pub(super) fn parse(text: &str) -> Result<FrontMatterFile, String> {
    let Some(rest) = text.strip_prefix("---\n") else {
        return Ok(FrontMatterFile {
            fields: Map::new(),
            body: text.to_owned(),
        });
    };
    let mut at = 0;
    let mut split = None;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            split = Some((&rest[..at], &rest[at + line.len()..]));
            break;
        }
        at += line.len();
    }
    let (head, body) = split.ok_or(":1: has front matter (`---`) that does not end")?;
    Ok(FrontMatterFile {
        fields: fields(head)?,
        body: body.to_owned(),
    })
}

fn fields(head: &str) -> Result<Map<String, Value>, String> {
    if head.trim().is_empty() {
        return Ok(Map::new());
    }
    let error = match serde_saphyr::from_str::<Value>(head) {
        Ok(Value::Object(fields)) => return Ok(fields),
        Ok(_) => return Err(":2: has front matter that should be `name: value` lines".to_owned()),
        Err(error) => error,
    };
    // Many files are written by people who do not know YAML: `description: Use this: it works`.
    if let Ok(Value::Object(fields)) = serde_saphyr::from_str::<Value>(&quoted(head)) {
        return Ok(fields);
    }
    // The front matter begins in the second line of its file.
    let line = error.location().map_or(2, |location| location.line() + 1);
    Err(format!(
        ":{line}: has front matter that is not valid YAML here"
    ))
}

/// The front matter with each plain value of a top-level line in quotes.
fn quoted(head: &str) -> String {
    let mut quoted = String::with_capacity(head.len() + 32);
    for line in head.split_inclusive('\n') {
        let value = line
            .split_once(": ")
            .map(|(name, value)| (name, value.trim()));
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        match value {
            Some((name, value))
                if is_name(name)
                    && !value.is_empty()
                    && !value.starts_with(['"', '\'', '[', '{', '|', '>', '#']) =>
            {
                quoted.push_str(&format!("{name}: {}\n", Value::from(value)));
            }
            _ => quoted.push_str(line),
        }
    }
    quoted
}

impl FrontMatterFile {
    /// A text; numbers and booleans are taken as they are written.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        match self.fields.get(key)? {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            _ => None,
        }
    }

    /// A boolean, or the default if it is missing.
    pub(super) fn flag(&self, key: &str, default: bool) -> bool {
        match self.fields.get(key) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => {
                text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("yes")
            }
            _ => default,
        }
    }

    /// A list of tools: a YAML list, or a text separated by commas or blanks. `None` if it is missing.
    pub(super) fn tools(&self, key: &str) -> Option<Vec<String>> {
        match self.fields.get(key)? {
            Value::Array(list) => Some(
                list.iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            ),
            Value::String(text) => Some(split_tools(text)),
            _ => None,
        }
    }
}

fn split_tools(text: &str) -> Vec<String> {
    let mut tools = vec![String::new()];
    let mut depth = 0_u32;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ' ' | '\t' | '\n' if depth == 0 => {
                tools.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(tool) = tools.last_mut() {
            tool.push(character);
        }
    }
    tools.retain(|tool| !tool.is_empty());
    tools
}
