//! Session notes in whole sessions: taken in the background, with a scripted model and with the offline world.

mod beside;
pub(crate) mod desk;
mod edits;
mod files;
mod fragments;
mod result;
mod text;
mod world;
