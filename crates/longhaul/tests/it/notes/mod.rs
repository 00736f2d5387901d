//! Session notes in whole sessions: taken beside the conversation, against a scripted model and the offline world.

mod beside;
pub(crate) mod desk;
mod edits;
mod files;
mod fragments;
mod text;
mod world;
