//! A store on a server that several gateways share.

use std::sync::Arc;

use super::{GatewayStorage, PeerStore};
use crate::branch::Tenants;

/// A store on a server that several gateways share, and what comes with it.
pub struct SharedStore {
    /// The store itself.
    pub store: Arc<dyn GatewayStorage>,
    /// The same store, as the place where gateways find each other's branches.
    pub peers: Arc<dyn PeerStore>,
    /// The tenants, the same for every gateway that uses the store.
    pub tenants: Tenants,
}
