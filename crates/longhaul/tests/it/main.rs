//! The library against the offline world.
