//! The arguments of a fault in parentheses: `retry-after=7`, `after=3`, `for=30s`, or the main one without its name.

use std::time::Duration;

use super::DEFAULT_AFTER;
use super::spec_error::FaultSpecError;

/// The arguments in the parentheses of a fault.
pub(super) struct FaultArguments<'a> {
    fault: &'a str,
    given: Vec<(Option<&'a str>, &'a str)>,
    takes: &'static str,
}

impl<'a> FaultArguments<'a> {
    pub(super) fn new(fault: &'a str, text: &'a str) -> Self {
        let given = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let given = given.map(|part| match part.split_once('=') {
            Some((key, value)) => (Some(key.trim()), value.trim()),
            None => (None, part),
        });
        Self {
            fault,
            given: given.collect(),
            takes: "it takes nothing",
        }
    }

    /// Takes the first argument that has one of these names, or that has no name and that `bare` accepts.
    fn take(
        &mut self,
        names: &[&str],
        bare: impl Fn(&str) -> bool,
    ) -> Option<(Option<&'a str>, &'a str)> {
        let at = self.given.iter().position(|(key, value)| match key {
            Some(key) => names.contains(key),
            None => bare(value),
        })?;
        Some(self.given.remove(at))
    }

    fn wrong(&self, (key, value): (Option<&str>, &str)) -> FaultSpecError {
        FaultSpecError::Argument {
            fault: self.fault.to_owned(),
            argument: key.map_or(value.to_owned(), |key| format!("{key}={value}")),
            takes: self.takes,
        }
    }

    pub(super) fn retry_after(&mut self) -> Result<Option<u64>, FaultSpecError> {
        self.takes = "it takes retry-after in seconds or none, as in `429(retry-after=7)`";
        match self.take(&["retry-after"], |_| true) {
            None => Ok(Some(1)),
            Some((_, "none")) => Ok(None),
            Some(given) => given.1.parse().map(Some).map_err(|_| self.wrong(given)),
        }
    }

    pub(super) fn after(&mut self) -> Result<usize, FaultSpecError> {
        self.takes = "it takes the number of events before it, as in `reset(after=3)`";
        let digits = |value: &str| value.bytes().all(|b| b.is_ascii_digit());
        match self.take(&["after"], digits) {
            None => Ok(DEFAULT_AFTER),
            Some(given) => given.1.parse().map_err(|_| self.wrong(given)),
        }
    }

    pub(super) fn duration(
        &mut self,
        takes: &'static str,
    ) -> Result<Option<Duration>, FaultSpecError> {
        self.takes = takes;
        match self.take(&["for", "by"], |_| true) {
            None => Ok(None),
            Some(given) => match duration(given.1) {
                Some(duration) => Ok(Some(duration)),
                None => Err(self.wrong(given)),
            },
        }
    }

    pub(super) fn done(self) -> Result<(), FaultSpecError> {
        match self.given.first() {
            None => Ok(()),
            Some(given) => Err(self.wrong(*given)),
        }
    }
}

/// Parses `250ms`, `2s` or `1.5s`, up to a day.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let seconds = match text.strip_suffix("ms") {
        Some(millis) => millis.trim().parse::<f64>().ok()? / 1000.0,
        None => text.strip_suffix('s')?.trim().parse::<f64>().ok()?,
    };
    (0.0..=86_400.0)
        .contains(&seconds)
        .then(|| Duration::from_secs_f64(seconds))
}
