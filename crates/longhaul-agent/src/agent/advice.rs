//! What to do about a turn that failed, in a sentence for people. The provider itself says why it failed.

use longhaul_core::engine::EffectFailureKind;

/// The advice for a kind of failure; `None` where only trying again helps, or where the user was already told something
/// else.
pub(super) fn against(kind: EffectFailureKind) -> Option<&'static str> {
    Some(match kind {
        EffectFailureKind::Network | EffectFailureKind::Transient => {
            "Check the network and ANTHROPIC_BASE_URL, then say \"go on\"; your prompt is kept."
        }
        EffectFailureKind::Auth => {
            "Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; --continue resumes this session."
        }
        EffectFailureKind::Billing => {
            "Top the account up, then say \"go on\"; your prompt is kept."
        }
        EffectFailureKind::NotFound => "/model or --model chooses another model.",
        EffectFailureKind::Overloaded | EffectFailureKind::RateLimited => {
            "Say \"go on\" in a while to try again; your prompt is kept."
        }
        _ => return None,
    })
}
