//! Fills a user's arguments into the text of a command or a skill: `$ARGUMENTS`, `$ARGUMENTS[0]`, `$1`.

/// Fills a text. If it has no placeholder, the arguments are added at its end.
pub(super) fn fill(text: &str, arguments: &str) -> String {
    let mut filler = ArgumentFiller::new(text, arguments);
    let mut filled = filler.fill(text);
    filled.extend(filler.unused());
    filled
}

/// Fills the parts of a text one after the other.
pub(super) struct ArgumentFiller<'a> {
    arguments: &'a str,
    words: Vec<String>,
    /// The number of the first argument: a text that uses `$0` counts from zero.
    first: usize,
    is_used: bool,
}

impl<'a> ArgumentFiller<'a> {
    /// Fills parts of this text.
    pub(super) fn new(text: &str, arguments: &'a str) -> Self {
        Self {
            arguments,
            words: words(arguments),
            first: if has_number(text, 0) { 0 } else { 1 },
            is_used: false,
        }
    }

    /// The next part, filled.
    pub(super) fn fill(&mut self, part: &str) -> String {
        let mut filled = String::with_capacity(part.len() + self.arguments.len());
        let mut rest = part;
        while let Some(at) = rest.find('$') {
            let (before, from) = rest.split_at(at);
            filled.push_str(before);
            let word = |index: usize| self.words.get(index).map_or("", String::as_str);
            let (value, length) = match placeholder(from) {
                Some((Placeholder::All, length)) => (Some(self.arguments), length),
                Some((Placeholder::Index(index), length)) => (Some(word(index)), length),
                Some((Placeholder::Number(number), length)) if number >= self.first => {
                    (Some(word(number - self.first)), length)
                }
                _ => (None, 1),
            };
            filled.push_str(value.unwrap_or("$"));
            self.is_used |= value.is_some();
            rest = &from[length..];
        }
        filled.push_str(rest);
        filled
    }

    /// What is added at the end of a text in which no part had a placeholder.
    pub(super) fn unused(self) -> Option<String> {
        let is_lost = !self.is_used && !self.arguments.trim().is_empty();
        is_lost.then(|| format!("\n\nARGUMENTS: {}", self.arguments))
    }
}

enum Placeholder {
    All,
    Index(usize),
    Number(usize),
}

/// The placeholder at the beginning of a text, and its length.
fn placeholder(text: &str) -> Option<(Placeholder, usize)> {
    if let Some(after) = text.strip_prefix("$ARGUMENTS") {
        let index = after
            .strip_prefix('[')
            .and_then(|after| after.split_once(']'))
            .map(|(index, _)| index);
        if let Some((index, number)) = index.and_then(|index| Some((index, index.parse().ok()?))) {
            return Some((
                Placeholder::Index(number),
                "$ARGUMENTS[]".len() + index.len(),
            ));
        }
        let ends = !after.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        return ends.then_some((Placeholder::All, "$ARGUMENTS".len()));
    }
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    // `$100` is money.
    let number = text
        .get(1..1 + digits)
        .filter(|digits| digits.len() == 1)?
        .parse()
        .ok()?;
    Some((Placeholder::Number(number), 1 + digits))
}

fn has_number(text: &str, number: usize) -> bool {
    text.match_indices('$').any(|(at, _)| matches!(placeholder(&text[at..]), Some((Placeholder::Number(found), _)) if found == number))
}

/// The words between blanks; quotes keep blanks together.
pub(crate) fn words(arguments: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in arguments.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}
