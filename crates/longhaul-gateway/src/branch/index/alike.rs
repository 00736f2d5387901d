//! Branches whose newest request begins as a body does, so that the body need not be read from its beginning.

use std::sync::Arc;

use super::super::ids::BranchId;
use super::super::landmarks::{BodyBeginnings, RememberedRequest};
use super::BranchIndex;

/// How many branches that begin with the same bytes are compared.
const ALIKE: usize = 8;

impl BranchIndex {
    /// Remembers the newest request of a branch.
    pub(in super::super) fn remember(
        &mut self,
        id: BranchId,
        mine: Vec<u64>,
        request: Arc<RememberedRequest>,
    ) {
        let Some(line) = self.lines.get_mut(&id) else {
            return;
        };
        line.remembered = Some(request);
        self.remembering.insert((line.seen, id));
        self.begins_with(id, mine);
        self.reckon(id);
        self.stay_within();
    }

    /// Sets the beginnings of its newest request by which a branch is looked up.
    fn begins_with(&mut self, id: BranchId, mine: Vec<u64>) {
        let Some(line) = self.lines.get_mut(&id) else {
            return;
        };
        if line.starts == mine {
            return;
        }
        let before = std::mem::replace(&mut line.starts, mine.clone());
        self.forget_starts(&before, id);
        for start in mine {
            let alike = self.starts.entry(start).or_default();
            alike.push(id);
            if alike.len() > ALIKE {
                alike.remove(0);
            }
        }
    }

    /// The newest requests of the branches that begin as a body does, the longest agreement first.
    pub(in super::super) fn alike(&self, starts: &BodyBeginnings) -> Vec<Arc<RememberedRequest>> {
        let lines = starts
            .hashes()
            .rev()
            .filter_map(|start| self.starts.get(&start))
            .flat_map(|alike| alike.iter().rev());
        let mut found: Vec<Arc<RememberedRequest>> = Vec::new();
        for request in lines.filter_map(|id| self.lines.get(id)?.remembered.as_ref()) {
            if !found.iter().any(|other| Arc::ptr_eq(other, request)) {
                found.push(Arc::clone(request));
            }
            if found.len() == ALIKE {
                break;
            }
        }
        found
    }
}
