//! The cache watch of a session: modes of the host, where diffs go, small models.

use super::house::{House, Talk};

/// Talks until much is cached, then lets the provider lose all of it.
async fn broken(model: &str, before_last: impl FnOnce(&mut House)) -> House {
    let mut house = House::new(model, 200_000).await;
    let mut talk = Talk::new(3);
    for turn in 0..8 {
        house.exchange(&mut talk, turn).await;
    }
    house.server.with_world(|world| world.evict());
    before_last(&mut house);
    house.exchange(&mut talk, 8).await;
    house
}

#[tokio::test]
async fn d1_a_mode_of_the_host_that_flips_is_named() {
    let house = broken("claude-sonnet-4-6", |house| {
        house.session.set_mode("fast", Some("on".to_owned()));
    })
    .await;
    let breaks = house.told().breaks;
    assert!(
        breaks.first().is_some_and(|told| told.contains("fast")),
        "{breaks:?}"
    );
}

#[tokio::test]
async fn d3_small_models_are_not_watched_unless_the_user_wants_it() {
    let watched = broken("claude-sonnet-4-6", |_| {}).await;
    assert_eq!(watched.told().breaks.len(), 1);
    let small = broken("claude-haiku-4-5", |_| {}).await;
    assert_eq!(small.told().breaks, Vec::<String>::new());
}

#[tokio::test]
async fn a1_another_prompt_holds_from_the_next_request_on_and_its_break_is_explained() {
    let mut house = House::new("claude-sonnet-4-6", 200_000).await;
    let mut talk = Talk::new(3);
    for turn in 0..8 {
        house.exchange(&mut talk, turn).await;
    }
    let mut prompt = super::house::prompt("claude-sonnet-4-6");
    prompt.system = longhaul::System::Custom("Never touch the database. Be brief.".to_owned());
    house.session.set_prompt(&prompt).unwrap();
    house.exchange(&mut talk, 8).await;
    let head = house.session.engine().assembly().unwrap().head();
    assert!(head.system.get().contains("Never touch the database."));
    let breaks = house.told().breaks;
    assert!(
        breaks.first().is_some_and(|told| told.contains("system")),
        "{breaks:?}"
    );
}
