//! What a break cost: what had to be written again, at the price of writing instead of that of reading.

use crate::message::{IterationKind, Usage};
use crate::models::ModelSpec;
use crate::money::Usd;

/// What a reply would have cost less had `missed` more tokens been read from the cache; none without prices.
///
/// What is missed lies at the front of what was written: first what was written for an hour, then what was written for
/// five minutes, then plain input.
pub fn cost_of_cache_miss(spec: &ModelSpec, usage: &Usage, missed: u64) -> Option<Usd> {
    let is_message = |kind: IterationKind| kind == IterationKind::Message;
    let first = (usage.iterations.iter()).find(|step| is_message(step.kind));
    let paid = Usage {
        batch: usage.batch,
        us_only: usage.us_only,
        iterations: Vec::new(),
        ..first.map_or(usage, |step| &step.usage).clone()
    };
    let mut read = paid.clone();
    let mut left = missed;
    for class in [
        &mut read.cache_write_1h,
        &mut read.cache_write_5m,
        &mut read.input,
    ] {
        let moved = left.min(*class);
        *class -= moved;
        read.cache_read += moved;
        left -= moved;
    }
    Some(spec.cost(&paid)? - spec.cost(&read)?)
}
