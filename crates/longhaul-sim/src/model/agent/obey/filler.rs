//! Made-up text, for folders that have too little to fill a window. The text says that it is made up.

use super::super::turn::AgentTurn;

/// The number of bytes of made-up text in one answer, if there is room.
const LENGTH: usize = 14_000;

const WHO: &str =
    "The keeper|A helper|The clerk|A visitor|The pilot|The baker|An engineer|The librarian";
const DID: &str = "counted|carried|sorted|mended|weighed|painted|listed|found";
const WHAT: &str =
    "lanterns|old maps|crates of apples|ropes|letters|copper pipes|clocks|blankets|ledgers";
const WHERE: &str = "at the pier|in the attic|behind the mill|on the night train|under the bridge|by the lighthouse";

/// A made-up log.
pub(super) fn text(mind: &mut AgentTurn<'_>) -> String {
    let length = LENGTH.min(mind.ask.room * 2 / 3);
    let mut one = |list: &str| {
        let words: Vec<&str> = list.split('|').collect();
        mind.chance.pick(&words).copied().unwrap_or("").to_owned()
    };
    let mut text = String::from("A log that I make up, only to fill the window:\n");
    for line in 1.. {
        if text.len() >= length {
            break;
        }
        let (who, did, what, at) = (one(WHO), one(DID), one(WHAT), one(WHERE));
        text.push_str(&format!(
            "\n{line}. {who} {did} {} {what} {at}.",
            line * 37 % 899 + 2
        ));
    }
    text
}
