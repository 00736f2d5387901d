//! How far results are shortened that together have no room: the largest first, so that small ones stay whole.

/// Returns the most tokens that each of these results may keep so that together they take at most `room`.
///
/// ```
/// use longhaul_core::reduce::cap_within;
///
/// assert_eq!(cap_within([10, 50, 900], 500), 440);
/// assert_eq!(cap_within([400, 900], 500), 250);
/// ```
pub fn cap_within(sizes: impl IntoIterator<Item = u64>, room: u64) -> u64 {
    let mut sizes: Vec<u64> = sizes.into_iter().collect();
    sizes.sort_unstable();
    let mut left = room;
    for (count, size) in (1..=sizes.len() as u64).rev().zip(sizes) {
        let share = left / count;
        if size > share {
            return share;
        }
        left -= size;
    }
    u64::MAX
}
