//! Whose thinking a model can read, and which blocks are bound to what.
//!
//! Documented: Fable 5.1 reads Opus 5 and 5.5, neither of which reads Fable 5.1; newer reads older; Sonnet 5.5 and
//! Haiku 5.5 read their own. The rest is filled in by the order of families.

use crate::validate::{Family, Generation};

/// Whether `reader` can use a block that `maker` made.
pub(super) fn reads(reader: &str, maker: &str) -> bool {
    let (own, other) = (Generation::named(reader), Generation::named(maker));
    if own == other {
        return own.family != Family::Other || reader == maker;
    }
    match rank(own.family).cmp(&rank(other.family)) {
        _ if keeps_to_itself(own) => false,
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => own.version >= other.version,
        std::cmp::Ordering::Less => own.version >= other.version && !records_prefix(maker),
    }
}

/// Whether blocks of this model say what stood before them.
pub(super) fn records_prefix(maker: &str) -> bool {
    let maker = Generation::named(maker);
    match maker.family {
        Family::Fable | Family::Mythos => maker.version >= (5, 1),
        Family::Opus | Family::Sonnet | Family::Haiku => maker.version >= (5, 5),
        Family::Other => true,
    }
}

/// Whether blocks of this model are for the account only that they were made for.
pub(super) fn records_account(maker: &str) -> bool {
    keeps_to_itself(Generation::named(maker))
}

fn keeps_to_itself(model: Generation) -> bool {
    matches!(model.family, Family::Sonnet | Family::Haiku) && model.version >= (5, 5)
}

fn rank(family: Family) -> u8 {
    match family {
        Family::Haiku => 0,
        Family::Sonnet => 1,
        Family::Opus => 2,
        Family::Fable | Family::Mythos => 3,
        Family::Other => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn n2_newer_models_read_older_ones_and_never_the_reverse() {
        for (reader, maker) in [
            ("claude-fable-5-1", "claude-opus-5"),
            ("claude-fable-5-1", "claude-opus-5-5"),
            ("claude-fable-5-2", "claude-fable-5-1"),
            ("claude-opus-4-8", "claude-sonnet-4-6"),
            ("claude-opus-5-5", "claude-opus-5-5"),
        ] {
            assert!(reads(reader, maker), "{reader} reads {maker}");
        }
        for (reader, maker) in [
            ("claude-opus-5", "claude-fable-5-1"),
            ("claude-opus-5-5", "claude-fable-5-1"),
            ("claude-fable-5-1", "claude-fable-5-2"),
            ("claude-sonnet-5-5", "claude-sonnet-5"),
        ] {
            assert!(!reads(reader, maker), "{reader} does not read {maker}");
        }
    }
}
