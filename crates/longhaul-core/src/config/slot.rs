//! What a setting may hold, and the field of [`Config`] that holds it.
//!
//! A value is taken whole or not at all: `70abc` is no 70.

use std::str::FromStr;

use toml::de::DeValue;

use super::Config;
use super::Summariser;
use super::setting::Sense;
use crate::window::Percent;

/// A field of the configuration; the variant is its type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slot {
    Switch(fn(&mut Config) -> &mut bool),
    Tokens(fn(&mut Config) -> &mut Option<u64>),
    /// Tokens that are never unset.
    Amount(fn(&mut Config) -> &mut u64),
    Count(fn(&mut Config) -> &mut u64),
    Percent(fn(&mut Config) -> &mut Option<Percent>),
    Days(fn(&mut Config) -> &mut Option<u32>),
    Text(fn(&mut Config) -> &mut Option<String>),
    Filter(fn(&mut Config) -> &mut String),
    Summariser(fn(&mut Config) -> &mut Summariser),
    /// Names or phrases; none of them is empty.
    List(fn(&mut Config) -> &mut Vec<String>),
}

/// A value that does not fit its slot. The slot can say what would.
#[derive(Debug)]
pub(super) struct Unfit;

impl Slot {
    /// What fits, to follow "takes".
    pub(super) fn accepted(&self) -> &'static str {
        match self {
            Slot::Switch(_) => "1, true, yes or on; 0, false, no or off",
            Slot::Tokens(_) | Slot::Amount(_) => "a whole number of tokens, 1 or more",
            Slot::Count(_) => "a whole number, 1 or more",
            Slot::Percent(_) => "a percentage above 0, up to 100",
            Slot::Days(_) => "a whole number of days, 1 or more",
            Slot::Text(_) | Slot::Filter(_) => "text that is not empty",
            Slot::Summariser(_) => "model or provider",
            Slot::List(_) => "names or phrases, separated by commas",
        }
    }

    /// What fits in the file, which has types of its own.
    pub(super) fn accepted_in_file(&self) -> &'static str {
        match self {
            Slot::Switch(_) => "true or false",
            Slot::Text(_) | Slot::Filter(_) => "a string that is not empty",
            Slot::Summariser(_) => "\"model\" or \"provider\"",
            Slot::List(_) => "an array of strings that are not empty",
            Slot::Tokens(_)
            | Slot::Amount(_)
            | Slot::Count(_)
            | Slot::Percent(_)
            | Slot::Days(_) => self.accepted(),
        }
    }

    /// Takes a value from the environment or a flag.
    pub(super) fn set(&self, config: &mut Config, text: &str, sense: Sense) -> Result<(), Unfit> {
        let text = text.trim();
        match self {
            Slot::Switch(field) => {
                let on = switch(text).ok_or(Unfit)?;
                *field(config) = on == (sense == Sense::Same);
            }
            Slot::Tokens(field) => *field(config) = Some(whole(text)?),
            Slot::Amount(field) | Slot::Count(field) => *field(config) = whole(text)?,
            Slot::Percent(field) => *field(config) = Some(percent(text)?),
            Slot::Days(field) => *field(config) = Some(whole(text)?),
            Slot::Text(field) => *field(config) = Some(filled(text)?),
            Slot::Filter(field) => *field(config) = filled(text)?,
            Slot::Summariser(field) => *field(config) = Summariser::named(text).ok_or(Unfit)?,
            Slot::List(field) => {
                *field(config) = list(text.split(',').filter(|item| !item.trim().is_empty()))?;
            }
        }
        Ok(())
    }

    /// Takes a value from the file, where only the right type will do.
    pub(super) fn set_typed(&self, config: &mut Config, value: &DeValue<'_>) -> Result<(), Unfit> {
        // A phrase in an array may hold a comma.
        if let (Slot::List(field), DeValue::Array(items)) = (self, value) {
            let items: Option<Vec<&str>> =
                items.iter().map(|item| item.get_ref().as_str()).collect();
            *field(config) = list(items.ok_or(Unfit)?)?;
            return Ok(());
        }
        let text = match (self, value) {
            (Slot::Switch(_), DeValue::Boolean(on)) => on.to_string(),
            (
                Slot::Tokens(_)
                | Slot::Amount(_)
                | Slot::Count(_)
                | Slot::Percent(_)
                | Slot::Days(_),
                DeValue::Integer(number),
            ) => {
                // Hexadecimal and its like are TOML, too.
                let whole = i64::from_str_radix(number.as_str(), number.radix());
                whole.map_err(|_| Unfit)?.to_string()
            }
            (Slot::Percent(_), DeValue::Float(number)) => number.as_str().to_owned(),
            (Slot::Text(_) | Slot::Filter(_) | Slot::Summariser(_), DeValue::String(text)) => {
                text.to_string()
            }
            _ => return Err(Unfit),
        };
        self.set(config, &text, Sense::Same)
    }

    /// The value as it would be written; none if unset.
    pub(super) fn show(&self, config: &mut Config) -> Option<String> {
        match self {
            Slot::Switch(field) => Some(field(config).to_string()),
            Slot::Tokens(field) => field(config).map(|tokens| tokens.to_string()),
            Slot::Amount(field) | Slot::Count(field) => Some(field(config).to_string()),
            Slot::Percent(field) => field(config).map(|percent| percent.to_string()),
            Slot::Days(field) => field(config).map(|days| days.to_string()),
            Slot::Text(field) => field(config).clone(),
            Slot::Filter(field) => Some(field(config).clone()),
            Slot::Summariser(field) => Some(field(config).name().to_owned()),
            Slot::List(field) => {
                let items = field(config);
                (!items.is_empty()).then(|| items.join(", "))
            }
        }
    }
}

fn list<'t>(items: impl IntoIterator<Item = &'t str>) -> Result<Vec<String>, Unfit> {
    let items: Result<Vec<String>, Unfit> =
        items.into_iter().map(|item| filled(item.trim())).collect();
    items.and_then(|items| match items.is_empty() {
        true => Err(Unfit),
        false => Ok(items),
    })
}

fn switch(text: &str) -> Option<bool> {
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    if ["1", "true", "yes", "on"].iter().any(is) {
        return Some(true);
    }
    ["0", "false", "no", "off"].iter().any(is).then_some(false)
}

fn whole<N: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, Unfit> {
    let number = text.parse::<N>().map_err(|_| Unfit)?;
    if number >= N::from(1) {
        Ok(number)
    } else {
        Err(Unfit)
    }
}

fn percent(text: &str) -> Result<Percent, Unfit> {
    text.parse().ok().and_then(Percent::new).ok_or(Unfit)
}

fn filled(text: &str) -> Result<String, Unfit> {
    if text.is_empty() {
        Err(Unfit)
    } else {
        Ok(text.to_owned())
    }
}
