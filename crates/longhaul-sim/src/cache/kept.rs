//! Cache entries that outlive the process: each is kept by its age, so that another world with another clock can take
//! it in. Only entries that can be read are kept.

use serde::{Deserialize, Serialize};

use super::entries::{CacheAccount, CachedPrefix, SimPromptCache};
use crate::call::VirtualMillis;
use crate::request::CacheLifetime;

/// A cache entry without a clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCacheEntry {
    account: u64,
    /// The hash of the prefix, in hexadecimal: JSON has no integers of that size.
    prefix: String,
    lifetime: KeptLifetime,
    /// Milliseconds since the entry was last used.
    age_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum KeptLifetime {
    #[serde(rename = "5m")]
    FiveMinutes,
    #[serde(rename = "1h")]
    OneHour,
}

impl SimPromptCache {
    /// The entries that can be read now, the most recently used first, at most this many.
    pub(crate) fn kept(&self, now: VirtualMillis, most: usize) -> Vec<KeptCacheEntry> {
        let live = self.entries().filter(|(_, entry)| entry.is_live(now));
        let mut kept: Vec<KeptCacheEntry> = live
            .map(|((account, prefix), entry)| KeptCacheEntry {
                account: account.0,
                prefix: format!("{prefix:032x}"),
                lifetime: match entry.ttl {
                    CacheLifetime::FiveMinutes => KeptLifetime::FiveMinutes,
                    CacheLifetime::OneHour => KeptLifetime::OneHour,
                },
                age_ms: now.0.saturating_sub(entry.used.0),
            })
            .collect();
        kept.sort_by(|one, other| (one.age_ms, &one.prefix).cmp(&(other.age_ms, &other.prefix)));
        kept.truncate(most);
        kept
    }

    /// Takes in entries that were kept this many milliseconds ago. What has expired since, or was used before this
    /// clock began, or cannot be read, is left out.
    pub(crate) fn take_in(&mut self, kept: &[KeptCacheEntry], ago_ms: u64, now: VirtualMillis) {
        for entry in kept {
            let age = entry.age_ms.saturating_add(ago_ms);
            let used = now.0.checked_sub(age).map(VirtualMillis);
            let prefix = u128::from_str_radix(&entry.prefix, 16);
            let (Some(used), Ok(prefix)) = (used, prefix) else {
                continue;
            };
            let cached = CachedPrefix {
                ttl: match entry.lifetime {
                    KeptLifetime::FiveMinutes => CacheLifetime::FiveMinutes,
                    KeptLifetime::OneHour => CacheLifetime::OneHour,
                },
                written: used,
                used,
                readable: used,
                evicted: false,
            };
            if cached.is_live(now) {
                self.insert_older(CacheAccount(entry.account), prefix, cached);
            }
        }
    }
}
