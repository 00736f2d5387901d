//! Made-up text: prose, source code, terminal output, paths.
//!
//! The texture matters, not the meaning: short lines, many line breaks, quotes and tabs (so that there is an escape
//! every few dozen bytes), and now and then characters outside ASCII, of two, three and four bytes.

mod vocabulary;

use crate::rng::Rng;
use vocabulary::{ACCENTS, ADJECTIVES, GLUE, NOUNS, VERBS};

/// Whether text may contain characters outside ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Letters {
    /// Only ASCII.
    Ascii,
    /// Now and then characters of other scripts and emoji.
    Any,
}

/// A noun, used as a name.
pub(crate) fn noun(rng: &mut Rng) -> &'static str {
    rng.pick(NOUNS)
}

/// A name that looks like a function's.
pub(crate) fn name(rng: &mut Rng) -> String {
    format!("{}_{}", rng.pick(VERBS), rng.pick(NOUNS))
}

/// A name that looks like a type's.
pub(crate) fn type_name(rng: &mut Rng) -> String {
    let mut out = String::new();
    for word in [rng.pick(ADJECTIVES), rng.pick(NOUNS)] {
        out.push_str(&word[..1].to_ascii_uppercase());
        out.push_str(&word[1..]);
    }
    out
}

/// One sentence.
pub(crate) fn sentence(rng: &mut Rng, letters: Letters) -> String {
    let mut out = match rng.below(4) {
        0 => format!(
            "The {} {} should {}",
            rng.pick(ADJECTIVES),
            rng.pick(NOUNS),
            rng.pick(VERBS)
        ),
        1 => format!(
            "We {} the {} {}",
            rng.pick(VERBS),
            rng.pick(ADJECTIVES),
            rng.pick(NOUNS)
        ),
        2 => format!("`{}` does not {}", name(rng), rng.pick(VERBS)),
        _ => format!("I will {} the {}", rng.pick(VERBS), rng.pick(NOUNS)),
    };
    for _ in 0..rng.below(4) {
        out.push_str(&format!(
            " {} the {} {}",
            rng.pick(GLUE),
            rng.pick(ADJECTIVES),
            rng.pick(NOUNS)
        ));
    }
    if letters == Letters::Any && rng.percent(12) {
        out.push(' ');
        out.push_str(rng.pick(ACCENTS));
    }
    if rng.percent(12) {
        out.push_str(&format!(" (see \"{}\")", rng.pick(NOUNS)));
    }
    out.push('.');
    out
}

/// Several sentences, in paragraphs and now and then a list.
pub(crate) fn prose(rng: &mut Rng, sentences: usize, letters: Letters) -> String {
    let mut out = String::new();
    for at in 0..sentences {
        if at > 0 {
            out.push_str(match rng.below(8) {
                0 => "\n\n",
                1 => "\n- ",
                _ => " ",
            });
        }
        out.push_str(&sentence(rng, letters));
    }
    out
}

/// Source code of about `lines` lines, without a final line break.
pub(crate) fn code(rng: &mut Rng, lines: usize, letters: Letters) -> String {
    let mut out = String::with_capacity(lines * 36);
    let mut depth = 0usize;
    let tab = if rng.percent(40) { "\t" } else { "    " };
    for at in 0..lines {
        if at > 0 {
            out.push('\n');
        }
        if depth > 0 && rng.percent(18) {
            depth -= 1;
            out.push_str(&tab.repeat(depth));
            out.push('}');
            continue;
        }
        if rng.percent(10) {
            continue;
        }
        out.push_str(&tab.repeat(depth));
        code_line(rng, &mut out, &mut depth, letters);
    }
    out
}

