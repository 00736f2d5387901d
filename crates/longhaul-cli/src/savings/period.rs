//! How far back to look: `30d`, `12h`, `4w`, a date, or everything.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::failure::CliError;
use crate::terminal::minute;

/// The time from which on to look; `None` for everything.
pub(super) fn since(text: &str, now: Timestamp) -> Result<Option<Timestamp>, CliError> {
    let wrong = || CliError::BadSince(text.to_owned());
    if text == "all" {
        return Ok(None);
    }
    if let Ok(date) = text.parse::<Date>() {
        let start = date.to_zoned(TimeZone::UTC).map_err(|_| wrong())?;
        return Ok(Some(start.timestamp()));
    }
    let split = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(split.ok_or_else(wrong)?);
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 24 * 7,
        _ => return Err(wrong()),
    };
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let hours = number.checked_mul(hours).filter(|hours| *hours > 0);
    let back = hours.and_then(SignedDuration::try_from_hours);
    let start = back.and_then(|back| now.checked_sub(back).ok());
    start.map(Some).ok_or_else(wrong)
}

/// The same for a sentence.
pub(super) fn in_words(since: Option<Timestamp>) -> String {
    since.map_or_else(String::new, |since| format!(" since {} UTC", minute(since)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let of = |text| {
            since(text, now)
                .ok()
                .flatten()
                .map(|since| since.to_string())
        };
        assert_eq!(of("30d").as_deref(), Some("2026-10-17T12:00:00Z"));
        assert_eq!(of("12h").as_deref(), Some("2026-11-16T00:00:00Z"));
        assert_eq!(of("1w").as_deref(), Some("2026-11-09T12:00:00Z"));
        assert_eq!(of("2026-11-01").as_deref(), Some("2026-11-01T00:00:00Z"));
        assert!(since("all", now).unwrap().is_none());
        for wrong in [
            "",
            "30",
            "d",
            "0d",
            "-1d",
            "3 days",
            "99999999999999999999d",
            "9999999999999d",
        ] {
            assert!(since(wrong, now).is_err(), "{wrong}");
        }
    }
}
