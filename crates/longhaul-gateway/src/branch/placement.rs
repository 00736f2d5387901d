//! Where a request was placed among the known branches, and what the store says of one.
use jiff::Timestamp;

use super::chain::HistoryChain;
use super::ids::{BranchId, GatewaySessionId};
use super::tenant::Tenant;

/// How a request relates to the known branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchRelation {
    /// No known branch leads to it.
    New,
    /// It repeats the newest request of its branch, or an earlier one, and adds nothing.
    Again,
    /// It continues the newest request of its branch, which had this many messages.
    Extends(u32),
    /// It shares this many messages with a branch that has continued differently.
    Branches(BranchId, u32),
}

/// Where a request was placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchPlacement {
    /// The branch of the request.
    pub line: BranchId,
    /// The tenant that owns the branch.
    pub tenant: Tenant,
    /// The session that the branch belongs to.
    pub session: GatewaySessionId,
    /// How the request relates to the branches that were known.
    pub relation: BranchRelation,
    /// The tip of the branch now: further on than the request, if the request repeats an earlier one of its branch.
    pub stands: HistoryChain,
    /// When the branch was used last, as the store recorded it before this gateway started or for another gateway.
    pub last_used: Option<Timestamp>,
}

/// A branch loaded from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredBranch {
    /// The tenant that owns the branch.
    pub tenant: Tenant,
    /// The id of the branch.
    pub line: BranchId,
    /// The session that the branch belongs to.
    pub session: GatewaySessionId,
    /// The tip of the branch.
    pub chain: HistoryChain,
    /// When the branch was used last.
    pub last_used: Option<Timestamp>,
}
