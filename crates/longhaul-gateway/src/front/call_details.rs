//! What is known of a call while it is in flight.

use std::time::Instant;

use jiff::Timestamp;
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;
use longhaul_provider::Dialect;

use super::after_reply::CallSecrets;
use crate::branch::{BranchId, BranchPlacement, BranchRelation, PendingPlacement, Tenant};
use crate::calling_agent::CallingAgent;
use crate::manage::{BreakpointOwner, Recallability, RequestContext};
use crate::policy::RequestPolicy;
use crate::watch::{SentRequest, WatchedRequest};

/// The known facts about a call while it is in flight.
pub(super) struct CallDetails {
    pub(super) number: u64,
    pub(super) at: Timestamp,
    pub(super) began: Instant,
    pub(super) of_key: Tenant,
    pub(super) dialect: Dialect,
    pub(super) policy: RequestPolicy,
    /// Where the conversation was placed, and how many messages it has.
    pub(super) placed: Option<(BranchPlacement, u32)>,
    pub(super) model: Option<String>,
    pub(super) note: Option<String>,
    /// What was sent, if the conversation is managed.
    pub(super) context: Option<Box<RequestContext>>,
    /// How often the request was too long and was shortened.
    pub(super) shortened: u32,
    /// Whether its thinking was rejected and left out.
    pub(super) unbound: bool,
    /// The facts that are remembered about it, once the upstream has answered successfully.
    pub(super) waiting: Option<Box<UnrecordedPlacement>>,
    /// Whether nothing may be remembered of it, because it came from another machine without credentials.
    pub(super) is_apart: bool,
    /// Whether the client itself sent the header in which the upstream names organizations: the response may only echo
    /// it.
    pub(super) tells_organization: bool,
    /// How long the request was held, in milliseconds.
    pub(super) waited: u64,
    /// Which actions are decided by their price, if a rule says so for this request.
    pub(super) economy: Option<EconomyPolicy>,
    /// How new results are made smaller, if a rule says so for this request.
    pub(super) reduce: Option<ResultReduction>,
    /// Which agent made it.
    pub(super) caller: CallingAgent,
    /// Whether the model has a tool that brings back what is no longer sent.
    pub(super) recall: Recallability,
    /// Whether the client's request has cache breakpoints; `None` for an API that has none.
    pub(super) has_breakpoints: Option<bool>,
    /// When the answer began, in milliseconds after the request arrived.
    pub(super) answered_after: Option<u64>,
    /// What must not be in its record.
    pub(super) secrets: CallSecrets,
}

impl Default for CallDetails {
    fn default() -> Self {
        Self {
            number: 0,
            at: Timestamp::UNIX_EPOCH,
            began: Instant::now(),
            of_key: Tenant(0),
            dialect: Dialect::Anthropic,
            policy: RequestPolicy::default(),
            placed: None,
            model: None,
            note: None,
            context: None,
            shortened: 0,
            unbound: false,
            waiting: None,
            is_apart: false,
            tells_organization: false,
            economy: None,
            reduce: None,
            waited: 0,
            caller: CallingAgent::default(),
            recall: Recallability::NotRecallable,
            has_breakpoints: None,
            answered_after: None,
            secrets: CallSecrets::default(),
        }
    }
}

impl CallDetails {
    /// The upstream did not accept the body, and a different one is sent. The rejected body was never cached: nothing
    /// is compared with it.
    pub(super) fn is_resent(&mut self, watch: Option<WatchedRequest>) {
        if let Some(waiting) = &mut self.waiting {
            waiting.sent.watch = watch;
        }
    }

    /// Whether it was sent with cache breakpoints; `None` for an API that has none.
    pub(super) fn sent_breakpoints(&self) -> Option<bool> {
        let managed = self.context.as_ref().map(|context| context.marked);
        match managed {
            Some(BreakpointOwner::Managed | BreakpointOwner::ManagedNow) => Some(true),
            _ => self.has_breakpoints,
        }
    }

    /// The branch that the request continues or has begun. A branch that it would only have begun is not known to
    /// anyone.
    pub(super) fn line(&self) -> Option<BranchId> {
        let (placed, _) = self.placed.as_ref()?;
        let begins = matches!(
            placed.relation,
            BranchRelation::New | BranchRelation::Branches(..)
        );
        (self.waiting.is_none() || !begins).then_some(placed.line)
    }
}

/// A request whose place was found, as it is to be remembered and recorded.
pub(super) struct UnrecordedPlacement {
    pub(super) pending: PendingPlacement,
    pub(super) sent: SentRequest,
}
