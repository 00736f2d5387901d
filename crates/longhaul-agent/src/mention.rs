//! How a prompt writes what it mentions: `@path`, or `@"a path"`, `@'a path'` and `@a\ path` where there are spaces in it.
//! `project_setup` follows the mentions, and `screen` completes them.

/// Signs that end a sentence rather than a path.
const AFTER: [char; 9] = [',', '.', ';', ':', '!', '?', ')', '"', '\''];
/// Signs that may stand before the `@`.
const BEFORE: [char; 3] = ['(', '"', '\''];
const QUOTES: [char; 2] = ['"', '\''];
/// What stands for a space outside of quotes. Other backslashes are parts of names.
const ESCAPED_SPACE: &str = "\\ ";

/// What a prompt mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// The name, without the sign, quotes and backslashes.
    pub(crate) name: String,
    /// Whether the name was marked as one.
    pub(crate) style: MentionStyle,
}

/// How a mention is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MentionStyle {
    /// As a word, which could also be a handle or a decorator.
    Word,
    /// With quotes or with backslashes before spaces: nothing but a name is written like this.
    Marked,
}

impl Mention {
    /// The mentions in a text, each once.
    pub(crate) fn all(text: &str) -> Vec<Self> {
        let mut mentions: Vec<Self> = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let word = rest.trim_start_matches(BEFORE);
            rest = match word.strip_prefix('@') {
                Some(name) => {
                    let (mention, rest) = Self::first(name);
                    let is_new = mentions.iter().all(|known| known.name != mention.name);
                    if is_new && !mention.name.is_empty() {
                        mentions.push(mention);
                    }
                    rest
                }
                None => &word[word.find(char::is_whitespace).unwrap_or(word.len())..],
            };
            rest = rest.trim_start();
        }
        mentions
    }

    /// The mention after an `@`, and what follows it.
    fn first(text: &str) -> (Self, &str) {
        if let Some((name, rest)) = quoted(text) {
            let mention = Self {
                name: name.to_owned(),
                style: MentionStyle::Marked,
            };
            return (mention, rest);
        }
        let mut ends = text.match_indices(char::is_whitespace);
        let end = ends.find(|(at, space)| *space != " " || !text[..*at].ends_with('\\'));
        let (word, rest) = text.split_at(end.map_or(text.len(), |(at, _)| at));
        let name = without_end(word);
        let style = if name.contains(ESCAPED_SPACE) {
            MentionStyle::Marked
        } else {
            MentionStyle::Word
        };
        let name = name.replace(ESCAPED_SPACE, " ");
        (Self { name, style }, rest)
    }

    /// How a path is written so that it is read as one; `None` if it has both kinds of quotes in it and needs some.
    pub(crate) fn written(path: &str) -> Option<String> {
        let needs_quotes =
            path.contains(char::is_whitespace) || path.starts_with(QUOTES) || path.ends_with(AFTER);
        if !needs_quotes {
            return Some(format!("@{path}"));
        }
        let quote = QUOTES.into_iter().find(|quote| !path.contains(*quote))?;
        Some(format!("@{quote}{path}{quote}"))
    }

    /// The name that is being written, from the part after the `@`.
    pub(crate) fn begun(part: &str) -> String {
        let name = part.strip_prefix(QUOTES).unwrap_or(part);
        name.replace(ESCAPED_SPACE, " ")
    }

    /// Where the mention begins that the end of a text is still a part of, if it has spaces in it.
    pub(crate) fn open_at(text: &str) -> Option<usize> {
        let line = text.rfind('\n').map_or(0, |at| at + 1);
        let mut signs = text[line..].match_indices('@').map(|(at, _)| line + at);
        signs.find(|at| {
            let before = text[..*at].trim_end_matches(BEFORE);
            let begins = before.is_empty() || before.ends_with(char::is_whitespace);
            begins && is_open(&text[at + 1..])
        })
    }
}

/// The name in quotes at the beginning of a text, and what follows it. In `the '@' sign isn't`, nothing is quoted.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|sign| QUOTES.contains(sign))?;
    let (name, rest) = text[1..].split_once(quote)?;
    let is_name = !name.is_empty() && !name.contains('\n') && name.trim() == name;
    let ends = rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with(AFTER);
    (is_name && ends).then_some((name, rest))
}

/// Whether the name at the beginning of a text goes on to its end.
fn is_open(text: &str) -> bool {
    match text.strip_prefix(QUOTES) {
        Some(name) => !name.starts_with(char::is_whitespace) && !name.contains(QUOTES),
        None => !text
            .replace(ESCAPED_SPACE, "")
            .contains(char::is_whitespace),
    }
}

/// A word without the signs that end a sentence. The dots of `.` and `..` are names of folders.
fn without_end(word: &str) -> &str {
    let path = word.trim_end_matches(|sign| sign != '.' && AFTER.contains(&sign));
    match path.rsplit('/').next() {
        Some("..") => path,
        Some(".") if path == "." => path,
        _ => word.trim_end_matches(AFTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        Mention::all(text)
            .into_iter()
            .map(|found| found.name)
            .collect()
    }

    #[test]
    fn words_with_an_at_sign_are_mentions() {
        let text = "Compare @src/a.rs with (@b.txt), ask me@home.org; again @src/a.rs.";
        assert_eq!(names(text), ["src/a.rs", "b.txt"]);
        assert_eq!(names("see @docs:file:///a.txt."), ["docs:file:///a.txt"]);
        assert_eq!(names("list @. and @src/.., or @..."), [".", "src/.."]);
    }

    #[test]
    fn names_with_spaces_are_quoted_or_have_backslashes() {
        let text =
            r#"Compare @"my file.txt", (@'b c') and @d\ e.txt; not "@" or "x", nor '@' and isn't"#;
        assert_eq!(names(text), ["my file.txt", "b c", "d e.txt"]);
        assert_eq!(names("@\"not closed"), ["\"not"]);
        for path in ["a.txt", "my file.txt", "it's here", "what?", "'x"] {
            let written = Mention::written(path).unwrap();
            assert_eq!(names(&format!("See {written}.")), [path], "{written}");
        }
        assert_eq!(Mention::written("\"it's mine\""), None);
    }

    #[test]
    fn a_name_that_is_not_complete_is_still_one_word() {
        for (text, part) in [
            ("see @my", "@my"),
            ("see @\"my fi", "@\"my fi"),
            ("see (@'my fi", "@'my fi"),
            (r"@a and @my\ fi", r"@my\ fi"),
        ] {
            assert_eq!(&text[Mention::open_at(text).unwrap()..], part);
        }
        for text in ["me@home", "see @a b", "@\"my file\" an", "the '@' sign"] {
            assert_eq!(Mention::open_at(text), None, "{text}");
        }
        assert_eq!(Mention::begun(r"my\ fi"), "my fi");
        assert_eq!(Mention::begun("\"my fi"), "my fi");
    }
}
