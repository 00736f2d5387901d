//! stub
use bytes::Bytes;
pub fn without_thinking(e: &Bytes) -> Bytes { e.clone() }
pub fn without_marks(e: &Bytes) -> Bytes { e.clone() }
