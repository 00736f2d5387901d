//! What the loop says to the model: every text a file of its own in `fragments/`.
//!
//! The two interrupt markers are those that Claude Code writes, so that other readers of the transcript know them.

/// The user stopped a reply.
pub(crate) const INTERRUPTED: &str = "[Request interrupted by user]";
/// The user stopped calls.
pub(crate) const INTERRUPTED_TOOLS: &str = "[Request interrupted by user for tool use]";

/// A call that was running when the user stopped the work.
pub(crate) fn interrupted() -> String {
    plain(include_str!("fragments/interrupted.txt"))
}

/// A call whose turn never came.
pub(crate) fn not_run() -> String {
    plain(include_str!("fragments/not_run.txt"))
}

/// The user said no, and maybe what to do instead.
pub(crate) fn refused(said: Option<&str>) -> String {
    match said.map(str::trim).filter(|said| !said.is_empty()) {
        Some(said) => filled(include_str!("fragments/refused_saying.txt"), "said", said),
        None => plain(include_str!("fragments/refused.txt")),
    }
}

/// A rule says no.
pub(crate) fn denied(reason: &str) -> String {
    filled(include_str!("fragments/denied.txt"), "reason", reason)
}

/// A hook says no.
pub(crate) fn hook_denied(reason: &str) -> String {
    filled(include_str!("fragments/hook_denied.txt"), "reason", reason)
}

/// Nobody was there to say yes.
pub(crate) fn unasked(reason: &str) -> String {
    filled(include_str!("fragments/unasked.txt"), "reason", reason)
}

/// A tool that does not exist.
pub(crate) fn unknown_tool(name: &str, names: &str) -> String {
    let text = filled(include_str!("fragments/unknown_tool.txt"), "names", names);
    // The name last: it is the model's own and may hold anything.
    text.replace("{name}", &name.chars().take(100).collect::<String>())
}

/// An input that is no object.
pub(crate) fn bad_input() -> String {
    plain(include_str!("fragments/bad_input.txt"))
}

/// A tool that panicked.
pub(crate) fn crashed() -> String {
    plain(include_str!("fragments/crashed.txt"))
}

/// A hook that wants the work to go on.
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
