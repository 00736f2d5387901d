//! Made-up text, where a folder has too little to fill a window with. It says that it is made up.

use super::super::mind::Mind;

/// Bytes of made-up text in one answer, if there is room.
const LENGTH: usize = 14_000;

const WHO: &[&str] = &[
    "The keeper",
    "A helper",
    "The clerk",
    "A visitor",
    "The pilot",
    "The baker",
    "An engineer",
    "The librarian",
];
const DID: &[&str] = &[
    "counted", "carried", "sorted", "mended", "weighed", "painted", "listed", "found",
];
const WHAT: &[&str] = &[
    "lanterns",
    "old maps",
    "crates of apples",
    "ropes",
    "letters",
    "copper pipes",
    "clocks",
    "blankets",
    "ledgers",
];
const WHERE: &[&str] = &[
    "at the pier",
    "in the attic",
    "behind the mill",
    "on the night train",
    "under the bridge",
    "by the lighthouse",
];

/// A made-up log.
pub(super) fn text(mind: &mut Mind<'_>) -> String {
    let length = LENGTH.min(mind.ask.room * 2 / 3);
    let chance = &mut mind.chance;
    let mut text = String::from("A log that I make up, only to fill the window:\n");
    let mut line = 0;
    while text.len() < length {
        line += 1;
        text.push_str(&format!(
            "\n{line}. {} {} {} {} {}.",
            chance.say(WHO),
            chance.say(DID),
            chance.between(2, 900),
            chance.say(WHAT),
            chance.say(WHERE),
        ));
    }
    text
}
