//! The step after an answer: what it measured is read, the conversation is planned for, and the call is written down, in
//! this order.

use std::sync::Arc;

use longhaul_core::message::Usage;
use tokio::runtime::Handle;

use crate::line::LineId;
use crate::manage::{Marked, Material};
use crate::state::State;
use crate::store::{CallRecord, Ended};
use crate::watch::{Done, Extent, Measured};

/// Said once of a line whose client leaves the cache unused.
const UNMARKED: &str =
    "cache not used: the client sets no cache markers; the gateway sets them from this request on";

/// What is known of a call that has ended, beside what its answer measured.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) call: u64,
    pub(super) line: Option<LineId>,
    pub(super) record: CallRecord,
    /// What its conversation can be made smaller from, if it is managed.
    pub(super) material: Option<Box<Material>>,
}

/// See the module. What takes long to read is read on a thread of its own.
pub(super) fn after_reply(state: &Arc<State>, report: Report, mut measured: Measured) {
    measured.read_if_short();
    match (measured, Handle::try_current()) {
        (Measured::Usage(usage, extent), _) => follow(state, report, usage, extent),
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

fn follow(state: &State, report: Report, usage: Option<Usage>, extent: Extent) {
    let Report {
        call,
        line,
        mut record,
        material,
    } = report;
    if let (Some(material), Some(usage)) = (material, &usage) {
        record.rewritten = material.sending.replaced.is_some();
        if material.marked == Marked::ManagedNow {
            record.finding = Some(UNMARKED.to_owned());
        }
        if record.ended == Ended::Whole && record.status == 200 && usage.context() > 0 {
            record.saved = state.care.saved(&material, usage);
            state.care.answered(*material, usage);
        }
    }
    state.desk.done(Done {
        call,
        line,
        record,
        usage,
        extent,
    });
}
