//! The cache watch by itself: usage is made up here. Against a provider it is tested in the `longhaul` crate.

mod canonical;
mod findings;
mod overlap;
mod recorded;
mod rendered;
mod request;
mod thresholds;
