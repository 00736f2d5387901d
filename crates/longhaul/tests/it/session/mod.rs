//! Whole sessions over HTTP in the offline world: a real client, a real transcript, virtual time.

mod cancels;
mod clearings;
mod counted_low;
mod dense;
mod failures;
pub(crate) mod house;
mod leased;
mod lost_replies;
mod native;
mod newest_models;
mod on_disk;
mod others_words;
mod own_storage;
mod partial;
mod patience;
mod reduced;
mod restored_files;
mod scripted;
mod set;
mod summary_request;
mod too_long;
mod turn_cost;
mod waiting;
mod watched;
mod window_exceeded;

use house::{House, Talk};

#[tokio::test]
async fn o1_a_session_in_a_small_window_goes_on_through_many_compactions() {
    let mut house = House::new("claude-sonnet-4-6", 30_000).await;
    let mut talk = Talk::new(7);
    for turn in 0..60 {
        house.exchange(&mut talk, turn).await;
    }
    let told = house.told();
    println!("{told}");
    assert!(told.compactions >= 3, "{told}");
    assert_eq!(told.failures, 0, "{told}");
    house.every_word_is_there(&talk);
}
