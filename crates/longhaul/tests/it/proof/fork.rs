//! What the request for a summary reads from the cache (F7).

use longhaul_core::engine::{Event, Summarizer};

use super::person::Person;
use super::place::{MODELS, Place, Setup};

/// For each compaction by a fork: what the request before it had sent, and what the summary's request read.
async fn reads(model: &'static str) -> Vec<(u64, u64)> {
    let setup = Setup {
        system: "Mind the style guide: short functions, no globals, tests first. ".repeat(500),
        ..Setup::new(model, 100_000)
    };
    let place = Place::new(setup).await;
    let mut session = place.open();
    let mut person = Person::new(5);
    person.longest_result = 300;
    while place.told.compactions().len() < 3 {
        person.exchange(&place, &mut session).await;
    }
    assert_eq!(place.rejections(), Vec::<String>::new());
    let mut sent = 0;
    let mut reads = Vec::new();
    for event in place.told.events() {
        match event {
            Event::Replied { usage, .. } => {
                sent = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
            }
            Event::Compacted(done) => {
                assert_eq!(done.by, Summarizer::Fork);
                reads.push((sent, done.usage.unwrap().cache_read));
            }
            _ => {}
        }
    }
    reads
}

#[tokio::test]
async fn f7_a_summary_reads_from_cache_what_the_request_before_had_sent() {
    for model in MODELS {
        let reads = reads(model).await;
        let (sent, read) = reads
            .iter()
            .fold((0, 0), |sum, (sent, read)| (sum.0 + sent, sum.1 + read));
        assert!(
            read as f64 >= 0.85 * sent as f64,
            "{model}: {read} of {sent} in all"
        );
        for (sent, read) in reads {
            let share = read as f64 / sent as f64;
            println!("{model}: {sent} sent, {read} read, {:.1} %", share * 100.0);
            assert!(sent > 50_000, "{sent}");
            // A model that strips earlier thinking does so when the request for a summary comes: what follows the
            // newest turn's first thought cannot be read. How long that turn is depends on the transcript's path.
            let least = if model == MODELS[2] { 0.75 } else { 0.95 };
            assert!(share >= least, "{model}: {read} of {sent}");
        }
    }
}
