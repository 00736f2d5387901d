//! The values that a setting accepts, and the field of [`Config`] that holds them.
//!
//! A value must be valid as a whole: `70abc` is not 70.

use std::str::FromStr;
use std::time::Duration;

use toml::de::DeValue;

use super::Config;
use super::env_name::EnvSense;
use super::{ResultReduction, SummarizerSetting};
use crate::economy::EconomyPolicy;
use crate::window::Percent;

/// A field of the configuration; the variant is its type.
#[derive(Debug, Clone, Copy)]
pub(super) enum ConfigField {
    Switch(fn(&mut Config) -> &mut bool),
    Tokens(fn(&mut Config) -> &mut Option<u64>),
    /// A number of tokens that is never unset.
    Amount(fn(&mut Config) -> &mut u64),
    Count(fn(&mut Config) -> &mut u64),
    Percent(fn(&mut Config) -> &mut Option<Percent>),
    Days(fn(&mut Config) -> &mut Option<u32>),
    /// A length of time; zero is allowed.
    Time(fn(&mut Config) -> &mut Duration),
    Text(fn(&mut Config) -> &mut Option<String>),
    Filter(fn(&mut Config) -> &mut String),
    Summarizer(fn(&mut Config) -> &mut SummarizerSetting),
    Economy(fn(&mut Config) -> &mut EconomyPolicy),
    Reduction(fn(&mut Config) -> &mut ResultReduction),
    /// Names or phrases; none of them is empty.
    List(fn(&mut Config) -> &mut Vec<String>),
}

/// A value that does not fit its field. The field knows which values fit.
#[derive(Debug)]
pub(super) struct UnfitValue;

impl ConfigField {
    /// The accepted values, worded to follow "takes".
    pub(super) fn accepted(&self) -> &'static str {
        match self {
            ConfigField::Switch(_) => "1, true, yes or on; 0, false, no or off",
            ConfigField::Tokens(_) | ConfigField::Amount(_) => {
                "a whole number of tokens, 1 or more"
            }
            ConfigField::Count(_) => "a whole number, 1 or more",
            ConfigField::Percent(_) => "a percentage above 0, up to 100",
            ConfigField::Days(_) => "a whole number of days, 1 or more",
            ConfigField::Time(_) => "a time such as 90s, 10m or 1h, or 0",
            ConfigField::Text(_) | ConfigField::Filter(_) => "text that is not empty",
            ConfigField::Summarizer(_) => "model or provider",
            ConfigField::Economy(_) => "off, clear or full",
            ConfigField::Reduction(_) => "off, exact or recallable",
            ConfigField::List(_) => "names or phrases, separated by commas",
        }
    }

    /// The accepted values in the file, which has types of its own.
    pub(super) fn accepted_in_file(&self) -> &'static str {
        match self {
            ConfigField::Switch(_) => "true or false",
            ConfigField::Text(_) | ConfigField::Filter(_) => "a string that is not empty",
            ConfigField::Summarizer(_) => "\"model\" or \"provider\"",
            ConfigField::Economy(_) => "\"off\", \"clear\" or \"full\"",
            ConfigField::Reduction(_) => "\"off\", \"exact\" or \"recallable\"",
            ConfigField::List(_) => "an array of strings that are not empty",
            ConfigField::Time(_) => "a string such as \"90s\", \"10m\" or \"1h\", or 0",
            ConfigField::Tokens(_)
            | ConfigField::Amount(_)
            | ConfigField::Count(_)
            | ConfigField::Percent(_)
            | ConfigField::Days(_) => self.accepted(),
        }
    }

    /// Sets a value from the environment or a flag.
    pub(super) fn set(
        &self,
        config: &mut Config,
        text: &str,
        sense: EnvSense,
    ) -> Result<(), UnfitValue> {
        let text = text.trim();
        match self {
            ConfigField::Switch(field) => {
                let on = switch(text).ok_or(UnfitValue)?;
                *field(config) = on == (sense == EnvSense::Same);
            }
            ConfigField::Tokens(field) => *field(config) = Some(whole(text)?),
            ConfigField::Amount(field) | ConfigField::Count(field) => *field(config) = whole(text)?,
            ConfigField::Percent(field) => *field(config) = Some(percent(text)?),
            ConfigField::Days(field) => *field(config) = Some(whole(text)?),
            ConfigField::Time(field) => *field(config) = time(text)?,
            ConfigField::Text(field) => *field(config) = Some(filled(text)?),
            ConfigField::Filter(field) => *field(config) = filled(text)?,
            ConfigField::Summarizer(field) => {
                *field(config) = SummarizerSetting::named(text).ok_or(UnfitValue)?
            }
            ConfigField::Economy(field) => {
                *field(config) = EconomyPolicy::named(text).ok_or(UnfitValue)?;
            }
            ConfigField::Reduction(field) => {
                *field(config) = ResultReduction::named(text).ok_or(UnfitValue)?;
            }
            ConfigField::List(field) => {
                *field(config) = list(text.split(',').filter(|item| !item.trim().is_empty()))?;
            }
        }
        Ok(())
    }

    /// Sets a value from the file, where only the right type is accepted.
    pub(super) fn set_typed(
        &self,
        config: &mut Config,
        value: &DeValue<'_>,
    ) -> Result<(), UnfitValue> {
        // A phrase in an array may hold a comma.
        if let (ConfigField::List(field), DeValue::Array(items)) = (self, value) {
            let items: Option<Vec<&str>> =
                items.iter().map(|item| item.get_ref().as_str()).collect();
            *field(config) = list(items.ok_or(UnfitValue)?)?;
            return Ok(());
        }
        let text = match (self, value) {
            (ConfigField::Switch(_), DeValue::Boolean(on)) => on.to_string(),
            (
                ConfigField::Tokens(_)
                | ConfigField::Amount(_)
                | ConfigField::Count(_)
                | ConfigField::Percent(_)
                | ConfigField::Days(_)
                | ConfigField::Time(_),
                DeValue::Integer(number),
            ) => {
                // Hexadecimal and similar notations are valid TOML, too.
                let whole = i64::from_str_radix(number.as_str(), number.radix());
                whole.map_err(|_| UnfitValue)?.to_string()
            }
            (ConfigField::Percent(_), DeValue::Float(number)) => number.as_str().to_owned(),
            (
                ConfigField::Text(_)
                | ConfigField::Filter(_)
                | ConfigField::Summarizer(_)
                | ConfigField::Economy(_)
                | ConfigField::Reduction(_)
                | ConfigField::Time(_),
                DeValue::String(text),
            ) => text.to_string(),
            _ => return Err(UnfitValue),
        };
        self.set(config, &text, EnvSense::Same)
    }

    /// The value as it would be written; `None` if it is unset.
    pub(super) fn show(&self, config: &mut Config) -> Option<String> {
        match self {
            ConfigField::Switch(field) => Some(field(config).to_string()),
            ConfigField::Tokens(field) => field(config).map(|tokens| tokens.to_string()),
            ConfigField::Amount(field) | ConfigField::Count(field) => {
                Some(field(config).to_string())
            }
            ConfigField::Percent(field) => field(config).map(|percent| percent.to_string()),
            ConfigField::Days(field) => field(config).map(|days| days.to_string()),
            ConfigField::Time(field) => Some(written_time(*field(config))),
            ConfigField::Text(field) => field(config).clone(),
            ConfigField::Filter(field) => Some(field(config).clone()),
            ConfigField::Summarizer(field) => Some(field(config).name().to_owned()),
            ConfigField::Economy(field) => Some(field(config).as_str().to_owned()),
            ConfigField::Reduction(field) => Some(field(config).name().to_owned()),
            ConfigField::List(field) => {
                let items = field(config);
                (!items.is_empty()).then(|| items.join(", "))
            }
        }
    }
}

