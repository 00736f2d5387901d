//! What to do about a turn that failed, in a sentence for people. Why it failed is the provider's to say.

use longhaul_core::engine::FailedKind;

/// What helps; none where only trying again does, or where something else is told already.
pub(super) fn against(kind: FailedKind) -> Option<&'static str> {
    Some(match kind {
        FailedKind::Network | FailedKind::Transient => {
            "Check the network and ANTHROPIC_BASE_URL, then say \"go on\"; what you said is kept."
        }
        FailedKind::Auth => {
            "Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; --continue goes on with this session."
        }
        FailedKind::Billing => "Top the account up, then say \"go on\"; what you said is kept.",
        FailedKind::NotFound => "/model or --model names another model.",
        FailedKind::Overloaded | FailedKind::RateLimited => {
            "Say \"go on\" in a while to try again; what you said is kept."
        }
        FailedKind::TooLong { .. }
        | FailedKind::Invalid
        | FailedKind::Cancelled
        | FailedKind::Other => return None,
    })
}
