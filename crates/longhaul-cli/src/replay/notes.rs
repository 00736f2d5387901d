//! What a replay assumes, and what was odd about the recordings, in sentences.

use longhaul_core::replay::{ReplayedHost, SessionFacts};

use super::ReplayResult;
use crate::terminal::dollars;
use crate::text::count;

/// What every replay assumes.
const ALWAYS: [&str; 5] = [
    "A request reads from the cache what the one before it sent, unless the cache lifetime has passed since that one began, the model changed, or something before it was removed.",
    "Sizes are the measured growth between two requests, shared out over their entries by estimate.",
    "A summary is 4,000 tokens with 2,000 beside them, keeps the newest 10,000 tokens and up to 20,000 tokens of the user's messages, and reads the view once.",
    "What the model wrote is the same under every policy; nothing that was cleared had to be fetched again.",
    "`best` knows how the session goes on. It is a lower bound for clearing from any result on, and for summaries at any time.",
];

/// The assumptions, in the order in which they are shown.
pub(super) fn assumptions(result: &ReplayResult) -> Vec<String> {
    let mut notes: Vec<String> = ALWAYS.map(str::to_owned).into();
    if let Some(deviation) = result.totals.deviation {
        let percent = 100.0 * deviation;
        let which = match result.sessions.replayed.len() {
            1 => "The same computation".to_owned(),
            _ => "For half of the sessions, the same computation".to_owned(),
        };
        notes.push(format!(
            "{which} of the recorded prompts is {} the recorded bill.",
            match result.sessions.replayed.len() {
                1 => format!("{percent:.1}% off"),
                _ => format!("within {percent:.1}% of"),
            }
        ));
    }
    if result.basis.host == ReplayedHost::Gateway {
        notes.push("A gateway decides: each reply stands for one reading of what came before it, and once something was removed the provider's cache is found after the request prefix, at the one breakpoint that the gateway keeps, and where the latest eight requests ended. Near the threshold it makes a summary of everything that was sent, which takes 45 seconds, is held back until the threshold is reached and restores up to five files of 5,000 tokens.".to_owned());
    }
    if let Some(model) = &result.basis.model {
        notes.push(format!(
            "Policies are priced as {model}; the recorded bill is that of the recorded models. Where the newer tokenizer replaces the older one, sizes grow by 30%."
        ));
    }
    notes
}

/// What was odd about the recordings.
pub(super) fn oddities(result: &ReplayResult) -> Vec<String> {
    let SessionFacts {
        damaged_lines,
        without_usage,
        sidechain_answers,
        partial_outputs,
        compactions,
        rewinds,
        clock_steps_back,
        model_switches,
        ..
    } = result.totals.facts;
    let mut notes = Vec::new();
    let mut note = |number: u64, one: &str, many: &str| {
        if number > 0 {
            notes.push(format!("{}.", count(number, one, many)));
        }
    };
    note(
        damaged_lines,
        "line is damaged and was left out",
        "lines are damaged and were left out",
    );
    note(
        without_usage,
        "reply has no usage and is not billed",
        "replies have no usage and are not billed",
    );
    note(
        partial_outputs,
        "reply records only the beginning of its output, so the output is estimated",
        "replies record only the beginning of their output, so the output is estimated",
    );
    note(
        sidechain_answers,
        "reply of a sub-agent in the same file is not replayed",
        "replies of sub-agents in the same files are not replayed",
    );
    note(
        model_switches,
        "switch of model in mid-session, which begins with a cold cache",
        "switches of model in mid-session, each of which begins with a cold cache",
    );
    note(
        rewinds,
        "rewind is replayed as if nothing had been taken back",
        "rewinds are replayed as if nothing had been taken back",
    );
    note(
        clock_steps_back,
        "request seems older than the one before it, so the cache is taken as hot",
        "requests seem older than the ones before them, so the cache is taken as hot",
    );
    note(
        result.sessions.repeated_answers,
        "reply is in more than one session and counts in each",
        "replies are in more than one session and count in each",
    );
    if compactions > 0 {
        notes.push(format!(
            "{}: their own requests, about {}, are not in the recorded bill.",
            count(compactions, "recorded compaction", "recorded compactions"),
            dollars(result.totals.recorded_summaries.to_f64())
        ));
    }
    notes
}
