//! The cost of a break: the tokens that had to be written again, at the price of writing instead of reading.

use crate::message::{IterationKind, Usage};
use crate::models::ModelSpec;
use crate::money::Usd;

/// How much less a reply would have cost if `missed` more tokens had been read from the cache. None without prices.
///
/// The missed tokens are the first ones that were written: first those written for an hour, then those written for five
/// minutes, then plain input.
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
