//! Finds values in the words of a prompt: numbers, names, places, what is quoted, what the request is about. A value is
//! used once.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::conversation::among;

/// What a field takes, judging by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    Url,
    Mail,
    Date,
    Path,
    /// A city, a country, an address.
    Place,
    /// A place to start from.
    Origin,
    /// A place to go to.
    Destination,
    Language,
    /// The whole request.
    Request,
    /// How the answer is given: units, formats and the like.
    Setting,
    General,
}

impl FieldKind {
    /// The kind of a field with this name, in an object of the kind `around`.
    pub(super) fn of(name: &str, around: Self) -> Self {
        const REQUESTS: &str =
            "query question text prompt message search topic keyword term expression input";
        const SETTINGS: &str = "unit units format mode locale currency timezone zone sort order style limit count verbose";
        const PLACES: &str = "city cities location locations place places town region country countries address state";
        let parts = parts(name);
        let has = |list: &str| parts.iter().any(|part| among(part, list));
        match () {
            () if has("url uri link href") => Self::Url,
            () if has("email mail") => Self::Mail,
            () if has(SETTINGS) => Self::Setting,
            () if has("language lang languages") => Self::Language,
            () if has("date day time datetime") => Self::Date,
            () if has("path file folder filename") => Self::Path,
            () if has("origin departure from source") => Self::Origin,
            () if has("destination arrival to") => Self::Destination,
            () if has(PLACES) => Self::Place,
            () if has(REQUESTS) => Self::Request,
            () => match around {
                Self::Place | Self::Origin | Self::Destination => around,
                _ => Self::General,
            },
        }
    }

    /// Whether the name says which words belong into the field.
    pub(super) fn is_telling(self) -> bool {
        !matches!(
            self,
            Self::Setting | Self::General | Self::Request | Self::Language
        )
    }
}

/// The words before the subject of a request.
const ABOUT: &str = "in of for at about from to on near with via using around into";
/// The words before a place, the clearest first.
const PLACING: &str = "in near around at for of";
/// Words that end the name of a place in lower case.
const AFTER_PLACE: &str = "be is are like right now today tomorrow tonight currently please this next and or but then as \
    by during over within it look feel going";
/// What is no place, though it follows such a word or is capitalized.
const NO_PLACE: &str = "celsius fahrenheit kelvin metric imperial degrees detail details general english french german \
    spanish me us monday tuesday wednesday thursday friday saturday sunday january february march april may june july \
    august september october november december total short i";
/// Values that mean the same unit.
const SAME_UNIT: [&str; 3] = [
    "celsius metric c centigrade",
    "fahrenheit imperial f us",
    "kelvin standard k",
];

/// The values in some words.
pub(super) struct WordedValues<'w> {
    words: &'w str,
    tools: Vec<String>,
    /// The values that are already used.
    used: BTreeSet<String>,
}

impl<'w> WordedValues<'w> {
    /// The values in these words; the names of tools are none.
    pub(super) fn new(words: &'w str, tools: &[&str]) -> Self {
        Self {
            words,
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            used: BTreeSet::new(),
        }
    }

    /// Those of the listed values that the words mention, in the order of the list.
    pub(super) fn listed(&mut self, values: &[Value]) -> Vec<Value> {
        let words = format!(
            " {} ",
            tokens(self.words)
                .collect::<Vec<_>>()
                .join(" ")
                .to_lowercase()
        );
        let says =
            |text: &str| words.contains(&format!(" {} ", text.to_lowercase().replace('_', " ")));
        let is_named = |value: &&Value| {
            let Some(text) = value.as_str() else {
                return false;
            };
            let lower = text.to_lowercase();
            let alike = SAME_UNIT
                .iter()
                .filter(|units| units.split(' ').any(|unit| unit == lower));
            // A single letter may stand for anything.
            let alike = alike
                .flat_map(|units| units.split(' '))
                .filter(|unit| unit.len() > 2);
            text.len() > 1 && says(text) || alike.into_iter().any(says)
        };
        values.iter().filter(is_named).cloned().collect()
    }

    /// The number beside a field's name: `3 days`, `days=3`.
    pub(super) fn number_by(&mut self, name: &str) -> Option<Value> {
        let tokens: Vec<&str> = tokens(self.words).collect();
        let at = named_at(&tokens, name)?;
        let near = [at.checked_sub(1), Some(at + 1), Some(at + 2)];
        let near: Vec<&str> = near
            .iter()
            .flatten()
            .filter_map(|at| tokens.get(*at))
            .copied()
            .collect();
        near.into_iter().find_map(|token| self.take_number(token))
    }

    /// The first number that is not used yet.
    pub(super) fn number(&mut self) -> Option<Value> {
        let tokens: Vec<&str> = tokens(self.words).collect();
        tokens.into_iter().find_map(|token| self.take_number(token))
    }

