//! What the loop says to the model: every text is a file of its own in `fragments/`.
//!
//! The two interrupt markers are those that Claude Code writes, so that other readers of the transcript recognize them.

/// The marker for a reply that the user stopped.
pub(crate) const INTERRUPTED: &str = "[Request interrupted by user]";
/// The marker for calls that the user stopped.
pub(crate) const INTERRUPTED_TOOLS: &str = "[Request interrupted by user for tool use]";

/// Whether a text of a user entry is one of the markers, and not something that the user said.
pub(crate) fn is_interrupt_marker(text: &str) -> bool {
    [INTERRUPTED, INTERRUPTED_TOOLS].contains(&text.trim())
}

/// The result of a call that was running when the user stopped the work.
pub(crate) fn interrupted() -> String {
    plain(include_str!("fragments/interrupted.txt"))
}

/// The result of a call that was never started.
pub(crate) fn not_run() -> String {
    plain(include_str!("fragments/not_run.txt"))
}

/// The result of a call that the user refused, with the user's instructions if there are any.
pub(crate) fn refused(said: Option<&str>) -> String {
    match said.map(str::trim).filter(|said| !said.is_empty()) {
        Some(said) => filled(include_str!("fragments/refused_saying.txt"), "said", said),
        None => plain(include_str!("fragments/refused.txt")),
    }
}

/// The result of a plan that the user does not agree to yet.
pub(crate) fn keep_planning() -> String {
    plain(include_str!("fragments/keep_planning.txt"))
}

/// The result of a call that a rule denied.
pub(crate) fn denied(reason: &str) -> String {
    filled(include_str!("fragments/denied.txt"), "reason", reason)
}

/// The result of a call that a hook denied.
pub(crate) fn hook_denied(reason: &str) -> String {
    filled(include_str!("fragments/hook_denied.txt"), "reason", reason)
}

/// The result of a call that nobody was there to approve.
pub(crate) fn unasked(reason: &str) -> String {
    filled(include_str!("fragments/unasked.txt"), "reason", reason)
}

/// The result of a call to a tool that does not exist.
pub(crate) fn unknown_tool(name: &str, names: &str) -> String {
    let text = filled(include_str!("fragments/unknown_tool.txt"), "names", names);
    // The name comes last: the model chose it, so it may contain anything.
    text.replace("{name}", &name.chars().take(100).collect::<String>())
}

/// The result of a call whose input is not an object.
pub(crate) fn bad_input() -> String {
    plain(include_str!("fragments/bad_input.txt"))
}

/// The result of a call whose tool panicked.
pub(crate) fn crashed() -> String {
    plain(include_str!("fragments/crashed.txt"))
}

/// The message of a hook that wants the work to continue.
pub(crate) fn stop_hook(reason: &str) -> String {
    filled(include_str!("fragments/stop_hook.txt"), "reason", reason)
}

fn plain(fragment: &str) -> String {
    fragment.trim_end().to_owned()
}

fn filled(fragment: &str, name: &str, value: &str) -> String {
    fragment.trim_end().replace(&format!("{{{name}}}"), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q1_what_the_loop_says_to_the_model() {
        let all = [
            interrupted(),
            not_run(),
            refused(None),
            refused(Some("Use the other file.")),
            keep_planning(),
            denied("a rule forbids it"),
            hook_denied("not on Fridays"),
            unasked("it writes"),
            unknown_tool("Frob", "Read, Write"),
            bad_input(),
            crashed(),
            stop_hook("run the tests"),
        ];
        assert!(all.iter().all(|text| text.len() < 300));
        insta::assert_snapshot!(all.join("\n---\n"));
    }
}
