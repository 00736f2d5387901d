//! Numbers in the form in which people read them.

use std::time::Duration;

pub(crate) use longhaul_core::figures::grouped;
use longhaul_core::money::Usd;

/// A duration: 31 s, 2 min 5 s.
pub(crate) fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// Dollars with the cents that matter.
pub(crate) fn dollars(amount: Usd) -> String {
    match amount.to_f64() {
        amount if amount >= 0.01 || amount == 0.0 => format!("${amount:.2}"),
        amount => format!("${amount:.4}"),
    }
}

/// A share from 0 to 1 as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// A part of a whole as a percentage.
pub(crate) fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "0%".to_owned(),
        _ => format!("{:.1}%", part as f64 * 100.0 / whole as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_figures_are_written_for_people() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(elapsed(Duration::from_millis(31_400)), "31 s");
        assert_eq!(elapsed(Duration::from_secs(125)), "2 min 5 s");
        assert_eq!(dollars(Usd::from_pico(120_000_000_000)), "$0.12");
        assert_eq!(dollars(Usd::from_pico(1_200_000_000)), "$0.0012");
        assert_eq!(share(1, 8), "12.5%");
        assert_eq!(percent(0.914), "91%");
    }
}
