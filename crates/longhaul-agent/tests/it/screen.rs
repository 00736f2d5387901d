//! Tests of screen.
