//! Reads one JSON file and its fields, and reports where something is wrong. `layer.rs` and `mcp.rs` interpret the
//! fields.

use std::io::{self, Read as _};
use std::path::Path;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};
use serde_json::{Map, Value};

/// The maximum size of a settings file.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// A settings file that was read.
pub(super) struct SettingsDocument<'a> {
    pub(super) path: &'a Path,
    text: String,
    pub(super) fields: Map<String, Value>,
}

/// Reads a file from where it was found, links resolved. Returns none if it does not exist or is damaged; the latter
/// causes a notice that ends with `consequence`.
pub(super) fn read<'a>(
    path: &'a Path,
    real: &Path,
    consequence: &str,
    notices: &mut Vec<String>,
) -> Result<Option<SettingsDocument<'a>>, UnreadableSettings> {
    let mut damaged = |place: String, what: String| {
        notices.push(format!("{}{place}: {what}; {consequence}", path.display()));
        Err(UnreadableSettings)
    };
    let bytes = match bytes_of(real) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) => return damaged(String::new(), format!("cannot be read ({error})")),
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
        Err(error) => {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            return damaged(format!(":{line}"), "is not UTF-8 here".to_owned());
        }
    };
    if text.trim().is_empty() {
        return Ok(None);
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(fields)) => Ok(Some(SettingsDocument { path, text, fields })),
        Ok(_) => damaged(":1:1".to_owned(), "should be an object".to_owned()),
        Err(error) => {
            let place = format!(":{}:{}", error.line().max(1), error.column().max(1));
            damaged(place, "is not valid JSON here, correct it".to_owned())
        }
    }
}

/// A file exists, but its content is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnreadableSettings;

/// The content of a file, by its resolved path: a link that appeared since is not followed. A pipe or a device in the
/// place of a file could make us wait forever.
pub(super) fn bytes_of(real: &Path) -> io::Result<Option<Vec<u8>>> {
    let read = || -> io::Result<Vec<u8>> {
        let file = longhaul::resolved_file::open(real)?;
        if file.metadata()?.len() > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl SettingsDocument<'_> {
    /// The whole content, for readers of other parts.
    pub(super) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// A notice about a key.
    pub(super) fn notice(&self, key: &[&str], what: &str) -> String {
        let line = self
            .line_of(key)
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        format!("{}{line}: {} {what}", self.path.display(), key.join("."))
    }

    /// The text at a key.
    pub(super) fn string(&self, key: &str, notices: &mut Vec<String>) -> Option<String> {
        self.field(key, "a text in quotes", Value::as_str, notices)
            .map(str::to_owned)
    }

    /// The boolean at a key.
    pub(super) fn boolean(&self, key: &str, notices: &mut Vec<String>) -> Option<bool> {
        self.field(key, "true or false", Value::as_bool, notices)
    }

    /// The whole number at a key.
    pub(super) fn count(&self, key: &str, notices: &mut Vec<String>) -> Option<u64> {
        self.field(key, "a whole number", Value::as_u64, notices)
    }

    /// The object at a key.
    pub(super) fn object(
        &self,
        key: &str,
        notices: &mut Vec<String>,
    ) -> Option<&Map<String, Value>> {
        self.field(key, "an object", Value::as_object, notices)
    }

    fn field<'v, T>(
        &'v self,
        key: &str,
        expected: &str,
        read: impl Fn(&'v Value) -> Option<T>,
        notices: &mut Vec<String>,
    ) -> Option<T> {
        let value = self.fields.get(key).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            notices.push(self.notice(
                &[key],
                &format!("should be {expected}; ignored, correct it"),
            ));
        }
        found
    }

    /// The texts of a list at a key of this object, and whether some of its items are not texts.
    pub(super) fn strings(
        &self,
        within: &Map<String, Value>,
        key: &[&str],
        notices: &mut Vec<String>,
    ) -> Result<Vec<String>, UnreadableSettings> {
        let name = key.last().copied().unwrap_or_default();
        let Some(value) = within.get(name).filter(|value| !value.is_null()) else {
            return Ok(Vec::new());
        };
        let texts = value
            .as_array()
            .map(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        match texts.flatten() {
            Some(texts) => Ok(texts.into_iter().map(str::to_owned).collect()),
            None => {
                notices.push(self.notice(
                    key,
                    "should be a list of texts; none of it applies, correct it",
                ));
                Err(UnreadableSettings)
            }
        }
    }

    fn line_of(&self, key: &[&str]) -> Option<usize> {
        let parsed = jsonc_parser::parse_to_ast(
            &self.text,
            &CollectOptions::default(),
            &ParseOptions::default(),
        )
        .ok()?;
        let mut value = parsed.value?;
        let mut at = None;
        for name in key {
            let ast::Value::Object(object) = value else {
                break;
            };
            let Some(property) = object
                .properties
                .into_iter()
                .find(|property| property.name.as_str() == *name)
            else {
                break;
            };
            at = Some(property.range().start);
            value = property.value;
        }
        let before = self.text.get(..at?)?;
        Some(1 + before.matches('\n').count())
    }
}
