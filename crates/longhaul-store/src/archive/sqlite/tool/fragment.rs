//! The texts of the tool, one file each, and the code that fills their gaps.

/// A text with gaps: `{name}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecallFragment(&'static str);

macro_rules! fragments {
    ($($name:ident = $file:literal;)*) => {
        $(pub(super) const $name: RecallFragment = RecallFragment(include_str!(concat!("fragments/", $file)));)*
    };
}

fragments! {
    DESCRIPTION = "description.md";
    SCHEMA = "schema.json";
    USAGE = "usage.md";
    UNKNOWN_ID = "unknown_id.md";
    UNKNOWN_PATH = "unknown_path.md";
    OTHER_PATH = "other_path.md";
    PATH = "path.md";
    NOTHING = "nothing.md";
    NEWEST = "newest.md";
    EMPTY = "empty.md";
    HITS = "hits.md";
    SOME_WORDS = "some_words.md";
    MORE = "more.md";
    WHOLE = "whole.md";
    PART = "part.md";
    END = "end.md";
    UNAVAILABLE = "unavailable.md";
    NOT_AN_OBJECT = "not_an_object.md";
    NOT_A_STRING = "not_a_string.md";
    BAD_OFFSET = "bad_offset.md";
    SEVERAL = "several.md";
    NONE = "none.md";
}

impl RecallFragment {
    /// The text without filling its gaps.
    pub(super) fn text(self) -> &'static str {
        self.0.trim_end()
    }

    /// The text with its gaps filled. Inserted values are not searched for gaps again.
    pub(super) fn with(self, gaps: &[(&str, &str)]) -> String {
        let mut out = String::new();
        let mut rest = self.text();
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            rest = &rest[open..];
            let filled = gaps.iter().find_map(|(name, value)| {
                let behind = rest
                    .strip_prefix('{')?
                    .strip_prefix(name)?
                    .strip_prefix('}')?;
                Some((value, behind))
            });
            match filled {
                Some((value, behind)) => {
                    out.push_str(value);
                    rest = behind;
                }
                None => {
                    out.push('{');
                    rest = &rest[1..];
                }
            }
        }
        out.push_str(rest);
        out
    }
}