fn code_line(rng: &mut Rng, out: &mut String, depth: &mut usize, letters: Letters) {
    match rng.below(12) {
        0 | 1 if *depth < 5 => {
            out.push_str(&format!("if {}.{}() {{", rng.pick(NOUNS), rng.pick(VERBS)));
            *depth += 1;
        }
        2 if *depth < 4 => {
            out.push_str(&format!(
                "pub fn {}({}: &{}) -> Result<{}, Error> {{",
                name(rng),
                noun(rng),
                type_name(rng),
                type_name(rng)
            ));
            *depth += 1;
        }
        3 => out.push_str(&format!(
            "log(\"{} {}: {{}}\", {});",
            rng.pick(VERBS),
            rng.pick(NOUNS),
            noun(rng)
        )),
        4 => out.push_str(&format!(
            "\"{}\": \"{}/{}\",",
            noun(rng),
            noun(rng),
            rng.below(900)
        )),
        5 => {
            out.push_str("// ");
            out.push_str(&sentence(rng, letters));
        }
        6 => out.push_str(&format!(
            "return Err(Error::new(\"{} {}\"));",
            rng.pick(ADJECTIVES),
            noun(rng)
        )),
        7 => out.push_str(&format!("{}.push({});", noun(rng), rng.below(10_000))),
        8 => out.push_str(&format!(
            "assert_eq!({}({}), \"{}\");",
            name(rng),
            rng.below(100),
            noun(rng)
        )),
        _ => out.push_str(&format!(
            "let {} = {}.{}(&{})?;",
            noun(rng),
            noun(rng),
            name(rng),
            noun(rng)
        )),
    }
}

/// Terminal output of about `lines` lines.
pub(crate) fn log(rng: &mut Rng, lines: usize, letters: Letters) -> String {
    let mut out = String::with_capacity(lines * 48);
    for at in 0..lines {
        if at > 0 {
            out.push('\n');
        }
        match rng.below(7) {
            0 => out.push_str(&format!("test {}::{} ... ok", noun(rng), name(rng))),
            1 => out.push_str(&format!(
                "   Compiling {} v0.{}.{}",
                noun(rng),
                rng.below(30),
                rng.below(9)
            )),
            2 => out.push_str(&format!(
                "{}:{}: warning: unused `{}`",
                path(rng),
                rng.between(1, 600),
                noun(rng)
            )),
            3 => out.push_str(&format!(
                "-rw-r--r--  1 ada  staff  {:>6}  {}",
                rng.below(90_000),
                path(rng)
            )),
            4 => out.push_str(&format!(
                "{{\"{}\": {}, \"{}\": \"{}\"}}",
                noun(rng),
                rng.below(999),
                noun(rng),
                noun(rng)
            )),
            5 => out.push_str(&format!(
                "\u{1b}[32m{}\u{1b}[0m\t{} ms",
                name(rng),
                rng.below(4_000)
            )),
            _ => out.push_str(&sentence(rng, letters)),
        }
    }
    out
}

/// A relative path of a source file. Names repeat; [`crate::session`] numbers them where they must be unique.
pub(crate) fn path(rng: &mut Rng) -> String {
    let ext = rng.pick(&["rs", "rs", "go", "ts", "toml", "md", "json"]);
    format!(
        "{}/{}/{}_{}.{ext}",
        rng.pick(&["src", "cmd", "lib", "tests", "internal"]),
        noun(rng),
        rng.pick(ADJECTIVES),
        noun(rng)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn code_needs_an_escape_every_few_dozen_bytes() {
        let text = code(&mut Rng::new(2), 4_000, Letters::Any);
        let quoted = json::quote(&text);
        let spacing = quoted.len() / quoted.matches('\\').count();
        assert!(
            (15..45).contains(&spacing),
            "an escape every {spacing} bytes"
        );
        assert!(!text.is_ascii());
        assert!(code(&mut Rng::new(2), 4_000, Letters::Ascii).is_ascii());
    }

    #[test]
    fn lines_are_counted_as_asked() {
        for lines in [1, 2, 40] {
            assert_eq!(
                code(&mut Rng::new(9), lines, Letters::Any)
                    .matches('\n')
                    .count()
                    + 1,
                lines
            );
            assert_eq!(
                log(&mut Rng::new(9), lines, Letters::Any)
                    .matches('\n')
                    .count()
                    + 1,
                lines
            );
        }
    }
}
