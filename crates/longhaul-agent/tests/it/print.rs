//! Tests of print.
