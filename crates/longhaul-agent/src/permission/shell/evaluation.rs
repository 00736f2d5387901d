//! What a shell evaluates while it expands words. Arithmetic, subscripts, offsets and indirection run commands that the
//! values of variables contain (`x='a[$(cmd)]'; echo $((x))`), so they are understood only if they contain integers
//! alone. Conditions are in `condition.rs`.

use super::word::begins_expansion;

const ARITHMETIC: &str = "its arithmetic may run commands";
const EXPANSION: &str = "it holds expansions that are not understood";

/// Checks `$((…))` and `$[…]`: only integers, operators and matching parentheses are allowed.
pub(super) fn arithmetic(raw: &str) -> Result<(), &'static str> {
    let double = raw
        .strip_prefix("$((")
        .and_then(|rest| rest.strip_suffix("))"));
    let single = raw
        .strip_prefix("$[")
        .and_then(|rest| rest.strip_suffix(']'));
    let inner = double.or(single).ok_or(ARITHMETIC)?;
    let mut open = 0_usize;
    for character in inner.chars() {
        match character {
            '(' => open += 1,
            // `$((1) | (2))` is not arithmetic but two subshells.
            ')' => open = open.checked_sub(1).ok_or(ARITHMETIC)?,
            '0'..='9'
            | ' '
            | '+'
            | '-'
            | '*'
            | '/'
            | '%'
            | '<'
            | '>'
            | '='
            | '!'
            | '&'
            | '|'
            | '^'
            | '~'
            | '?'
            | ':'
            | ',' => {}
            _ => return Err(ARITHMETIC),
        }
    }
    match open {
        0 => Ok(()),
        _ => Err(ARITHMETIC),
    }
}

/// Checks `name[index]`: the index must be an integer or stand for all elements.
pub(super) fn subscript(raw: &str) -> Result<(), &'static str> {
    let (_, index) = raw.split_once('[').ok_or(ARITHMETIC)?;
    let index = index.strip_suffix(']').ok_or(ARITHMETIC)?;
    if index == "@" || index == "*" || is_integer(index) {
        Ok(())
    } else {
        Err(ARITHMETIC)
    }
}

/// Checks one element of `name=(…)`: none may choose its own index.
pub(super) fn element(raw: &str) -> Result<(), &'static str> {
    if raw.starts_with('[') || raw.contains("]=") || raw.contains("]+=") {
        Err(ARITHMETIC)
    } else {
        Ok(())
    }
}

/// Checks `${…}`. Returns the name of the variable that it would set.
pub(super) fn expansion(raw: &str) -> Result<Option<&str>, &'static str> {
    let inner = raw
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .ok_or(EXPANSION)?;
    if ["@", "*", "#", "?", "$", "!", "-"].contains(&inner) {
        return Ok(None);
    }
    let (length, inner) = match inner.strip_prefix('#') {
        Some(measured) => (true, measured),
        None => (false, inner),
    };
    let (name, after) = parameter(inner)?;
    let after = match after.find(']').filter(|_| after.starts_with('[')) {
        Some(end) => {
            subscript(&after[..=end])?;
            &after[end + 1..]
        }
        None => after,
    };
    if length || after.is_empty() {
        return if after.is_empty() {
            Ok(None)
        } else {
            Err(EXPANSION)
        };
    }
    if let Some(argument) = after.strip_prefix(":=").or(after.strip_prefix('=')) {
        return plain_argument(argument).map(|()| Some(name));
    }
    let mut characters = after.chars();
    match (characters.next(), characters.next()) {
        (Some(':'), Some('-' | '+' | '?'))
        | (Some('-' | '+' | '?' | '#' | '%' | '/' | '^' | ','), _) => {
            plain_argument(after).map(|()| None)
        }
        (Some(':'), _) => offsets(&after[1..]).map(|()| None),
        _ => Err(EXPANSION),
    }
}

/// The name of a variable or the number of an argument, and what follows it.
fn parameter(text: &str) -> Result<(&str, &str), &'static str> {
    let end = text
        .find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
        .unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = !name.starts_with(|first: char| first.is_ascii_digit());
    if !name.is_empty() && (is_number || is_name) {
        Ok((name, after))
    } else {
        Err(EXPANSION)
    }
}

/// Checks offsets: `:0`, `: -3`, `:0:5`.
fn offsets(text: &str) -> Result<(), &'static str> {
    let numbers: Vec<&str> = text.split(':').map(str::trim).collect();
    if numbers.len() <= 2 && numbers.iter().all(|number| is_integer(number)) {
        Ok(())
    } else {
        Err(ARITHMETIC)
    }
}

/// Checks the text after an operator of `${…}`: plain text and variables are allowed. With quotes or braces in it,
/// shells and the grammar may disagree on where it ends.
fn plain_argument(text: &str) -> Result<(), &'static str> {
    if text.contains(['`', '\'', '"', '{', '}', '(', ')', '<', '>', '\n']) {
        return Err(EXPANSION);
    }
    let begins_name =
        |rest: &str| rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if text.split('$').skip(1).all(begins_name) {
        Ok(())
    } else {
        Err(EXPANSION)
    }
}

/// Checks text that the grammar did not parse further: it must not contain an expansion.
pub(super) fn leaf(raw: &str) -> Result<(), &'static str> {
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '`' => return Err(EXPANSION),
            '$' if characters.peek().copied().is_some_and(begins_expansion) => {
                return Err(EXPANSION);
            }
            _ => {}
        }
    }
    Ok(())
}

/// A decimal integer, perhaps with a sign.
pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
