//! Tests the engine, one effect at a time.

mod ahead;
mod anew;
mod cancelled;
mod compacting;
mod counted;
mod desk;
mod failing;
mod folding;
mod folds_due;
mod kept;
mod late;
mod native;
mod notes;
mod once;
mod prefix_edits;
mod prepared;
mod prices;
mod recounted;
mod reduced;
mod resumed;
mod tight;
mod turns;
mod unanswered;
mod view;
mod without_model;
mod worth;
