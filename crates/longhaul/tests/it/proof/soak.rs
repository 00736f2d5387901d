//! A long session with faults of all kinds in a small window: it finishes, nothing is rejected, nothing is lost unsaid.
//!
//! `LONGHAUL_SOAK_TURNS` makes it longer, `LONGHAUL_SOAK_SEEDS` (as in `1,2,3`) runs it for several seeds.

use std::collections::BTreeMap;
use std::time::Instant;

use longhaul_core::engine::Event;
use longhaul_core::money::Usd;

use super::person::Person;
use super::place::{MODELS, Place, Setup};

const FAULTS: &str = "5%: 529, 500, 429(retry-after=0), 429(retry-after=none), slow(5ms), stall(after=2), \
    stall(after=4,for=20ms), reset(0), reset(4), truncate(2), truncate(9), malformed(1), malformed(5), error(1), error(6)";
const MISBEHAVIOR: &str = "summary:empty@0.02,summary:tool@0.03,summary:refuse@0.02,summary:long@0.03,\
    summary:cut@0.02,summary:error@0.02,summary:untagged@0.03,summary:silent@0.02,\
    turn:silent@0.01,turn:refuse@0.01,turn:cut@0.01,tool:unknown@0.01,tool:invalid@0.01";

fn turns(bounded: usize) -> usize {
    let asked = std::env::var("LONGHAUL_SOAK_TURNS").ok();
    asked.map_or(bounded, |turns| turns.parse().unwrap())
}

fn seeds() -> Vec<u64> {
    let asked = std::env::var("LONGHAUL_SOAK_SEEDS").unwrap_or_else(|_| "1".to_owned());
    asked.split(',').map(|seed| seed.parse().unwrap()).collect()
}

async fn soak(setup: Setup, turns: usize) {
    let started = Instant::now();
    let place = Place::new(setup).await;
    let mut session = place.open();
    let mut person = Person::new(place.setup.seed);
    person.longest_result = (place.setup.window / 500) as u32;
    for turn in 0..turns {
        match person.below(40) {
            0 => place.later(70 * 60),
            1 | 2 => place.later(6 * 60),
            _ => {}
        }
        person.exchange(&place, &mut session).await;
        if turn % 50 == 49 || turn + 1 == turns {
            nothing_is_lost_unsaid(&place, &person, &session);
        }
    }
    let figures = figures(&place, &person);
    println!(
        "{} {}K seed {}: {turns} turns, {figures}, {:.1} s",
        place.setup.model,
        place.setup.window / 1_000,
        place.setup.seed,
        started.elapsed().as_secs_f64()
    );
    assert_eq!(place.rejections(), Vec::<String>::new());
    assert_eq!(person.refused, Vec::<String>::new());
    let compactions = place.told.compactions();
    let grown = compactions
        .iter()
        .filter(|done| done.after >= done.before)
        .count();
    assert_eq!(grown, 0);
    // Clearing by price may keep a session of results small by itself.
    let events = place.told.events();
    let clearings = (events.iter()).filter(|event| matches!(event, Event::MicroCompacted { .. }));
    let shortened = compactions.len() + clearings.count();
    assert!(
        shortened > turns / 100,
        "{shortened} compactions and clearings"
    );
    let (told, booked) = bill(&place);
    assert!(told > Usd::default() && told <= booked, "{told} {booked}");
}

/// Every message of the user is in view word for word, or the loss report counts it.
fn nothing_is_lost_unsaid(place: &Place, person: &Person, session: &longhaul::Session) {
    let missing = person.missing(session).len() as u64;
    let compactions = place.told.compactions();
    let Some(newest) = compactions.last() else {
        return assert_eq!(missing, 0);
    };
    let counted = newest.report.user_messages;
    assert_eq!(
        counted.total,
        counted.verbatim + counted.shortened + counted.omitted
    );
    assert!(
        missing <= counted.shortened + counted.omitted,
        "{missing} are missing, the report has {counted:?}: {:?}",
        person.missing(session).last()
    );
}

