//! What a command must not contain if its parsing is to be trusted: characters that people and shells see differently,
//! and line ends on which shells and the grammar disagree.

/// The maximum length of a command that is parsed.
const LONGEST: usize = 32 * 1024;
const DEEPEST: usize = 64;

/// Whether a command is too large to be parsed at all.
pub(super) fn is_too_large(command: &str) -> bool {
    command.len() > LONGEST || command.matches(['(', '{', '`']).count() > DEEPEST
}

/// Checks whether a command can be parsed reliably; the error says why not.
pub(super) fn check(command: &str) -> Result<(), &'static str> {
    if is_too_large(command) {
        return Err("it is too long or too deeply nested to be read");
    }
    if command.chars().any(is_deceptive) {
        return Err("it holds control or invisible characters");
    }
    let mut before = None;
    let mut characters = command.chars().peekable();
    while let Some(character) = characters.next() {
        let joins_lines = character == '\\' && characters.peek() == Some(&'\n');
        if joins_lines && !matches!(before, None | Some(' ' | '\t')) {
            return Err("a line break inside a word is escaped");
        }
        before = Some(character);
    }
    Ok(())
}

fn is_deceptive(character: char) -> bool {
    match character {
        '\n' | '\t' | ' ' => false,
        _ if character.is_control() || character.is_whitespace() => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' => true,
        '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}
