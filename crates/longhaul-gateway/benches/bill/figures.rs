//! How figures are given to this bench, and how it shows amounts.

use longhaul_core::money::Usd;

pub(crate) fn short(amount: Usd) -> String {
    format!("${:.2}", amount.to_f64())
}

pub(crate) fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |given| given.parse().unwrap())
}