fn list<'t>(items: impl IntoIterator<Item = &'t str>) -> Result<Vec<String>, UnfitValue> {
    let items: Result<Vec<String>, UnfitValue> =
        items.into_iter().map(|item| filled(item.trim())).collect();
    items.and_then(|items| {
        if items.is_empty() {
            Err(UnfitValue)
        } else {
            Ok(items)
        }
    })
}

fn switch(text: &str) -> Option<bool> {
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    if ["1", "true", "yes", "on"].iter().any(is) {
        return Some(true);
    }
    ["0", "false", "no", "off"].iter().any(is).then_some(false)
}

fn whole<N: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, UnfitValue> {
    let number = text.parse::<N>().map_err(|_| UnfitValue)?;
    if number >= N::from(1) {
        Ok(number)
    } else {
        Err(UnfitValue)
    }
}

/// A time with its unit; only zero needs none, so that nobody takes minutes for seconds.
fn time(text: &str) -> Result<Duration, UnfitValue> {
    let split = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let number: u64 = number.parse().map_err(|_| UnfitValue)?;
    let seconds = match unit.trim() {
        "" if number == 0 => 0,
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => return Err(UnfitValue),
    };
    let seconds = number.checked_mul(seconds).ok_or(UnfitValue)?;
    // A day is longer than anybody waits, and far from the limits of clocks.
    (seconds <= 86_400)
        .then(|| Duration::from_secs(seconds))
        .ok_or(UnfitValue)
}

fn written_time(time: Duration) -> String {
    match time.as_secs() {
        0 => "0".to_owned(),
        seconds if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

fn percent(text: &str) -> Result<Percent, UnfitValue> {
    text.parse().ok().and_then(Percent::new).ok_or(UnfitValue)
}

fn filled(text: &str) -> Result<String, UnfitValue> {
    if text.is_empty() {
        Err(UnfitValue)
    } else {
        Ok(text.to_owned())
    }
}
