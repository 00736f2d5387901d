//! Speaks to model APIs.
