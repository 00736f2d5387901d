//! The steps that may happen to a history, and how each ends.

use longhaul_core::economy::EconomyPolicy;
use longhaul_core::history::{FailureTransience, NotesAtHand, SentElsewhere};
use longhaul_core::window::Switches;
use proptest::prelude::*;

/// Something that happens.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// A request with this share of the window more, in thousandths.
    Request(u16, Fate, How),
    /// The next effect of the attempt in the background.
    Perform(How),
    /// The attempt in the background is given up, as when the gateway stops or its request is gone.
    Cancel,
    Later(u32),
    /// The clock is set back.
    Back(u32),
    /// The client drops so many of its newest messages.
    Rewind(u8),
    Switch(Switches),
    Notes(NotesAtHand),
    Economy(EconomyPolicy),
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fate {
    /// It is answered, with this share of the window in thousandths.
    Answered(u16),
    /// The provider says that it is too long.
    Refused,
    /// It fails, or its answer is given up.
    Failed,
}

/// How effects turn out; shares are percents of what there was.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub(super) cleared: Option<u8>,
    pub(super) estimate: u8,
    pub(super) noted: Option<u8>,
    pub(super) asked: Result<(), FailureTransience>,
    /// A summary, and whether a plain request for it gives one.
    pub(super) summary: Option<u8>,
    pub(super) writes: bool,
    /// Whether a summary pays.
    pub(super) pays: bool,
    pub(super) elsewhere: SentElsewhere,
    pub(super) millis: u64,
}

prop_compose! {
    fn how()(
        cleared in proptest::option::of(0..100_u8),
        estimate in 0..100_u8,
        noted in proptest::option::of(0..120_u8),
        asked in prop_oneof![
            2 => Just(Ok(())),
            1 => Just(Err(FailureTransience::Passes)),
            1 => Just(Err(FailureTransience::Stays)),
        ],
        summary in prop_oneof![8 => (0..120_u8).prop_map(Some), 1 => Just(None)],
        writes in any::<bool>(),
        pays in any::<bool>(),
        elsewhere in prop_oneof![4 => Just(SentElsewhere::No), 1 => Just(SentElsewhere::Possibly)],
        millis in 1..300_000_u64,
    ) -> How {
        How { cleared, estimate, noted, asked, summary, writes, pays, elsewhere, millis }
    }
}

prop_compose! {
    fn switches()(
        (compaction, automatic, micro, notes, reactive) in (
            prop::bool::weighted(0.9), prop::bool::weighted(0.8), any::<bool>(), any::<bool>(), any::<bool>(),
        ),
    ) -> Switches {
        Switches { compaction, automatic, micro, notes, reactive, ..Switches::default() }
    }
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let fate = prop_oneof![
        12 => (0..100_u16).prop_map(Fate::Answered),
        1 => Just(Fate::Refused),
        1 => Just(Fate::Failed),
    ];
    let notes = prop_oneof![
        Just(NotesAtHand::Off),
        Just(NotesAtHand::None),
        Just(NotesAtHand::Fresh)
    ];
    let policy = prop_oneof![
        Just(EconomyPolicy::Off),
        Just(EconomyPolicy::Clear),
        Just(EconomyPolicy::Full)
    ];
    // Most requests are small, so that the window fills slowly; some are larger than the window.
    let new = prop_oneof![12 => 0..150_u16, 1 => 150..2_000_u16];
    prop_oneof![
        12 => (new, fate, how()).prop_map(|(new, fate, how)| Step::Request(new, fate, how)),
        12 => how().prop_map(Step::Perform),
        1 => Just(Step::Cancel),
        1 => prop_oneof![1..60_u32, 3_000..400_000_u32].prop_map(Step::Later),
        1 => (1..400_000_u32).prop_map(Step::Back),
        1 => (1..6_u8).prop_map(Step::Rewind),
        1 => switches().prop_map(Step::Switch),
        1 => notes.prop_map(Step::Notes),
        1 => policy.prop_map(Step::Economy),
    ]
}
