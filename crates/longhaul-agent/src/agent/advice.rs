//! What to do about a request that failed, in a sentence for people. Why it failed is the provider's to say.

use longhaul_provider::ErrorClass;

/// What helps; none where only trying again does, or where something else is told already.
pub(super) fn against(class: ErrorClass) -> Option<&'static str> {
    Some(match class {
        ErrorClass::Retry { .. } | ErrorClass::Timeout(_) | ErrorClass::Cut => {
            "Check the network and ANTHROPIC_BASE_URL, then say \"go on\"; what you said is kept."
        }
        ErrorClass::Auth => {
            "Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; --continue goes on with this session."
        }
        ErrorClass::Billing => "Top the account up, then say \"go on\"; what you said is kept.",
        ErrorClass::NotFound => "/model or --model names another model.",
        ErrorClass::Overloaded { .. }
        | ErrorClass::RateLimited { .. }
        | ErrorClass::Server { .. } => {
            "Say \"go on\" in a while to try again; what you said is kept."
        }
        ErrorClass::TooLong(_)
        | ErrorClass::TooLarge
        | ErrorClass::Invalid
        | ErrorClass::Cancelled
        | ErrorClass::Malformed => return None,
    })
}
