//! What the terminal can do, determined from the environment alone.

use std::io::IsTerminal as _;

use super::system::draws;

/// How output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisplaySettings {
    /// Whether there is a live region or only lines.
    pub manner: DisplayMode,
    /// Whether there are colors.
    pub color: ColorSupport,
    /// Which characters are shown.
    pub charset: Charset,
}

/// Whether there is a live region or only lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayMode {
    /// A live region: the terminal can move its cursor.
    Full,
    /// Only lines, for a dumb terminal or a pipe: nothing is ever drawn twice.
    Lines,
}

/// Whether there are colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorSupport {
    /// There are colors.
    On,
    /// There are no colors: `NO_COLOR` is set, or the terminal has none.
    Off,
}

/// Which characters are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// All characters.
    Utf8,
    /// Only ASCII; every other character has a replacement.
    Ascii,
}

/// Whether stdin and stdout are terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StdioKind {
    Terminal,
    Elsewhere,
}

impl DisplaySettings {
    /// The capabilities of this process's terminal; `var` reads the environment.
    pub(crate) fn detect(var: &impl Fn(&str) -> Option<String>) -> Self {
        if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
            Self::of(StdioKind::Terminal, var)
        } else {
            Self::of(StdioKind::Elsewhere, var)
        }
    }

    fn of(ends: StdioKind, var: &impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let is_dumb = term == "dumb" || !draws(&term);
        let manner = match ends {
            StdioKind::Terminal if !is_dumb => DisplayMode::Full,
            _ => DisplayMode::Lines,
        };
        let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let color = match (set("NO_COLOR"), manner) {
            (Some(_), _) => ColorSupport::Off,
            (None, DisplayMode::Full) => ColorSupport::On,
            (None, DisplayMode::Lines) if forced && !is_dumb => ColorSupport::On,
            (None, DisplayMode::Lines) => ColorSupport::Off,
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let charset = match locale.map(|locale| locale.to_ascii_lowercase()) {
            Some(locale) if !(locale.contains("utf-8") || locale.contains("utf8")) => {
                Charset::Ascii
            }
            _ => Charset::Utf8,
        };
        Self {
            manner,
            color,
            charset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ends: StdioKind, set: &[(&str, &str)]) -> (DisplayMode, ColorSupport, Charset) {
        let display = DisplaySettings::of(ends, &|name: &str| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        (display.manner, display.color, display.charset)
    }

    #[test]
    fn q2_the_environment_says_what_the_terminal_can_do() {
        use StdioKind::{Elsewhere, Terminal};
        let xterm = ("TERM", "xterm");
        assert_eq!(
            of(Terminal, &[xterm]),
            (DisplayMode::Full, ColorSupport::On, Charset::Utf8)
        );
        assert_eq!(
            of(
                Terminal,
                &[xterm, ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]
            )
            .1,
            ColorSupport::Off
        );
        assert_eq!(of(Terminal, &[("TERM", "dumb")]).0, DisplayMode::Lines);
        assert_eq!(
            of(Elsewhere, &[xterm]),
            (DisplayMode::Lines, ColorSupport::Off, Charset::Utf8)
        );
        assert_eq!(
            of(Elsewhere, &[xterm, ("CLICOLOR_FORCE", "1")]).1,
            ColorSupport::On
        );
        assert_eq!(of(Terminal, &[xterm, ("LANG", "C")]).2, Charset::Ascii);
        let both = [xterm, ("LANG", "C"), ("LC_ALL", "en_US.UTF-8")];
        assert_eq!(of(Terminal, &both).2, Charset::Utf8);
        assert_eq!(
            of(Terminal, &[xterm, ("LANG", "de_DE.ISO-8859-1")]).2,
            Charset::Ascii
        );
    }
}
