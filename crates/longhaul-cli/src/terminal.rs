//! Facts about where output goes, and how numbers are written for people.

use std::io::IsTerminal;

pub(crate) use longhaul_core::figures::grouped;

/// The number of columns to use: those of the terminal, within limits that read well; 80 elsewhere.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns > 0);
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(measured).unwrap_or(80).clamp(40, 120)
}

/// Whether pictures may use color. Where they may not, they use letters instead.
pub(crate) fn has_color() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// Whether stderr is a terminal, so that progress is worth showing.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// 1234567 as 1.2M: for places where the size matters more than the digits.
pub(crate) fn short(number: u64) -> String {
    let scaled = |unit: u64, letter: char| {
        let tenths = (number * 10 + unit / 2) / unit;
        match tenths {
            0..100 => format!("{}.{}{letter}", tenths / 10, tenths % 10),
            _ => format!("{}{letter}", (tenths + 5) / 10),
        }
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..999_500 => scaled(1_000, 'K'),
        999_500..999_500_000 => scaled(1_000_000, 'M'),
        _ => scaled(1_000_000_000, 'B'),
    }
}

/// A time to the minute, in UTC.
pub(crate) fn minute(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// A share in whole percent; a share above zero is never shown as 0%.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    match (part * 200 + whole) / (whole * 2) {
        0 if part > 0 => "<1%".to_owned(),
        percent => format!("{percent}%"),
    }
}

/// Bytes for people.
pub(crate) fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        // Of numbers, B is a billion; of bytes, that is G.
        _ => format!("{}B", short(number).replace('B', "G")),
    }
}

/// Dollars as the gateway's page writes them: cents from ten cents on, none from a thousand dollars on, and two digits
/// below ten cents.
pub(crate) fn dollars(amount: f64) -> String {
    if amount < 0.0 {
        return format!("−{}", dollars(-amount));
    }
    match amount {
        0.0 => "$0.00".to_owned(),
        amount if amount >= 999.995 => format!("${}", grouped(amount.round() as u64)),
        amount if amount >= 0.099_5 => format!("${amount:.2}"),
        amount if amount < 5e-9 => "under $0.00000001".to_owned(),
        amount => {
            let digits = (1.0 - amount.log10().floor()) as usize;
            format!("${amount:.*}", digits.min(8))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(short(999), "999");
        assert_eq!(short(1_000), "1.0K");
        assert_eq!(short(9_960), "10K");
        assert_eq!(short(167_000), "167K");
        assert_eq!(short(999_700), "1.0M");
        assert_eq!(short(20_140_000), "20M");
    }
    #[test]
    fn bytes_have_units_of_bytes() {
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(1_200), "1.2KB");
        assert_eq!(bytes(38_000_000_000), "38GB");
    }

    #[test]
    fn dollars_have_the_decimals_that_matter() {
        assert_eq!(dollars(0.0), "$0.00");
        assert_eq!(dollars(0.012_34), "$0.012");
        assert_eq!(dollars(0.204_4), "$0.20");
        assert_eq!(dollars(0.000_123), "$0.00012");
        assert_eq!(dollars(-0.5), "−$0.50");
        assert_eq!(dollars(12.345), "$12.35");
        assert_eq!(dollars(12_345.6), "$12,346");
    }
}
