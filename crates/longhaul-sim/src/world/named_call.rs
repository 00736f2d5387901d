//! A call as the world answers it.

use crate::call::ApiCall;

/// A call with its session and its request id.
#[derive(Debug)]
pub(super) struct NamedCall<'a> {
    pub(super) call: &'a ApiCall,
    pub(super) session: &'a str,
    pub(super) request_id: String,
}
