//! The step after an answer: what it measured is read, the conversation is planned for, and the call is written down, in
//! this order.

use std::sync::Arc;

use longhaul_core::message::Usage;
use tokio::runtime::Handle;

use crate::branch::LineId;
use crate::manage::{BreakpointOwner, RequestContext};
use crate::state::GatewayState;
use crate::store::{CallEnding, CallRecord};
use crate::watch::{CompletedCall, ResponseUsage, UsageCompleteness};

/// Said once of a line whose client leaves the cache unused.
const UNMARKED: &str =
    "cache not used: the client sets no cache markers; the gateway sets them from this request on";

/// What is known of a call that has ended, beside what its answer measured.
#[derive(Debug)]
pub(super) struct CallReport {
    pub(super) call: u64,
    pub(super) line: Option<LineId>,
    pub(super) record: CallRecord,
    /// What its conversation can be made smaller from, if it is managed.
    pub(super) context: Option<Box<RequestContext>>,
}

/// See the module. What takes long to read is read on a thread of its own.
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
