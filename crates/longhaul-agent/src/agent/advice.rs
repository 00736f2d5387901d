//! What to do about a turn that failed, in a sentence for people. The provider itself says why it failed.

use longhaul_core::engine::EffectFailureKind;
use longhaul_core::prompt::UserPresence;

/// The advice for a kind of failure; `None` where only trying again helps, or where the user was already told something
/// else.
pub(super) fn against(kind: EffectFailureKind, presence: UserPresence) -> Option<String> {
    let advice = sentence(kind)?;
    Some(match presence {
        UserPresence::Attended => advice.to_owned(),
        // There is no prompt to say it at.
        UserPresence::Unattended => advice
            .replace("Say \"go on\"", AGAIN)
            .replace(
                "then say \"go on\"",
                &format!("then {}", AGAIN.replacen('R', "r", 1)),
            )
            .replace("/model or ", ""),
    })
}

/// How work goes on in print mode.
const AGAIN: &str = "Run -p 'go on' with --continue";

fn sentence(kind: EffectFailureKind) -> Option<&'static str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q1_advice_in_print_mode_names_a_command() {
        let kind = EffectFailureKind::Overloaded;
        assert_eq!(
            against(kind, UserPresence::Unattended).as_deref(),
            Some("Run -p 'go on' with --continue in a while to try again; your prompt is kept.")
        );
        let kind = EffectFailureKind::Billing;
        assert_eq!(
            against(kind, UserPresence::Unattended).as_deref(),
            Some("Top the account up, then run -p 'go on' with --continue; your prompt is kept.")
        );
        let told = against(kind, UserPresence::Attended).unwrap();
        assert!(told.contains("then say \"go on\""), "{told}");
    }
}
