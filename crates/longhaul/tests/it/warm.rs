//! A long session in the offline world: every request reads what the one before had written, for as long as the cache
//! lives.

use longhaul_core::models::{PriorThinking, ThinkingBinding};
use longhaul_core::prompt::CacheSettings;
use longhaul_sim::world::{World, WorldOptions};

use crate::host::spec;
use crate::turns::{New, Session, Tally, Worker};

const MINUTE: u64 = 60_000;
const REQUESTS: usize = 300;
/// Minutes for which nothing happens, before every third prompt: shorter and longer than either lifetime.
const GAPS: [u64; 20] = [
    2, 6, 4, 70, 7, 3, 61, 10, 4, 90, 6, 1, 59, 5, 65, 20, 3, 8, 120, 6,
];

/// A session of many turns, with sub-agents, pauses, forks and restarts.
fn run(model: &str, settings: CacheSettings) {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(WorldOptions::new(11, Box::new(Worker)));
    let mut main = Session::new(&mut world, folder.path(), "main", model, settings);
    let mut agents = Tally::default();
    let mut gaps = GAPS.iter();
    let mut prompts = 0;
    while main.tally.requests < REQUESTS {
        prompts += 1;
        if prompts % 3 == 0
            && let Some(minutes) = gaps.next()
        {
            world.advance(minutes * MINUTE);
            if minutes % 2 == 0 {
                main.restart();
            }
        }
        if prompts % 16 == 0 {
            main.fork(&mut world);
        }
        main.prompt(prompts);
        let mut new = New::Prompt;
        while main.exchange(&mut world, new) {
            new = New::Results;
            if main.tally.requests % 60 == 10 {
                let name = format!("explore-{}", main.tally.requests);
                let mut agent = Session::new(&mut world, folder.path(), &name, model, settings);
                agent.prompt(1);
                let mut new = New::Prompt;
                while agent.exchange(&mut world, new) {
                    new = New::Results;
                }
                agents.requests += agent.tally.requests;
                agents.read += agent.tally.read;
            }
        }
    }
    assert!(gaps.next().is_none(), "all pauses were made");
    assert!(agents.requests > 10 && agents.read > 0);
    let tally = &main.tally;
    println!(
        "{model}, {:?}: {} requests, {} after expiry, {} after thinking was taken out, hit rate {:.1} %, {} of sub-agents",
        main.ttl,
        tally.requests,
        tally.expired,
        tally.stripped,
        tally.hit_rate() * 100.0,
        agents.requests,
    );
    let least = match main.prior {
        PriorThinking::Keep => 0.9,
        PriorThinking::Strip => 0.6,
    };
    assert!(tally.hit_rate() > least, "{}", tally.hit_rate());
}

fn lifetimes() -> [CacheSettings; 2] {
    [false, true].map(|one_hour| CacheSettings {
        one_hour,
        ..CacheSettings::default()
    })
}

#[test]
fn b1_a_long_session_reads_all_it_wrote_on_a_model_that_keeps_thinking() {
    assert_eq!(
        spec("claude-opus-4-8").thinking.binding,
        ThinkingBinding::None
    );
    lifetimes()
        .into_iter()
        .for_each(|settings| run("claude-opus-4-8", settings));
}

#[test]
fn n2_a_long_session_reads_all_it_wrote_on_a_model_that_binds_thinking() {
    assert_eq!(
        spec("claude-fable-5-2").thinking.binding,
        ThinkingBinding::Always
    );
    lifetimes()
        .into_iter()
        .for_each(|settings| run("claude-fable-5-2", settings));
}

#[test]
fn b1_a_long_session_on_a_model_that_strips_thinking_loses_only_what_lies_behind_it() {
    assert_eq!(
        spec("claude-sonnet-4-5").thinking.prior,
        PriorThinking::Strip
    );
    lifetimes()
        .into_iter()
        .for_each(|settings| run("claude-sonnet-4-5", settings));
}
