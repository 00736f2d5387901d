//! t
/// t
pub fn validate() {}