/// The cost that the session reported, and what the provider billed. Replies that broke off are billed, too.
fn bill(place: &Place) -> (Usd, Usd) {
    let mut told = Usd::default();
    for event in place.told.events() {
        match event {
            Event::Replied { cost, .. } => told += cost.unwrap_or_default(),
            Event::Compacted(done) => told += done.cost.unwrap_or_default(),
            _ => {}
        }
    }
    let booked = place
        .server
        .with_world(|world| world.usage_log().total.cost_usd);
    (told, booked)
}

fn figures(place: &Place, person: &Person) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for event in place.told.events() {
        let kind = match event {
            Event::Compacted(done) => format!("compacted {} {:?}", done.trigger.as_str(), done.by),
            Event::CompactFailed { kind, message } => format!("failed {kind:?}: {message}"),
            Event::MicroCompacted { reason, .. } => format!("cleared {reason:?}"),
            Event::TooLongRetry { .. } => "too long retry".to_owned(),
            Event::SummaryCutOff => "summary cut off".to_owned(),
            Event::ThresholdExceededAfter { .. } => "still over".to_owned(),
            Event::BreakerTripped => "breaker".to_owned(),
            Event::CacheBreak(finding) => {
                let cause = format!("{:?}", finding.cause);
                let cause = cause.split(" {").next().unwrap_or_default();
                format!("break {cause}")
            }
            _ => continue,
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let log = place.log();
    let faults = log.iter().filter(|line| line["fault"].is_string()).count();
    let too_long = log
        .iter()
        .filter(|line| line["error"].to_string().contains("too long"))
        .count();
    let report = place
        .told
        .compactions()
        .last()
        .map(|done| done.report.user_messages);
    let books = place.server.with_world(|world| world.usage_log().total);
    let (told, _) = bill(place);
    format!(
        "{} requests, {faults} faults, {too_long} too long, {} failed turns, {kinds:?}, words {report:?}, \
         prompt {} output {} hit rate {:.3}, cost {told} told {} booked",
        log.len(),
        person.failed_turns,
        books.prompt_tokens(),
        books.output_tokens,
        books.hit_rate,
        books.cost_usd,
    )
}

async fn soak_at(window: u64, enforced: u64, bounded: usize) {
    for seed in seeds() {
        for model in MODELS {
            let setup = Setup {
                enforced: Some(enforced),
                faults: FAULTS,
                misbehavior: MISBEHAVIOR,
                seed,
                ..Setup::new(model, window)
            };
            soak(setup, turns(bounded)).await;
        }
    }
}

#[tokio::test]
async fn y1_a_long_session_with_faults_in_a_window_of_12k_finishes() {
    soak_at(12_000, 12_000, 50).await;
}

#[tokio::test]
async fn y1_a_long_session_with_faults_in_a_window_of_30k_finishes() {
    soak_at(30_000, 30_000, 50).await;
}

#[tokio::test]
async fn y1_a_long_session_with_faults_in_a_window_of_100k_finishes() {
    soak_at(100_000, 100_000, 50).await;
}

#[tokio::test]
async fn e1_without_faults_the_bill_told_is_the_bill_booked() {
    for model in MODELS {
        let place = Place::new(Setup::new(model, 12_000)).await;
        let mut session = place.open();
        let mut person = Person::new(3);
        for _ in 0..25 {
            person.exchange(&place, &mut session).await;
        }
        assert!(!place.told.compactions().is_empty());
        assert_eq!(place.rejections(), Vec::<String>::new());
        let (told, booked) = bill(&place);
        assert_eq!(told, booked, "{model}");
    }
}

#[tokio::test]
async fn o3_a_long_session_finishes_where_the_window_is_smaller_than_believed() {
    soak_at(30_000, 20_000, 50).await;
}
