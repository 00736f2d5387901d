//! What to do about a turn that failed, in a sentence for people. Why it failed is the provider's to say.

use longhaul_core::engine::EffectFailureKind;

/// What helps; none where only trying again does, or where something else is told already.
pub(super) fn against(kind: EffectFailureKind) -> Option<&'static str> {
    Some(match kind {
        EffectFailureKind::Network | EffectFailureKind::Transient => {
            "Check the network and ANTHROPIC_BASE_URL, then say \"go on\"; what you said is kept."
        }
        EffectFailureKind::Auth => {
            "Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; --continue goes on with this session."
        }
        EffectFailureKind::Billing => {
            "Top the account up, then say \"go on\"; what you said is kept."
        }
        EffectFailureKind::NotFound => "/model or --model names another model.",
        EffectFailureKind::Overloaded | EffectFailureKind::RateLimited => {
            "Say \"go on\" in a while to try again; what you said is kept."
        }
        EffectFailureKind::TooLong { .. }
        | EffectFailureKind::Invalid
        | EffectFailureKind::Cancelled
        | EffectFailureKind::Other => return None,
    })
}
