//! Any pattern of growth: with background work, nothing is refused and no turn is requested that the window cannot
//! hold.

use std::sync::Arc;

use longhaul::EconomyPolicy;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::host::{Host, Mode, Setup, Tending};
use super::plan::{Flow, plan};

fn cases() -> u32 {
    let asked = std::env::var("LONGHAUL_CASES").ok();
    asked.map_or(24, |cases| cases.parse().unwrap())
}

const UNSTALLED: [Mode; 3] = [Mode::NoStall, Mode::Both, Mode::Collapse];
const POLICIES: [EconomyPolicy; 3] = [
    EconomyPolicy::Off,
    EconomyPolicy::Clear,
    EconomyPolicy::Full,
];
const MODELS: [&str; 2] = ["claude-sonnet-4-6", "claude-opus-5-5"];

/// The same sessions each time, unless more are asked for by `LONGHAUL_CASES`: those are drawn anew.
fn sessions() -> RngSeed {
    match std::env::var_os("LONGHAUL_CASES") {
        Some(_) => RngSeed::Random,
        None => RngSeed::Fixed(7),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), rng_seed: sessions(), failure_persistence: None, max_shrink_iters: 50, ..ProptestConfig::default() })]

    #[test]
    fn x5_v5_however_the_window_fills_nothing_is_refused_or_too_long(
        seed in any::<u64>(),
        window in 30_000..120_000_u64,
        // Lines of a result, in thousandths of the window's tokens: a turn may take half of it.
        burst in 1..9_u64,
        mode in 0..UNSTALLED.len(),
        model in 0..MODELS.len(),
        attends in any::<bool>(),
        economy in 0..POLICIES.len(),
    ) {
        let setup = Setup {
            mode: UNSTALLED[mode],
            tending: if attends { Tending::Attends } else { Tending::LooksAway },
            model: MODELS[model],
            window,
            economy: POLICIES[economy],
        };
        let most = u32::try_from(window * burst / 1_000).unwrap();
        let steps = Arc::new(plan(seed, 120, Flow::Bursts(most)));
        let folder = tempfile::tempdir().unwrap();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        let (refused, rejected) = runtime.block_on(async {
            let mut host = Host::new(setup, steps, folder.path());
            host.live().await;
            (host.refused.clone(), host.provider.rejected())
        });
        prop_assert_eq!(refused, Vec::<String>::new());
        // A request for a summary may be too long where one turn added half a window: it is tried again with less (L1).
        // Folding leaves the most in view, so that rarely a turn is too long there, too, and is recovered (O3).
        let is_turn = |why: &&String| why.starts_with("sdk") && UNSTALLED[mode] != Mode::Collapse;
        let is_wrong = |why: &&String| is_turn(why) || !why.contains("prompt is too long");
        prop_assert_eq!(rejected.iter().filter(is_wrong).count(), 0, "{:?}", rejected);
    }
}
