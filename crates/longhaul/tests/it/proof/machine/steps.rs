//! The steps that may happen to an engine.

use longhaul::EconomyPolicy;
use proptest::prelude::*;

/// Something that happens.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Say(u16),
    Answer(u16),
    Turn,
    Compact(Kind),
    Cancel,
    Wake,
    Later(u32),
    /// The clock is set back.
    Back(u32),
    /// Other actions are decided by price.
    Economy(EconomyPolicy),
    /// The effect at this place is performed, or fails.
    Perform(u8, How),
    /// An outcome that was already given is given again.
    Again(u8),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Whole,
    Local,
    Preview,
    UpTo(u8),
    From(u8),
    Approved,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum How {
    Well,
    Transient,
    TooLong(Option<u16>),
    Cancelled,
    Badly,
    /// An outcome of another kind.
    Otherwise,
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![
        12 => Just(How::Well),
        1 => Just(How::Transient),
        1 => proptest::option::of(1..5_000_u16).prop_map(How::TooLong),
        1 => Just(How::Cancelled),
        1 => Just(How::Badly),
        1 => Just(How::Otherwise),
    ]
}

pub(super) fn policy() -> impl Strategy<Value = EconomyPolicy> {
    prop_oneof![
        Just(EconomyPolicy::Off),
        Just(EconomyPolicy::Clear),
        Just(EconomyPolicy::Full),
    ]
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        Just(Kind::Whole),
        Just(Kind::Local),
        Just(Kind::Preview),
        any::<u8>().prop_map(Kind::UpTo),
        any::<u8>().prop_map(Kind::From),
        Just(Kind::Approved),
    ];
    prop_oneof![
        4 => (1..600_u16).prop_map(Step::Say),
        4 => (1..1_500_u16).prop_map(Step::Answer),
        5 => Just(Step::Turn),
        2 => kind.prop_map(Step::Compact),
        1 => Just(Step::Cancel),
        1 => Just(Step::Wake),
        1 => prop_oneof![1..60_u32, 4_000..8_000_u32].prop_map(Step::Later),
        1 => (1..8_000_u32).prop_map(Step::Back),
        1 => policy().prop_map(Step::Economy),
        30 => (0..3_u8, how()).prop_map(|(at, how)| Step::Perform(at, how)),
        1 => any::<u8>().prop_map(Step::Again),
    ]
}
