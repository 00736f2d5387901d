//! Behaviour of the store, a file a topic.

mod support;

mod lines;
mod load;
mod tail;
