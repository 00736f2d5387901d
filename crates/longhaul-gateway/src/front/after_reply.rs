//! The step after a response: its usage is read, the conversation's next compaction is planned, and the call is
//! recorded, in this order.

use std::sync::Arc;

use http::HeaderMap;
use tokio::runtime::Handle;

use crate::branch::{BranchId, Credentials};
use crate::manage::{BreakpointOwner, RequestContext};
use crate::options::SessionNames;
use crate::state::GatewayState;
use crate::store::{CallEnding, CallRecord};
use crate::watch::{CompletedCall, ErrorDetail, ResponseReading, ResponseUsage};

/// Reported once for a branch whose client leaves the cache unused.
const UNMARKED: &str = "cache not used: the client sets no cache breakpoints; the gateway sets them from this request on";

/// The known facts about a finished call, besides the usage in its response.
#[derive(Debug)]
pub(super) struct CallReport {
    pub(super) call: u64,
    pub(super) line: Option<BranchId>,
    pub(super) record: CallRecord,
    /// The context from which the conversation can be compacted, if it is managed.
    pub(super) context: Option<Box<RequestContext>>,
    /// What must not be in the record.
    pub(super) secrets: CallSecrets,
}

/// What a call was sent with that must not be in its record.
#[derive(Debug, Clone, Default)]
pub(super) struct CallSecrets {
    /// The headers that were passed on.
    pub(super) headers: Arc<HeaderMap>,
    /// The query of its address.
    pub(super) query: Option<String>,
}

impl CallSecrets {
    fn credentials(&self) -> Credentials {
        Credentials::of(&self.headers, self.query.as_deref())
    }
}

/// Does everything that follows a response.
pub(super) fn after_reply(state: &Arc<GatewayState>, report: CallReport, measured: ResponseUsage) {
    read_and_follow(state, report, measured, FollowUp::PlanAndRecord);
}

/// Records a call whose response nobody read to its end. Nothing is measured by it, and nothing is started after it.
pub(super) fn after_abandoned_reply(
    state: &Arc<GatewayState>,
    report: CallReport,
    measured: ResponseUsage,
) {
    read_and_follow(state, report, measured, FollowUp::Record);
}

/// What follows a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowUp {
    /// The call is recorded.
    Record,
    /// The conversation's next compaction is planned, if the response is whole, and the call is recorded.
    PlanAndRecord,
}

/// Reads the usage of a response, on a blocking thread if that takes long, and does what follows.
fn read_and_follow(
    state: &Arc<GatewayState>,
    report: CallReport,
    mut measured: ResponseUsage,
    follow_up: FollowUp,
) {
    measured.read_if_short();
    match (measured, Handle::try_current()) {
        (ResponseUsage::Read(reading), _) => follow(state, report, reading, follow_up),
        (kept, Ok(runtime)) => {
            let state = Arc::clone(state);
            drop(runtime.spawn_blocking(move || {
                follow(&state, report, kept.reading(), follow_up);
            }));
        }
        (kept, Err(_)) => {
            follow(state, report, kept.reading(), follow_up);
        }
    }
}

fn follow(state: &GatewayState, report: CallReport, reading: ResponseReading, follow_up: FollowUp) {
    let CallReport {
        call,
        line,
        mut record,
        context,
        secrets,
    } = report;
    let ResponseReading {
        usage,
        extent,
        written,
        error,
    } = reading;
    if let Some(error) = error {
        // A response that began well and then reports an error has failed.
        if record.ended == CallEnding::Whole && record.status < 400 {
            record.ended = CallEnding::UpstreamFailed;
        }
        let detail = match (&context, state.session_names) {
            (Some(_), SessionNames::FirstWords) => ErrorDetail::Message,
            _ => ErrorDetail::Kind,
        };
        record.error = error.told(detail, &secrets.credentials());
    }
    let is_whole = record.ended == CallEnding::Whole && record.status == 200;
    let is_planned = is_whole && follow_up == FollowUp::PlanAndRecord;
    match (context, &usage) {
        (Some(context), Some(usage)) => {
            record.rewritten = context.outgoing.replaced.is_some();
            if context.marked == BreakpointOwner::ManagedNow {
                record.finding = Some(UNMARKED.to_owned());
            }
            if is_planned && usage.context() > 0 {
                record.saved = state.compactor.saved(&context, usage);
                state.compactor.answered(*context, usage);
            }
        }
        (Some(context), None) if is_planned => {
            record.rewritten = context.outgoing.replaced.is_some();
            state.compactor.answered_without_usage(*context, written);
        }
        _ => {}
    }
    state.usage_queue.done(CompletedCall {
        call,
        line,
        record,
        usage,
        extent,
    });
}
