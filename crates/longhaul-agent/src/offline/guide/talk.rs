//! Small talk: who answers, what it can do, what it did not understand.

use longhaul_sim::model::conversation::first_line;

use super::scene::Scene;

/// Who answers.
pub(super) fn who() -> String {
    include_str!("who.md").trim_end().to_owned()
}

/// What it can do.
pub(super) fn help(scene: &Scene<'_>) -> String {
    include_str!("help.md")
        .trim_end()
        .replace("{here}", scene.here())
}

pub(super) fn thanks(scene: &Scene<'_>) -> String {
    let say = ["You are welcome.", "Gladly.", "Any time."];
    scene.chance().say(&say).to_owned()
}

/// An order that lacks something.
pub(super) fn unclear(how: &str) -> String {
    format!("I understand only simple words. Put it like this: {how}")
}

/// An end without words of its own.
pub(super) fn without_tools() -> String {
    "I may not use tools for this, and without them I know nothing: I am a simulated model."
        .to_owned()
}

/// What goes through its mind as it begins.
pub(super) fn thought(scene: &Scene<'_>) -> String {
    format!(
        "The user says “{}”. I go by the words in it.",
        first_line(scene.goal(), 100)
    )
}
