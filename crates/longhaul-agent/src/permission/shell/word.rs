//! One word of a command: as it is written, and as the shell would pass it on, as far as that is known.

use tree_sitter::Node;

/// Marks the places in a word's text whose content only the shell knows. No command can contain this character.
pub(crate) const HOLE: char = '\0';

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellWord {
    /// The word as it is written.
    pub(crate) raw: String,
    /// The word without quotes and escapes, with [`HOLE`] for the unknown parts.
    pub(crate) text: String,
    /// Whether it begins with a `~` that the shell would expand.
    pub(crate) tilde: bool,
    /// Whether it contains a wildcard that the shell would expand.
    pub(crate) glob: bool,
    /// The text as a pattern of file names: every quoted `*`, `?`, `[`, `]` and `\` has a backslash before it.
    pub(crate) pattern: String,
    /// Whether it contains an expansion outside of quotes: it may become several words, or none.
    pub(crate) splits: bool,
}

impl ShellWord {
    /// A word that stands for anything.
    pub(crate) fn anything() -> Self {
        Self {
            raw: HOLE.to_string(),
            text: HOLE.to_string(),
            pattern: HOLE.to_string(),
            splits: true,
            ..Self::default()
        }
    }

    /// A word with this text, as if all of it were quoted.
    pub(crate) fn plain(text: &str) -> Self {
        let mut word = Self {
            raw: text.to_owned(),
            ..Self::default()
        };
        text.chars().for_each(|character| word.literal(character));
        word
    }

    /// Whether all of it is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.text.contains(HOLE)
    }

    /// Parses a node of the grammar. An error says why the word cannot be trusted.
    pub(super) fn read(node: Node<'_>, source: &str) -> Result<Self, &'static str> {
        let raw = &source[node.byte_range()];
        let mut word = Self {
            raw: raw.to_owned(),
            ..Self::default()
        };
        let mut braces = Braces::None;
        word.add(node, source, &mut braces)?;
        word.tilde = raw.starts_with('~');
        // The grammar recognizes only some of the braces that a shell would expand: `{a,b}`, `{1..3}`. `{}` is left
        // alone.
        if braces == Braces::Open && (raw.contains(',') || raw.contains("..")) {
            word.text = HOLE.to_string();
            word.pattern = HOLE.to_string();
            word.splits = true;
        }
        Ok(word)
    }

    fn add(
        &mut self,
        node: Node<'_>,
        source: &str,
        braces: &mut Braces,
    ) -> Result<(), &'static str> {
        let raw = &source[node.byte_range()];
        match node.kind() {
            "word"
            | "number"
            | "variable_name"
            | "special_variable_name"
            | "extglob_pattern"
            | "test_operator"
            | "regex" => self.add_unquoted(raw, braces),
            "raw_string" => {
                let quoted = raw.get(1..raw.len().saturating_sub(1));
                let characters = quoted.unwrap_or_default().chars();
                characters.for_each(|character| self.literal(character));
                Ok(())
            }
            "string" => self.add_quoted(node, source),
            "concatenation" | "command_name" => {
                let mut cursor = node.walk();
                let mut at = node.start_byte();
                for child in node.children(&mut cursor) {
                    let between = &source[at..child.start_byte()];
                    self.add_unquoted(between, braces)?;
                    self.add(child, source, braces)?;
                    at = child.end_byte();
                }
                self.add_unquoted(&source[at..node.end_byte()], braces)
            }
            "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "arithmetic_expansion"
            | "process_substitution"
            | "brace_expression" => {
                self.hole();
                self.splits = true;
                Ok(())
            }
            "ansi_c_string" | "translated_string" | "array" => {
                self.hole();
                Ok(())
            }
            // Punctuation that the grammar keeps as separate tokens, including a lone `$`.
            _ if !node.is_named() => self.add_unquoted(raw, braces),
            _ => Err("it holds words that are not understood"),
        }
    }

    fn hole(&mut self) {
        self.text.push(HOLE);
        self.pattern.push(HOLE);
    }

    /// Adds a character that stands for itself.
    fn literal(&mut self, character: char) {
        self.text.push(character);
        if "*?[]\\".contains(character) {
            self.pattern.push('\\');
        }
        self.pattern.push(character);
    }

    fn add_unquoted(&mut self, raw: &str, braces: &mut Braces) -> Result<(), &'static str> {
        let mut characters = raw.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some('\n') | None => {}
                    Some(escaped) => self.literal(escaped),
                },
                '`' | '\'' | '"' => return Err("its quotes do not pair"),
                // None of these can be in a word unless it is quoted: the grammar has made a mistake.
                '\n' | '\t' | ' ' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => {
                    return Err("its syntax is not understood");
                }
                '$' if characters.clone().next().is_some_and(begins_expansion) => {
                    return Err("it holds expansions that are not understood");
                }
                '*' | '?' | '[' => {
                    self.glob = true;
                    self.text.push(character);
                    self.pattern.push(character);
                }
                '{' => {
                    *braces = Braces::Open;
                    self.literal(character);
                }
                ']' => {
                    self.text.push(character);
                    self.pattern.push(character);
                }
                _ => self.literal(character),
            }
        }
        Ok(())
    }

    /// Adds the content of double quotes.
    fn add_quoted(&mut self, node: Node<'_>, source: &str) -> Result<(), &'static str> {
        let mut at = node.start_byte() + 1;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if child.kind() == "string_content" {
                continue;
            }
            self.add_quoted_text(source.get(at..child.start_byte()).unwrap_or_default())?;
            self.hole();
            // `"$@"` and `"${all[@]}"` become as many words as there are values, quotes or not.
            self.splits |= source[child.byte_range()].contains('@');
            at = child.end_byte();
        }
        self.add_quoted_text(source.get(at..node.end_byte() - 1).unwrap_or_default())
    }

    fn add_quoted_text(&mut self, raw: &str) -> Result<(), &'static str> {
        let mut characters = raw.chars();
        while let Some(character) = characters.next() {
            match (character, characters.clone().next()) {
                ('\\', Some(escaped @ ('"' | '\\' | '$' | '`'))) => {
                    self.literal(escaped);
                    characters.next();
                }
                ('\\', Some('\n')) => {
                    characters.next();
                }
                ('`' | '"', _) => return Err("its quotes do not pair"),
                ('$', Some(next)) if begins_expansion(next) => {
                    return Err("it holds expansions that are not understood");
                }
                _ => self.literal(character),
            }
        }
        Ok(())
    }
}

/// Whether a word contains a brace outside of quotes.
#[derive(PartialEq, Eq)]
enum Braces {
    None,
    Open,
}

pub(super) fn begins_expansion(next: char) -> bool {
    next.is_ascii_alphanumeric() || "({[_@*#?-$!'\"".contains(next)
}
