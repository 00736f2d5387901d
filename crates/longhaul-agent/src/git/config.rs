//! Parses a git configuration file: its keys and values, in order. It is modeled on git's own parser, so that both see
//! the same keys: a key that only git sees could name a program.

/// A setting, such as `core.fsmonitor`: the names are in lower case, the middle part is as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitSetting {
    pub(super) key: String,
    /// None if the key has no value, which means true.
    pub(super) value: Option<String>,
}

/// The text is not a configuration that git accepts, or this is not certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GitConfigError;

/// Parses the settings of a file.
pub(super) fn read(text: &str) -> Result<Vec<GitSetting>, GitConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = GitConfigReader {
        rest: text.chars().peekable(),
        ended: false,
    };
    let mut settings = Vec::new();
    let mut section: Option<String> = None;
    let mut in_comment = false;
    loop {
        let c = reader.next();
        match c {
            '\n' if reader.ended => return Ok(settings),
            '\n' => in_comment = false,
            _ if in_comment => {}
            c if is_space(c) => {}
            '#' | ';' => in_comment = true,
            '[' => section = Some(reader.section()?),
            c if c.is_ascii_alphabetic() => {
                let section = section.as_ref().ok_or(GitConfigError)?;
                settings.push(reader.setting(section, c)?);
            }
            _ => return Err(GitConfigError),
        }
    }
}

struct GitConfigReader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    ended: bool,
}

impl GitConfigReader<'_> {
    /// The next character; the end of the text counts as a line break.
    fn next(&mut self) -> char {
        match self.rest.next() {
            Some('\r') if self.rest.peek() == Some(&'\n') => {
                self.rest.next();
                '\n'
            }
            Some(c) => c,
            None => {
                self.ended = true;
                '\n'
            }
        }
    }

    /// Parses what follows `[`: `core`, `diff "name"` or `diff.name`, up to `]`.
    fn section(&mut self) -> Result<String, GitConfigError> {
        let mut name = String::new();
        loop {
            match self.next() {
                _ if self.ended => return Err(GitConfigError),
                ']' if name.is_empty() => return Err(GitConfigError),
                ']' => return Ok(name),
                c if is_space(c) => {
                    self.subsection(c, &mut name)?;
                    return Ok(name);
                }
                c if is_key(c) || c == '.' => name.push(c.to_ascii_lowercase()),
                _ => return Err(GitConfigError),
            }
        }
    }

    fn subsection(&mut self, mut c: char, name: &mut String) -> Result<(), GitConfigError> {
        while is_space(c) {
            if c == '\n' {
                return Err(GitConfigError);
            }
            c = self.next();
        }
        if c != '"' {
            return Err(GitConfigError);
        }
        name.push('.');
        loop {
            let c = match self.next() {
                '"' => break,
                '\\' => self.next(),
                c => c,
            };
            if c == '\n' {
                return Err(GitConfigError);
            }
            name.push(c);
        }
        match self.next() {
            ']' => Ok(()),
            _ => Err(GitConfigError),
        }
    }

    /// Parses a key that begins with this letter, and its value.
    fn setting(&mut self, section: &str, first: char) -> Result<GitSetting, GitConfigError> {
        let mut key = format!("{section}.{}", first.to_ascii_lowercase());
        let mut c = self.next();
        while !self.ended && is_key(c) {
            key.push(c.to_ascii_lowercase());
            c = self.next();
        }
        while c == ' ' || c == '\t' {
            c = self.next();
        }
        let value = match c {
            '\n' => None,
            '=' => Some(self.value()?),
            _ => return Err(GitConfigError),
        };
        Ok(GitSetting { key, value })
    }

    fn value(&mut self) -> Result<String, GitConfigError> {
        let mut value = String::new();
        let (mut quoted, mut in_comment) = (false, false);
        // Where trailing blanks begin, which are not part of the value.
        let mut blanks_from = None;
        loop {
            let c = self.next();
            if c == '\n' {
                if quoted {
                    return Err(GitConfigError);
                }
                value.truncate(blanks_from.unwrap_or(value.len()));
                return Ok(value);
            }
            if in_comment {
                continue;
            }
            if is_space(c) && !quoted {
                blanks_from = blanks_from.or(Some(value.len()));
                if !value.is_empty() {
                    value.push(c);
                }
                continue;
            }
            if !quoted && matches!(c, '#' | ';') {
                in_comment = true;
                continue;
            }
            blanks_from = None;
            match c {
                '"' => quoted = !quoted,
                '\\' => match self.next() {
                    '\n' if self.ended => return Err(GitConfigError),
                    '\n' => {}
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    'n' => value.push('\n'),
                    c @ ('\\' | '"') => value.push(c),
                    _ => return Err(GitConfigError),
                },
                c => value.push(c),
            }
        }
    }
}

/// Blanks as C's `isspace` defines them in git.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        let settings = read(text).unwrap();
        settings.into_iter().map(|it| it.key).collect()
    }

    #[test]
    fn keys_are_seen_as_git_sees_them() {
        assert_eq!(
            keys("[core] FsMonitor = x\n[diff \"A b\"]\ntextconv=y # z\n"),
            ["core.fsmonitor", "diff.A b.textconv"]
        );
        assert_eq!(keys("[a]b=1\\\nc=2\nd=3"), ["a.b", "a.d"]);
        assert_eq!(keys("[a]b=\"1\\\nc=2\"\r\n\td\r\n"), ["a.b", "a.d"]);
        assert_eq!(
            keys("\u{feff}# [x]\n;y\n[filter.x]clean=cat"),
            ["filter.x.clean"]
        );
        assert_eq!(keys("[a]b=1 ; \\\nc=2"), ["a.b", "a.c"]);
        assert_eq!(keys("[diff \"a\\\"]b\"]command=x"), ["diff.a\"]b.command"]);
    }

    #[test]
    fn values_lose_quotes_comments_and_blanks() {
        let read = |text: &str| read(text).unwrap().remove(0).value.unwrap();
        assert_eq!(read("[a]b= x  y  # z"), "x  y");
        assert_eq!(read("[a]b=\" x#\"'y' ;"), " x#'y'");
        assert_eq!(read("[a]b=\\\\\\\"\\t"), "\\\"\t");
    }

    #[test]
    fn what_git_would_not_take_is_refused() {
        for text in [
            "b=1",
            "[a]b 1",
            "[a",
            "[a \"b]c=1",
            "[a]b=\"1\n",
            "[a]b=\\x",
            "[a]1=2",
            "[]b=1",
        ] {
            assert_eq!(read(text), Err(GitConfigError), "{text}");
        }
    }
}
