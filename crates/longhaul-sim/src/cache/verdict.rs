//! What happened to each position of a prompt, and why. Neighboring positions with the same result form one run.

use serde::Serialize;

use super::{Billing, CacheLookup, CacheMissReason};
use crate::prompt::LaidOutPrompt;
use crate::request::CacheLifetime;

/// What happened to a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheClass {
    /// It was read from the cache.
    Read,
    /// It was written to the cache for five minutes.
    #[serde(rename = "written_5m")]
    WrittenFiveMinutes,
    /// It was written to the cache for an hour.
    #[serde(rename = "written_1h")]
    WrittenOneHour,
    /// It was plain input.
    Input,
}

/// Neighboring positions with the same result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PositionRun {
    /// The index of the first position.
    pub start: usize,
    /// The number of positions.
    pub positions: usize,
    /// The place of the first position.
    pub from: String,
    /// The place of the last position.
    pub to: String,
    /// The tokens of the positions, including the overhead between them.
    pub tokens: u64,
    /// What happened to the positions.
    pub class: CacheClass,
    /// The reason.
    pub why: String,
}

/// What happened to a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PromptVerdict {
    /// The runs, without gaps, from the first position to the last.
    pub runs: Vec<PositionRun>,
    /// The tokens after the last position, where the reply begins; they are always input.
    pub opening: u64,
    /// Why no longer prefix was read, if one could have been.
    pub missed: Option<String>,
}

impl PromptVerdict {
    /// The verdict on a prompt.
    pub fn of(
        prompt: &LaidOutPrompt,
        found: &CacheLookup,
        billing: &Billing,
        minimum: u64,
    ) -> Self {
        let mut runs = Vec::new();
        let mut next = 0;
        let mut run = |end: usize, class: CacheClass, why: String| {
            let (start, count) = (next, end.saturating_sub(next));
            let place = |index: usize| prompt.positions.get(index).map(|p| p.place.clone());
            if let (true, Some(from), Some(to)) =
                (count > 0, place(start), place(end.saturating_sub(1)))
            {
                runs.push(PositionRun {
                    start,
                    positions: count,
                    from,
                    to,
                    tokens: prompt.up_to(end) - prompt.up_to(start),
                    class,
                    why,
                });
                next = end;
            }
        };
        if let Some(index) = found.read {
            let place = place_of(prompt, index);
            run(
                index + 1,
                CacheClass::Read,
                format!("an entry ends at {place}"),
            );
        }
        let last = |ttl: CacheLifetime| {
            let mut of_ttl = found.written.iter().rev();
            of_ttl
                .find(|(_, written)| *written == ttl)
                .map(|(index, _)| *index)
        };
        for (ttl, class) in [
            (CacheLifetime::OneHour, CacheClass::WrittenOneHour),
            (CacheLifetime::FiveMinutes, CacheClass::WrittenFiveMinutes),
        ] {
            if let Some(index) = last(ttl) {
                let place = place_of(prompt, index);
                run(index + 1, class, format!("a breakpoint is at {place}"));
            }
        }
        let why = match (prompt.markers.is_empty(), found.too_short.last()) {
            (true, _) => "the request has no breakpoint".to_owned(),
            (false, Some(&index)) if found.written.is_empty() => format!(
                "the prefix up to {} has {} tokens, the model caches from {minimum} on",
                place_of(prompt, index),
                prompt.up_to(index + 1)
            ),
            _ => "after the last breakpoint".to_owned(),
        };
        run(prompt.positions.len(), CacheClass::Input, why);
        debug_assert_eq!(billing.prompt(), prompt.tokens);
        Self {
            runs,
            opening: prompt.tokens - prompt.up_to(prompt.positions.len()),
            missed: found.missed.map(|missed| sentence(prompt, missed)),
        }
    }

    /// What happened to one position.
    pub fn class_of(&self, index: usize) -> Option<CacheClass> {
        let run = self
            .runs
            .iter()
            .find(|run| (run.start..run.start + run.positions).contains(&index));
        run.map(|run| run.class)
    }
}

fn place_of(prompt: &LaidOutPrompt, index: usize) -> &str {
    prompt.positions.get(index).map_or("", |p| p.place.as_str())
}

fn sentence(prompt: &LaidOutPrompt, missed: CacheMissReason) -> String {
    let place = |index| place_of(prompt, index);
    match missed {
        CacheMissReason::Expired { index, since_ms } => {
            format!("the entry at {} expired {since_ms} ms ago", place(index))
        }
        CacheMissReason::Evicted { index } => format!("the entry at {} was evicted", place(index)),
        CacheMissReason::NotYetReadable { index, for_ms } => format!(
            "the response that makes the entry at {} readable begins in {for_ms} ms",
            place(index)
        ),
        CacheMissReason::OutOfReach { index, distance } => format!(
            "the entry at {} is {distance} positions before the next breakpoint, which looks at {}",
            place(index),
            super::LOOK_BACK
        ),
        CacheMissReason::NeverWritten => "no longer prefix was ever written".to_owned(),
    }
}
