//! A request of the gateway's own while its answer is awaited. However that ends, what the provider has reported until
//! then is billed by it, so it is recorded and counted: also if the answer breaks off, cannot be read, or is not awaited
//! any longer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use longhaul_core::message::Usage;
use longhaul_provider::Dialect;

use crate::branch::{BranchId, BranchPlacement, GatewaySessionId, Tenant};
use crate::calling_agent::CallingAgent;
use crate::memory::MemoryBudget;
use crate::store::{CallEnding, CallOrigin, CallRecord};
use crate::watch::{OwnRequest, UsageCompleteness, UsageLogQueue, UsageTap};

/// Records the requests that the gateway makes itself.
#[derive(Debug, Clone)]
pub(crate) struct OwnRequestBooks {
    pub(crate) queue: UsageLogQueue,
    pub(crate) session: GatewaySessionId,
    pub(crate) line: BranchId,
    pub(crate) model: String,
    pub(crate) caller: CallingAgent,
    /// The hash of the caller's credentials.
    pub(crate) of_key: Tenant,
}

impl OwnRequestBooks {
    /// Sets where the client's request was placed.
    pub(crate) fn is_placed(&mut self, placed: BranchPlacement) {
        (self.session, self.line) = (placed.session, placed.line);
    }
}

/// The usage of all requests for one purpose.
#[derive(Debug, Clone, Default)]
pub(super) struct SpentUsage(Arc<Mutex<Usage>>);

impl SpentUsage {
    /// The usage so far; `None` if it is zero.
    pub(super) fn so_far(&self) -> Option<Usage> {
        let spent = self.lock().clone();
        (spent.total() > 0).then_some(spent)
    }

    /// Takes the usage so far, and counts from zero again.
    pub(super) fn take(&self) -> Usage {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Usage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that was sent. It is recorded when it is dropped.
pub(super) struct OwnCall<'c> {
    books: &'c OwnRequestBooks,
    spent: &'c SpentUsage,
    at: Timestamp,
    began: Instant,
    /// Reads the usage of an answer that may not come to its end; `None` before the request is accepted, and nothing is
    /// billed until then.
    tap: Option<UsageTap>,
    /// The usage of an answer that was read to its end.
    whole: Option<Usage>,
}

impl<'c> OwnCall<'c> {
    pub(super) fn begin(books: &'c OwnRequestBooks, spent: &'c SpentUsage) -> Self {
        Self {
            books,
            spent,
            at: Timestamp::now(),
            began: Instant::now(),
            tap: None,
            whole: None,
        }
    }

    /// The upstream has accepted the request, and answers with these headers.
    pub(super) fn accepted(
        &mut self,
        dialect: Dialect,
        headers: &HeaderMap,
        budget: &MemoryBudget,
    ) {
        self.tap = Some(UsageTap::new(dialect, headers, budget));
    }

    /// A part of the answer has arrived.
    pub(super) fn heard(&mut self, part: &Bytes) {
        if let Some(tap) = &mut self.tap {
            tap.take(part);
        }
    }

    /// The answer was read to its end, and says that it used this.
    pub(super) fn is_whole(&mut self, usage: &Usage) {
        self.whole = Some(usage.clone());
    }
}

impl Drop for OwnCall<'_> {
    fn drop(&mut self) {
        let Some(tap) = self.tap.take() else {
            return;
        };
        let (ended, usage, extent) = match self.whole.take() {
            Some(usage) => {
                let usage = (usage.total() > 0).then_some(usage);
                (CallEnding::Whole, usage, UsageCompleteness::Whole)
            }
            None => {
                let reading = tap.end(CallEnding::UpstreamFailed).reading();
                (CallEnding::UpstreamFailed, reading.usage, reading.extent)
            }
        };
        if let Some(usage) = &usage {
            self.spent.lock().add(usage);
        }
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.books.queue.own(OwnRequest {
            session: self.books.session,
            line: self.books.line,
            record: CallRecord {
                millis,
                ended,
                partial: usage.is_some() && extent == UsageCompleteness::Partial,
                caller: self.books.caller.clone(),
                origin: CallOrigin {
                    key: Some(self.books.of_key),
                    ..CallOrigin::default()
                },
                ..CallRecord::begun(self.at, self.books.model.clone(), 0, 200)
            },
            usage,
        });
    }
}
