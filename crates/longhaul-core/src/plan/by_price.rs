//! The conditions of decisions by price (V5) that do not depend on who holds the conversation: the engine, or a client
//! that sends it whole each time.

use crate::economy::{EconomyPolicy, PrefixWarmth};
use crate::micro::PressureOwner;
use crate::models::ModelSpec;
use crate::prompt::Ttl;
use crate::window::{SwitchVerdict, SwitchableAction, Switches};

/// Returns the policy that is in effect: none where the user's switches or unknown prices do not permit the one that was
/// asked for.
pub fn policy_in_effect(
    asked: EconomyPolicy,
    switches: &Switches,
    model: &ModelSpec,
) -> EconomyPolicy {
    let may_act = switches.decide(SwitchableAction::Automatic) == SwitchVerdict::Allowed;
    if may_act && model.prices.is_some() {
        asked
    } else {
        EconomyPolicy::Off
    }
}

/// Whether results may be cleared by price: the user's switches permit it, and the provider clears none itself.
pub fn may_clear_by_price(switches: &Switches, owner: PressureOwner) -> bool {
    switches.decide(SwitchableAction::Micro) == SwitchVerdict::Allowed
        && owner == PressureOwner::Ours
}

/// Returns what the provider's cache does for the next request of a conversation whose requests have cache breakpoints:
/// it is hot until the start of the last one plus its lifetime, and where nothing is known. A view below the model's
/// minimum is not cached.
pub(crate) fn prefix_warmth(
    view: u64,
    model: &ModelSpec,
    ttl: Ttl,
    idle_seconds: Option<i64>,
) -> PrefixWarmth {
    if view < model.cache_minimum {
        PrefixWarmth::Uncached
    } else {
        PrefixWarmth::after(idle_seconds, ttl)
    }
}
