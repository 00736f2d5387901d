//! The cache watch against the offline world: every kind of change is named, and nothing else is called a break.
//!
//! `LONGHAUL_WATCH_RUNS=10000 cargo test -p longhaul --release cache_watch` makes 10,000 runs of each kind; the default
//! is a few hundred.

mod clean;
mod kinds;
mod session;
mod told;

use kinds::{Expected, Kind};
use longhaul_core::cache::CacheVerdict;
use session::{Outcome, Session};

/// Runs in all if the environment does not say otherwise.
const RUNS: u64 = 300;

fn runs() -> u64 {
    let asked = std::env::var("LONGHAUL_WATCH_RUNS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(RUNS)
}

fn run(kind: &Kind, seed: u64) {
    let name = kind.name;
    let mut session = Session::new(seed, kind.models);
    (kind.prepare)(&mut session);
    let turns = session.chance.between(6, 8);
    for turn in 0..turns {
        let quiet = session.step();
        let finding = quiet.verdict.finding();
        assert!(
            finding.is_none(),
            "{name}, seed {seed}, turn {turn}: {finding:?}"
        );
    }
    (kind.inject)(&mut session);
    let Outcome {
        verdict,
        reply,
        changed,
    } = session.step();
    match (kind.expected, &verdict) {
        (Expected::Break(right), CacheVerdict::Broke(finding)) => {
            let words = finding.sentence(None);
            assert!(
                right(&finding.cause, &words),
                "{name}, seed {seed}: {words}"
            );
            assert_eq!(finding.to, reply.usage.cache_read);
            let cost = finding.cost.unwrap();
            assert!(
                cost.pico() > 0 && cost <= reply.cost.unwrap(),
                "{name}, seed {seed}: {words}"
            );
            assert!(finding.diff.contains("cache broke") && finding.diff.len() <= 65_536);
        }
        (Expected::Quiet, verdict) => {
            assert!(
                verdict.finding().is_none(),
                "{name}, seed {seed}: {verdict:?}"
            );
        }
        (_, verdict) => panic!("{name}, seed {seed}: {verdict:?}, usage {:?}", reply.usage),
    }
    if let Some(diagnosis) = kind.diagnosis {
        let said = changed.unwrap_or_default();
        assert!(
            said.starts_with(diagnosis),
            "{name}, seed {seed}: the simulator says {said:?}"
        );
    }
    // One break is one alarm.
    let next = session.step();
    let finding = next.verdict.finding();
    assert!(
        finding.is_none(),
        "{name}, seed {seed}, the turn after: {finding:?}"
    );
}

#[test]
fn d2_every_kind_of_change_is_named_as_the_cause() {
    let kinds = kinds::all();
    assert!(kinds.len() >= 30, "{}", kinds.len());
    for nth in 0..runs() {
        run(&kinds[nth as usize % kinds.len()], nth);
    }
}

#[test]
fn d2_clean_runs_raise_no_alarm() {
    for nth in 0..runs() {
        clean::run(nth);
    }
}
