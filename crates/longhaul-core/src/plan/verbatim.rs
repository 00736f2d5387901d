//! Which of the newest parts of a conversation stay word for word when what is older is summarized.

/// The newest parts of a conversation that stay word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerbatimTail {
    /// The first of these parts.
    pub from: usize,
    /// The tokens that they have.
    pub tokens: u64,
}

/// Returns the shortest tail that has at least this many tokens and begins where the conversation may be cut. `None` if
/// all of it has fewer, or may be cut nowhere before.
pub fn verbatim_tail(
    sizes: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator,
    least: u64,
    may_begin_at: impl Fn(usize) -> bool,
) -> Option<VerbatimTail> {
    let mut tokens = 0_u64;
    for (from, size) in sizes.enumerate().rev() {
        tokens = tokens.saturating_add(size);
        if tokens >= least && may_begin_at(from) {
            return Some(VerbatimTail { from, tokens });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v5_the_tail_is_the_shortest_that_is_long_enough_and_begins_where_it_may() {
        let sizes = [50, 10, 10, 10_u64];
        let tail = |least, begins: fn(usize) -> bool| {
            verbatim_tail(sizes.into_iter(), least, begins).map(|tail| (tail.from, tail.tokens))
        };
        assert_eq!(tail(20, |_| true), Some((2, 20)));
        assert_eq!(tail(21, |_| true), Some((1, 30)));
        assert_eq!(tail(20, |at| at < 2), Some((1, 30)));
        assert_eq!(tail(81, |_| true), None);
        assert_eq!(tail(20, |_| false), None);
    }
}
