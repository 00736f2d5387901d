//! A line of small bars, one for each day or for several days together.

use jiff::civil::Date;

/// The bars, from the lowest to the highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A day on which nothing was gained.
const NOTHING: char = '·';

/// The values of days, in their order, as bars in at most this many columns. Days without a value count as zero; what is
/// not above zero has no bar.
pub(super) fn of(days: &[(Date, f64)], room: usize) -> String {
    let (Some((first, _)), Some((last, _))) = (days.first(), days.last()) else {
        return String::new();
    };
    let number = |day: &Date| first.until(*day).map_or(0, |span| span.get_days()).max(0) as usize;
    let whole = number(last) + 1;
    let each = whole.div_ceil(room.max(1));
    let mut sums = vec![0.0; whole.div_ceil(each)];
    for (day, value) in days {
        if let Some(sum) = sums.get_mut(number(day) / each) {
            *sum += value;
        }
    }
    let most = sums.iter().copied().fold(0.0, f64::max);
    sums.iter().map(|sum| bar(*sum, most)).collect()
}

fn bar(value: f64, most: f64) -> char {
    if value <= 0.0 || most <= 0.0 {
        return NOTHING;
    }
    let step = (value / most * BARS.len() as f64).ceil() as usize;
    BARS[step.clamp(1, BARS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(values: &[(i8, f64)]) -> Vec<(Date, f64)> {
        let day = |day| Date::new(2026, 11, day).unwrap();
        values
            .iter()
            .map(|(number, value)| (day(*number), *value))
            .collect()
    }

    #[test]
    fn bars_are_as_high_as_their_share_of_the_highest() {
        let line = of(&days(&[(1, 1.0), (2, 8.0), (4, 4.0), (5, -3.0)]), 40);
        assert_eq!(line, "▁█·▄·");
        assert_eq!(of(&[], 40), "");
        assert_eq!(of(&days(&[(1, 0.0)]), 40), "·");
    }

    #[test]
    fn many_days_share_a_bar() {
        let all: Vec<(i8, f64)> = (1..=30).map(|day| (day, f64::from(day))).collect();
        let line = of(&days(&all), 10);
        assert_eq!(line.chars().count(), 10);
        assert!(line.ends_with('█'), "{line}");
    }
}
