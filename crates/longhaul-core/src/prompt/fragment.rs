//! Texts with placeholders for values: `{like_this}`.
//!
//! A line with a placeholder that has no value is left out, so one file works with any set of values. Values are
//! inserted unchanged and never searched for further placeholders.

use std::borrow::Cow;
use std::path::Path;

/// A text whose placeholders are filled.
pub(super) struct FilledFragment {
    /// The text, without white space at its end.
    pub(super) text: String,
    /// The number of placeholders that got a value.
    pub(super) places: usize,
}

impl FilledFragment {
    /// Returns the text, if any placeholder got a value.
    pub(super) fn if_any(self) -> Option<String> {
        (self.places > 0).then_some(self.text)
    }
}

/// Fills the placeholders of a fragment.
pub(super) fn fill<'v>(
    fragment: &str,
    value: impl Fn(&str) -> Option<Cow<'v, str>>,
) -> FilledFragment {
    let mut filled = FilledFragment {
        text: String::with_capacity(fragment.len()),
        places: 0,
    };
    for line in fragment.split_inclusive('\n') {
        let (start, places) = (filled.text.len(), filled.places);
        if filled.line(line, &value).is_none() {
            filled.text.truncate(start);
            filled.places = places;
        }
    }
    filled.text.truncate(filled.text.trim_end().len());
    filled
}

impl FilledFragment {
    fn line<'v>(
        &mut self,
        line: &str,
        value: &impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Option<()> {
        let mut rest = line;
        while let Some((before, name, behind)) = next_place(rest) {
            self.text.push_str(before);
            self.text.push_str(&value(name)?);
            self.places += 1;
            rest = behind;
        }
        self.text.push_str(rest);
        Some(())
    }
}

/// Finds the next placeholder in a text: the text before it, its name, and the text after it.
fn next_place(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, behind) = rest.split_once('}')?;
    Some((before, name, behind))
}

/// Returns a value for a placeholder inside a line. Control characters are escaped, so that the name of a folder or
/// branch cannot begin a new line.
pub(super) fn one_line(value: &str) -> Cow<'_, str> {
    if !value.contains(char::is_control) {
        return Cow::Borrowed(value);
    }
    let spelled = value.chars().map(|c| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    });
    Cow::Owned(spelled.collect())
}

/// Returns a path as the model sees it.
pub(super) fn shown_path(path: &Path) -> Cow<'_, str> {
    match path.to_string_lossy() {
        Cow::Borrowed(path) => one_line(path),
        Cow::Owned(path) => one_line(&path).into_owned().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a1_only_control_characters_of_a_value_are_escaped() {
        assert_eq!(one_line("caf\u{e9} \"x\""), "caf\u{e9} \"x\"");
        assert_eq!(one_line("caf\u{e9} \"x\"\n1"), "caf\u{e9} \"x\"\\n1");
    }

    fn values(name: &str) -> Option<Cow<'static, str>> {
        match name {
            "a" => Some("{b}".into()),
            "b" => Some("second".into()),
            _ => None,
        }
    }

    #[test]
    fn values_are_not_looked_into_and_lines_without_one_are_left_out() {
        let filled = fill(
            "# Title\n\n- {a} and {b}\n- {a} {missing}\n- plain\n",
            values,
        );
        assert_eq!(filled.text, "# Title\n\n- {b} and second\n- plain");
        assert_eq!(filled.places, 2);
        assert!(fill("# Title\n- {missing}\n", values).if_any().is_none());
    }

    #[test]
    fn a_name_cannot_begin_a_line_of_its_own() {
        assert_eq!(
            one_line("feat\n# Rules\u{1b}[1m"),
            "feat\\n# Rules\\u{1b}[1m"
        );
        assert!(matches!(one_line("plain ü"), Cow::Borrowed(_)));
    }
}
