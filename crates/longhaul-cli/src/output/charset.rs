//! The characters that the locale can show. Where the environment names none, Unicode is assumed, as terminals show it.

/// The characters that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    Unicode,
    Ascii,
}

/// The characters of the locale that these variables name, in the order in which the C library reads them.
pub(super) fn of_locale(variable: impl Fn(&str) -> Option<String>) -> Charset {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let mut set = names.filter_map(variable).filter(|value| !value.is_empty());
    let is_unicode = set.next().is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    if is_unicode {
        Charset::Unicode
    } else {
        Charset::Ascii
    }
}

/// A text in ASCII. Each character becomes one character, so that columns stay aligned.
pub(super) fn to_ascii(text: &str) -> String {
    text.chars().map(ascii).collect()
}

fn ascii(c: char) -> char {
    match c {
        c if c.is_ascii() => c,
        '·' | '•' | '░' => '.',
        '●' | '✓' | '■' => '*',
        '…' => '~',
        '→' => '>',
        '←' => '<',
        '–' | '—' | '─' | '━' => '-',
        '│' | '┃' => '|',
        '×' => 'x',
        '“' | '”' => '"',
        '‘' | '’' => '\'',
        '▁' => '_',
        '▂' | '▃' => '-',
        '▄' | '▅' => '=',
        '▆' | '▇' => '+',
        '█' | '▓' | '▒' => '#',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let of = |set: &'static [(&str, &str)]| {
            of_locale(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[]), Charset::Unicode);
        assert_eq!(of(&[("LANG", "C.UTF-8")]), Charset::Unicode);
        assert_eq!(
            of(&[("LC_ALL", "C"), ("LANG", "en_US.utf8")]),
            Charset::Ascii
        );
        assert_eq!(
            of(&[("LC_ALL", ""), ("LC_CTYPE", "de_DE.ISO-8859-1")]),
            Charset::Ascii
        );
    }
}
