//! Behaviour of the store, a file a topic.

mod support;

mod append;
mod child;
mod disk_full;
mod kill;
mod lines;
mod load;
mod processes;
mod tail;