    /// The text beside a field's name: `city: Paris`, `city "Paris"`, `the city of Paris`.
    pub(super) fn text_by(&mut self, name: &str) -> Option<String> {
        let all: Vec<&str> = tokens(self.words).collect();
        let token = all.get(named_at(&all, name)?)?;
        let begin = self.words.find(token)? + token.len();
        let rest = self.words.get(begin..)?;
        let set = rest.trim_start().starts_with([':', '=', '"', '`', '“']);
        let rest = rest.trim_start_matches([':', '=', ' ']);
        let rest = ["is ", "of ", "set to "]
            .iter()
            .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
        let value = match quoted(rest)
            .next()
            .filter(|_| rest.starts_with(['"', '`', '“']))
        {
            Some(value) => value.to_owned(),
            None => match proper_run(rest) {
                Some(value) => value,
                None if set => tokens(rest).next()?.to_owned(),
                None => return None,
            },
        };
        self.take([value])
    }

    /// The text that fits a field of this kind best.
    pub(super) fn text_of(&mut self, kind: FieldKind) -> Option<String> {
        let pieces = |is_it: &dyn Fn(&str) -> bool| {
            let pieces = self.words.split_whitespace().map(bare);
            let found = pieces.filter(|piece| is_it(piece));
            found.map(str::to_owned).collect::<Vec<String>>()
        };
        let found = match kind {
            FieldKind::Url => pieces(&|token| token.contains("://")),
            FieldKind::Mail => pieces(&|token| token.contains('@')),
            FieldKind::Date => pieces(&|token| {
                token.contains(['-', ':']) && token.starts_with(|c: char| c.is_ascii_digit())
            }),
            FieldKind::Path => pieces(&|token| token.contains('/') || token.contains('.')),
            FieldKind::Place => self.places(PLACING),
            FieldKind::Origin => self.places("from"),
            FieldKind::Destination => self.places("to"),
            FieldKind::Language => {
                let named = self.segments("to into in").into_iter();
                let named = named.filter_map(|segment| proper_run(&segment));
                named.chain(self.general()).collect()
            }
            FieldKind::Request => {
                let quoted = quoted(self.words).map(str::to_owned);
                quoted.chain([self.request()]).collect()
            }
            FieldKind::Setting | FieldKind::General => self.general(),
        };
        self.take(found)
    }

    /// All texts for a list of this kind.
    pub(super) fn texts_of(&mut self, kind: FieldKind) -> Vec<String> {
        let quoted: Vec<String> = quoted(self.words).map(str::to_owned).collect();
        let quoted: Vec<String> = quoted
            .into_iter()
            .filter(|value| self.is_value(value))
            .collect();
        if !quoted.is_empty() {
            return quoted;
        }
        let is_place = matches!(
            kind,
            FieldKind::Place | FieldKind::Origin | FieldKind::Destination
        );
        if !is_place {
            return self.text_of(kind).into_iter().collect();
        }
        let segments = self.segments(PLACING).into_iter();
        let lists = segments.map(|segment| {
            let items = segment.replace(" and ", ", ").replace(" or ", ", ");
            let items = items.split(", ").filter_map(|item| self.place(item));
            items.collect::<Vec<String>>()
        });
        let list = lists.into_iter().find(|list| !list.is_empty());
        list.unwrap_or_else(|| self.proper_names().into_iter().take(8).collect())
    }

    fn take_number(&mut self, token: &str) -> Option<Value> {
        let value: Value = match token.parse::<i64>() {
            Ok(whole) => whole.into(),
            Err(_) => {
                let number = token.parse::<f64>().ok();
                number.filter(|it| it.is_finite())?.into()
            }
        };
        self.used.insert(token.to_owned()).then_some(value)
    }

    /// The first of these values that can be used.
    fn take(&mut self, found: impl IntoIterator<Item = String>) -> Option<String> {
        let value = found.into_iter().find(|value| self.is_value(value))?;
        self.used.insert(value.clone());
        Some(value)
    }

    fn is_value(&self, value: &str) -> bool {
        !value.is_empty()
            && !self.used.contains(value)
            && !self.tools.iter().any(|tool| tool == value)
    }

    /// The places after words such as `in`, in the order of these words; then all capitalized names.
    fn places(&self, placing: &str) -> Vec<String> {
        let segments = self.segments(placing).into_iter();
        let mut places: Vec<String> = segments
            .filter_map(|segment| self.place(&segment))
            .collect();
        let names = self.proper_names().into_iter();
        places.extend(names.filter(|name| !is_no_place(name)));
        places.extend(self.after_tool());
        places
    }

    /// The place at the beginning of these words.
    fn place(&self, words: &str) -> Option<String> {
        let first = words.split_whitespace().next().map(bare)?;
        let is_time = matches!(first, "the" | "a" | "an" | "next" | "last" | "this" | "my");
        let is_number = first.starts_with(|letter: char| letter.is_ascii_digit());
        if is_time || is_number || is_no_place(first) {
            return None;
        }
        if let Some(name) = proper_run(words) {
            return Some(name);
        }
        let end = words.find([',', ';', '.', '?', '!', '"', '`']);
        let words = &words[..end.unwrap_or(words.len())];
        let ends = |word: &&str| !AFTER_PLACE.split(' ').any(|end| end == word.to_lowercase());
        let words: Vec<&str> = words.split_whitespace().take_while(ends).take(4).collect();
        let place = words.join(" ");
        self.is_value(&place).then_some(place)
    }

