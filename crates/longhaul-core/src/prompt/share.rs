//! Shares a budget among texts: small ones stay whole, large ones are reduced.

/// Returns the maximum that each text may take so that all together stay within a total. Texts that want less keep what
/// they want.
pub(super) fn level(wants: &[u64], total: u64) -> u64 {
    let mut sorted = wants.to_vec();
    sorted.sort_unstable();
    let mut left = total;
    for (at, want) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - at) as u64;
        if *want > share {
            return share;
        }
        left -= want;
    }
    u64::MAX
}

/// Returns how many texts, from the front, can be included if each reduced text keeps at least `least`. More texts only
/// lower the level, so a binary search finds the answer.
pub(super) fn how_many(wants: &[u64], total: u64, least: u64) -> usize {
    let (mut enough, mut too_many) = (0, wants.len() + 1);
    while too_many - enough > 1 {
        let middle = enough.midpoint(too_many);
        if level(&wants[..middle], total) >= least {
            enough = middle
        } else {
            too_many = middle
        }
    }
    enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_ones_stay_whole_and_large_ones_share_the_rest() {
        assert_eq!(level(&[10, 500, 20, 400], 130), 50);
        assert_eq!(level(&[10, 20], 30), u64::MAX);
        assert_eq!(level(&[], 0), u64::MAX);
        assert_eq!(how_many(&[100; 10], 100, 40), 2);
        assert_eq!(how_many(&[100; 10], 80, 40), 2, "just enough for both");
        assert_eq!(how_many(&[1; 10], 100, 40), 10);
    }

    proptest! {
        #[test]
        fn a_level_uses_the_total_and_never_more(wants in prop::collection::vec(0u64..1000, 0..50), total in 0u64..20_000) {
            let level = level(&wants, total);
            let used: u64 = wants.iter().map(|want| *want.min(&level)).sum();
            prop_assert!(used <= total);
            if level < u64::MAX {
                prop_assert!(used + (wants.len() as u64) > total);
            }
        }
    }
}
