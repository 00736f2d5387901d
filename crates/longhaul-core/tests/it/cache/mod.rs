//! Tests the cache break detector alone, with made-up usage. The `longhaul` crate tests it against a provider.

mod canonical;
mod findings;
mod overlap;
mod recorded;
mod rendered;
mod request;
mod thresholds;
