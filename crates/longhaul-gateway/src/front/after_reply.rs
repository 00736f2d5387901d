//! The step after a response: its usage is read, the conversation's next compaction is planned, and the call is
//! recorded, in this order.

use std::sync::Arc;

use longhaul_core::message::Usage;
use tokio::runtime::Handle;

use crate::branch::BranchId;
use crate::manage::{BreakpointOwner, RequestContext};
use crate::state::GatewayState;
use crate::store::{CallEnding, CallRecord};
use crate::watch::{CompletedCall, ResponseUsage, UsageCompleteness};

/// Reported once for a branch whose client leaves the cache unused.
const UNMARKED: &str =
    "cache not used: the client sets no cache markers; the gateway sets them from this request on";

/// The known facts about a finished call, besides the usage in its response.
#[derive(Debug)]
pub(super) struct CallReport {
    pub(super) call: u64,
    pub(super) line: Option<BranchId>,
    pub(super) record: CallRecord,
    /// The context from which the conversation can be compacted, if it is managed.
    pub(super) context: Option<Box<RequestContext>>,
}

/// Does everything that follows a response. A response that takes long to read is read on a blocking thread.
pub(super) fn after_reply(
    state: &Arc<GatewayState>,
    report: CallReport,
    mut measured: ResponseUsage,
) {
    measured.read_if_short();
    match (measured, Handle::try_current()) {
        (ResponseUsage::Usage(usage, extent), _) => follow(state, report, usage, extent),
        (kept, Ok(runtime)) => {
            let state = Arc::clone(state);
            drop(runtime.spawn_blocking(move || {
                let (usage, extent) = kept.usage();
                follow(&state, report, usage, extent);
            }));
        }
        (kept, Err(_)) => {
            let (usage, extent) = kept.usage();
            follow(state, report, usage, extent);
        }
    }
}

fn follow(
    state: &GatewayState,
    report: CallReport,
    usage: Option<Usage>,
    extent: UsageCompleteness,
) {
    let CallReport {
        call,
        line,
        mut record,
        context: material,
    } = report;
    if let (Some(material), Some(usage)) = (material, &usage) {
        record.rewritten = material.outgoing.replaced.is_some();
        if material.marked == BreakpointOwner::ManagedNow {
            record.finding = Some(UNMARKED.to_owned());
        }
        if record.ended == CallEnding::Whole && record.status == 200 && usage.context() > 0 {
            record.saved = state.compactor.saved(&material, usage);
            state.compactor.answered(*material, usage);
        }
    }
    state.usage_queue.done(CompletedCall {
        call,
        line,
        record,
        usage,
        extent,
    });
}