    /// The words that follow the tool's name.
    fn after_tool(&self) -> Option<String> {
        let (tool, words) = (self.tools.first()?, self.words);
        let rest = &words[words.find(tool.as_str())? + tool.len()..];
        self.place(rest.trim_start_matches(['`', '"', ':', ' ']))
            .filter(|place| !place.starts_with("tool"))
    }

    /// The texts after these words, up to the next such word or the end of the sentence.
    fn segments(&self, openers: &str) -> Vec<String> {
        let mut found = Vec::new();
        for opener in openers.split(' ') {
            for sentence in sentences(self.words) {
                let words: Vec<&str> = sentence.split_whitespace().collect();
                for (at, word) in words.iter().enumerate() {
                    if !word.eq_ignore_ascii_case(opener) {
                        continue;
                    }
                    let after = &words[at + 1..];
                    let opens = |word: &&str| {
                        ABOUT
                            .split(' ')
                            .any(|about| word.eq_ignore_ascii_case(about))
                    };
                    let end = after.iter().position(opens);
                    found.push(after[..end.unwrap_or(after.len())].join(" "));
                }
            }
        }
        found
    }

    /// The request without the sentence that names the tool, if there is another one.
    fn request(&self) -> String {
        let names = |sentence: &&str| {
            !self
                .tools
                .iter()
                .any(|tool| sentence.contains(tool.as_str()))
        };
        let text = sentences(self.words)
            .find(names)
            .unwrap_or(self.words)
            .trim();
        text.trim_end_matches(['.', '!']).to_owned()
    }

    /// What is quoted, capitalized names, what the request is about.
    fn general(&self) -> Vec<String> {
        let quoted = quoted(self.words).map(str::to_owned);
        let names = self.proper_names();
        quoted.chain(names).chain(self.about()).collect()
    }

    /// Capitalized names that do not begin a sentence.
    fn proper_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for sentence in sentences(self.words) {
            let mut rest = sentence.trim_start();
            while let Some((_, after)) = rest.split_once(' ') {
                rest = after.trim_start_matches([' ', '"', '(', '“']);
                if let Some(name) = proper_run(rest) {
                    rest = rest.get(name.len()..).unwrap_or("");
                    if self.is_value(&name) && name != "I" {
                        names.push(name);
                    }
                }
            }
        }
        names
    }

    /// The text after a word such as `in` or `about`, up to the end of the clause.
    fn about(&self) -> Option<String> {
        let mut words = self.request();
        if let Some(end) = words.find(['?', ',', ';', '!']) {
            words.truncate(end);
        }
        let words: Vec<&str> = words.split_whitespace().collect();
        let opens = |word: &&str| {
            ABOUT
                .split(' ')
                .any(|about| word.eq_ignore_ascii_case(about))
        };
        let at = words.iter().rposition(opens)?;
        Some(words[at + 1..].join(" "))
    }
}

fn is_no_place(word: &str) -> bool {
    let lower = word.to_lowercase();
    NO_PLACE.split_whitespace().any(|no| no == lower)
}

/// The words of a field's name, in lower case: `target_language`, `targetLanguage`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.chars() {
        let begins = letter.is_uppercase() && parts.last().is_some_and(|part| !part.is_empty());
        if begins || !letter.is_alphanumeric() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| letter.is_alphanumeric()) {
            part.extend(letter.to_lowercase());
        }
    }
    parts
}

/// Where a field's name is among the tokens.
fn named_at(tokens: &[&str], name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let field = name.replace(['_', '-'], " ");
    let field = field.rsplit(' ').next().unwrap_or(&field).to_owned();
    tokens.iter().position(|token| {
        let token = token.to_lowercase();
        token == field || token == name || token == format!("{field}s")
    })
}

/// The sentences of a text.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', '\n'])
        .filter(|sentence| !sentence.trim().is_empty())
}

/// The words without the punctuation around them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let tokens = text.split(|letter: char| letter.is_whitespace() || "=,;\"“”".contains(letter));
    tokens.map(bare).filter(|token| !token.is_empty())
}

fn bare(token: &str) -> &str {
    token
        .trim_matches(|letter: char| ",;!?\"'`()<>“”:=".contains(letter))
        .trim_end_matches('.')
}

/// The texts in quotation marks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.split(['"', '`', '“', '”']).skip(1).step_by(2);
    inner.map(str::trim).filter(|inner| !inner.is_empty())
}

/// The capitalized words at the beginning of a text, such as `New York` or `Springfield, IL`.
fn proper_run(text: &str) -> Option<String> {
    let mut end = 0;
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        if !bare.starts_with(char::is_uppercase) {
            break;
        }
        let at = text[end..].find(bare)? + end;
        end = at + bare.len();
        let closes = word.trim_end().len() > bare.len();
        let state = text.get(end..).and_then(|rest| rest.strip_prefix(", "));
        let state = state.and_then(|rest| rest.get(..2));
        if closes && !state.is_some_and(|two| two.chars().all(char::is_uppercase)) {
            break;
        }
    }
    (end > 0).then(|| text[..end].to_owned())
}
