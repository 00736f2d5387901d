//! Whose thinking a model can read, and what its blocks are bound to.
//!
//! Documented: Fable 5.1 reads Opus 5 and 5.5, neither of which reads Fable 5.1; newer models read older ones; Sonnet
//! 5.5 and Haiku 5.5 read their own. The rest is inferred from the order of families.

use crate::validate::{ModelFamily, ModelGeneration};

/// Whether `reader` can use a block that `maker` made.
pub(super) fn reads(reader: &str, maker: &str) -> bool {
    let (own, other) = (
        ModelGeneration::named(reader),
        ModelGeneration::named(maker),
    );
    if own == other {
        return own.family != ModelFamily::Other || reader == maker;
    }
    match rank(own.family).cmp(&rank(other.family)) {
        _ if thinking_is_private(own) => false,
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => own.version >= other.version,
        std::cmp::Ordering::Less => own.version >= other.version && !records_prefix(maker),
    }
}

/// Whether blocks of this model record the content before them.
pub(super) fn records_prefix(maker: &str) -> bool {
    let maker = ModelGeneration::named(maker);
    match maker.family {
        ModelFamily::Fable | ModelFamily::Mythos => maker.version >= (5, 1),
        ModelFamily::Opus | ModelFamily::Sonnet | ModelFamily::Haiku => maker.version >= (5, 5),
        ModelFamily::Other => true,
    }
}

/// Whether blocks of this model are valid only for the account that they were made for.
pub(super) fn records_account(maker: &str) -> bool {
    thinking_is_private(ModelGeneration::named(maker))
}

fn thinking_is_private(model: ModelGeneration) -> bool {
    matches!(model.family, ModelFamily::Sonnet | ModelFamily::Haiku) && model.version >= (5, 5)
}

fn rank(family: ModelFamily) -> u8 {
    match family {
        ModelFamily::Haiku => 0,
        ModelFamily::Sonnet => 1,
        ModelFamily::Opus => 2,
        ModelFamily::Fable | ModelFamily::Mythos => 3,
        ModelFamily::Other => 4,
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
