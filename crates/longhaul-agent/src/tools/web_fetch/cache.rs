//! Pages of the last 15 minutes, in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use longhaul::Clock;
use url::Url;

/// How long a page is kept.
const KEPT: SignedDuration = SignedDuration::from_mins(15);
/// The maximum number of pages; each is cut to what a model may see.
const MOST: usize = 50;

/// The cached pages, by address.
pub(super) struct PageCache {
    clock: Arc<dyn Clock>,
    pages: Mutex<BTreeMap<String, (Timestamp, Arc<str>)>>,
}

impl PageCache {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            pages: Mutex::default(),
        }
    }

    /// The cached page, if it is not too old.
    pub(super) fn get(&self, url: &Url) -> Option<Arc<str>> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, text) = pages.get(url.as_str())?;
        self.is_fresh(*at).then(|| text.clone())
    }

    pub(super) fn put(&self, url: &Url, text: &Arc<str>) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|_, (at, _)| self.is_fresh(*at));
        let oldest = pages.iter().min_by_key(|(_, (at, _))| *at);
        if let Some(oldest) = oldest.map(|(url, _)| url.clone())
            && pages.len() >= MOST
        {
            pages.remove(&oldest);
        }
        pages.insert(url.to_string(), (self.clock.now(), text.clone()));
    }

    fn is_fresh(&self, at: Timestamp) -> bool {
        // If the clock was set back, the age is negative; then the page is fetched again.
        let age = self.clock.now().duration_since(at);
        !age.is_negative() && age < KEPT
    }
}
