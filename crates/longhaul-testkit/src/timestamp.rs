//! Timestamps as in transcripts: UTC, milliseconds, fixed width. Time is counted here, never read from a clock.

/// Milliseconds since 1970.
pub(crate) type Millis = u64;

/// The milliseconds of one day.
pub(crate) const DAY: Millis = 86_400_000;

/// 2 March 2026, 08:00 UTC: the start of every generated session.
pub(crate) const START: Millis = 20_514 * DAY + 8 * 3_600_000;

/// The width of [`iso`]'s output.
pub(crate) const WIDTH: usize = 24;

/// A timestamp such as `2026-03-02T08:00:00.000Z`.
pub(crate) fn iso(at: Millis) -> String {
    let (day, ms) = (at / DAY, at % DAY);
    let s = ms / 1000;
    format!(
        "{}T{:02}:{:02}:{:02}.{:03}Z",
        date(day),
        s / 3600,
        s / 60 % 60,
        s % 60,
        ms % 1000
    )
}

/// The date of a day counted from 1970-01-01 (days-to-civil, proleptic Gregorian, for days after 1970 only).
pub(crate) fn date(day: u64) -> String {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_the_dates_they_are() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(19_782), "2024-02-29");
        assert_eq!(date(20_513), "2026-03-01");
        assert_eq!(iso(START), "2026-03-02T08:00:00.000Z");
        assert_eq!(iso(START).len(), WIDTH);
        assert_eq!(iso(1), "1970-01-01T00:00:00.001Z");
    }
}
