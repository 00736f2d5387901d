//! Code in replies, colored by its language. Syntect finds the parts of the code; the colors are the terminal's own.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::style::{BAD, GOOD, styled};

/// Longer lines are not colored: nobody writes them, and they take long.
const LONGEST_LINE: usize = 1_000;
/// The time for one block of code; what is left after it is not colored.
const BUDGET: Duration = Duration::from_millis(200);

const KEYWORD: Style = Style::new().fg(Color::Magenta);
const STRING: Style = Style::new().fg(Color::Green);
const CONSTANT: Style = Style::new().fg(Color::Yellow);
const NAME: Style = Style::new().fg(Color::Blue);
const TYPE: Style = Style::new().fg(Color::Cyan);
const COMMENT: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::ITALIC);

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// The style of each kind of code; the first kind that fits counts.
static KINDS: LazyLock<Vec<(Scope, Style)>> = LazyLock::new(|| {
    let kinds = [
        ("comment", COMMENT),
        ("punctuation.definition.comment", COMMENT),
        ("constant.character.escape", CONSTANT),
        ("string", STRING),
        ("punctuation.definition.string", STRING),
        ("constant", CONSTANT),
        ("keyword.operator", Style::new()),
        ("keyword", KEYWORD),
        ("storage", KEYWORD),
        ("variable.language", KEYWORD),
        ("entity.name.tag", KEYWORD),
        ("entity.name.function", NAME),
        ("support.function", NAME),
        ("support.macro", NAME),
        ("variable.function", NAME),
        ("entity.name", TYPE),
        ("entity.other.attribute-name", TYPE),
        ("support.type", TYPE),
        ("support.class", TYPE),
        ("markup.inserted", GOOD),
        ("markup.deleted", BAD),
        ("meta.diff.range", TYPE),
    ];
    let kinds = kinds.into_iter();
    kinds
        .filter_map(|(name, style)| Some((Scope::new(name).ok()?, style)))
        .collect()
});

/// The lines of a block of code. Every character stays; in a language that is not known, nothing is colored.
pub(crate) fn lines(code: &str, language: &str) -> Vec<Vec<Span<'static>>> {
    let mut coloring = syntax(language).map(|syntax| (ParseState::new(syntax), ScopeStack::new()));
    let begun = Instant::now();
    let mut lines = Vec::new();
    for line in code.lines() {
        if line.len() > LONGEST_LINE || begun.elapsed() > BUDGET {
            coloring = None;
        }
        let colored = coloring
            .as_mut()
            .and_then(|(state, stack)| colored(line, state, stack));
        if colored.is_none() {
            coloring = None;
        }
        lines.push(colored.unwrap_or_else(|| vec![Span::raw(line.to_owned())]));
    }
    lines
}

fn colored(
    line: &str,
    state: &mut ParseState,
    stack: &mut ScopeStack,
) -> Option<Vec<Span<'static>>> {
    let whole = format!("{line}\n");
    let changes = state.parse_line(&whole, &SYNTAXES).ok()?;
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut from = 0;
    let mut add = |text: Option<&str>, style: Style| match (
        text.filter(|text| !text.is_empty()),
        spans.last_mut(),
    ) {
        (None, _) => {}
        (Some(text), Some(last)) if last.style == style => last.content.to_mut().push_str(text),
        (Some(text), _) => spans.push(styled(text, style)),
    };
    for (at, change) in &changes {
        let at = (*at).min(line.len());
        add(line.get(from..at), style_of(stack));
        from = from.max(at);
        stack.apply(change).ok()?;
    }
    add(line.get(from..), style_of(stack));
    // A cut within a character would have lost it.
    let kept: usize = spans.iter().map(|span| span.content.len()).sum();
    (kept == line.len()).then_some(spans)
}

fn style_of(stack: &ScopeStack) -> Style {
    let scopes = stack.as_slice().iter().rev();
    let mut styles = scopes.filter_map(|scope| {
        let kind = KINDS.iter().find(|(kind, _)| kind.is_prefix_of(*scope));
        kind.map(|(_, style)| *style)
    });
    styles.next().unwrap_or_default()
}

/// The syntax of a language, by the name that follows the fence. For languages that have none of their own, that of a
/// language whose words are nearly the same.
fn syntax(language: &str) -> Option<&'static SyntaxReference> {
    let language = language.to_lowercase();
    let name = match language.as_str() {
        "" | "text" | "txt" | "plain" | "output" | "console" => return None,
        "ts" | "tsx" | "jsx" | "typescript" | "mjs" => "js",
        "shell" | "zsh" | "shell-session" => "bash",
        "toml" | "ini" | "cfg" | "conf" => "properties",
        "c++" | "hpp" => "cpp",
        "jsonc" | "json5" | "jsonl" => "json",
        name => name,
    };
    SYNTAXES.find_syntax_by_token(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn q2_common_languages_are_known() {
        for language in [
            "rust",
            "rs",
            "python",
            "py",
            "js",
            "ts",
            "typescript",
            "tsx",
            "json",
            "bash",
            "sh",
            "shell",
            "yaml",
            "toml",
            "html",
            "css",
            "sql",
            "c",
            "cpp",
            "go",
            "java",
            "ruby",
            "diff",
            "md",
            "xml",
            "php",
        ] {
            assert!(syntax(language).is_some(), "{language}");
        }
        assert!(syntax("no-such-language").is_none());
    }

    proptest! {
        #[test]
        fn q2_no_character_of_code_is_lost(code in "[a-z \"'/*#{}漢\n]{0,200}", language in "(rust|py|js|html|)") {
            let shown: Vec<String> = lines(&code, &language)
                .iter()
                .map(|spans| spans.iter().map(|span| &*span.content).collect())
                .collect();
            let expected: Vec<&str> = code.lines().collect();
            prop_assert_eq!(shown, expected);
        }
    }
}
