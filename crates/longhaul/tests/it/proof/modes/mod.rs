//! The modes of keeping the window small, against each other: the same session under each, in virtual time.
//!
//! `LONGHAUL_MODES_TURNS` makes it longer, `LONGHAUL_MODES_SEED` another, `LONGHAUL_MODES_KEEP` names a folder for the transcripts.

mod bursts;
#[cfg(unix)]
mod dropped;
mod host;
mod looking;
mod plan;
mod prices;
mod provider;
mod table;
mod undone;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul::EconomyPolicy;
use longhaul_core::engine::Summarizer;
use longhaul_core::inspect::{Inspection, InspectionReport, LineEnd};
use longhaul_core::models::ModelTable;
use longhaul_core::window::WindowSettings;

use host::{Host, Mode, Setup, Tending};
use plan::{Flow, plan};
use table::{Figures, table};

const WINDOW: u64 = 100_000;
/// How long a session that ends waits for its notes.
const PATIENCE: Duration = Duration::from_secs(120);

fn turns() -> usize {
    let asked = std::env::var("LONGHAUL_MODES_TURNS").ok();
    asked.map_or(500, |turns| turns.parse().unwrap())
}

fn seed() -> u64 {
    let asked = std::env::var("LONGHAUL_MODES_SEED").ok();
    asked.map_or(1, |seed| seed.parse().unwrap())
}

/// Where transcripts go.
struct Folder {
    path: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Folder {
    fn new(name: &str) -> Self {
        let Some(kept) = std::env::var_os("LONGHAUL_MODES_KEEP") else {
            let temporary = tempfile::tempdir().unwrap();
            return Self {
                path: temporary.path().to_owned(),
                _temporary: Some(temporary),
            };
        };
        let path = PathBuf::from(kept).join(name);
        // Sessions start fresh.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self {
            path,
            _temporary: None,
        }
    }
}

/// Runs the session in a mode. Nothing is lost, refused, rejected or grown on the way, and the bill is right.
async fn lived(setup: Setup, steps: &Arc<Vec<plan::Step>>, folder: &Folder) -> Figures {
    let mut host = Host::new(setup, Arc::clone(steps), &folder.path);
    host.live().await;
    let lost = host.missing().len();
    host.session.take().unwrap().close(PATIENCE).await;
    let figures = Figures::of(&host);
    let name = figures.name.clone();
    println!("{name}: {:?} {:?}", figures.compactions, figures.oddities);
    assert_eq!(lost, 0, "{name}");
    assert_eq!(host.refused, Vec::<String>::new(), "{name}");
    assert_eq!(host.provider.rejected(), Vec::<String>::new(), "{name}");
    assert_eq!(figures.grown, 0, "{name}");
    assert_eq!(figures.rules.verbatim, figures.rules.total, "{name}");
    // A summary that was being prepared when the session ended may have been requested or not.
    let booked = figures.total.cost_usd;
    let is_right = figures.told == booked || figures.told + figures.untold == booked;
    assert!(is_right, "{name}: {} told, {booked} booked", figures.told);
    let unsaid = (figures.waited - figures.waited_told).abs();
    assert!(
        unsaid < 0.01,
        "{name}: waited {} s, told {}",
        figures.waited,
        figures.waited_told
    );
    // The transcript shows the same to a later reader.
    let report = inspected(&host.transcript);
    let cost = report.cost_usd + report.cost_beside().unwrap();
    assert!(
        (cost - figures.told.to_f64()).abs() < 1e-6,
        "{name}: {cost}"
    );
    let made = report.boundaries.iter().filter_map(|one| one.made.as_ref());
    let waited: u64 = made.clone().filter_map(|made| made.waited_ms).sum();
    assert_eq!(waited as f64 / 1_000.0, figures.waited_told, "{name}");
    assert_eq!(made.count(), figures.all(), "{name}");
    figures
}

fn inspected(transcript: &Path) -> InspectionReport {
    let bytes = std::fs::read(transcript).unwrap();
    let mut inspection = Inspection::new();
    let mut offset = 0;
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.strip_suffix(b"\n").unwrap();
        inspection.line(number as u64 + 1, offset, text, LineEnd::Lf);
        offset += line.len() as u64;
    }
    let report = inspection.report(&ModelTable::builtin(), &WindowSettings::default(), None);
    report.unwrap()
}

/// The columns: every mode by thresholds alone, then the first and the default by price.
const COLUMNS: [(Mode, EconomyPolicy); 8] = [
    (Mode::Full, EconomyPolicy::Off),
    (Mode::NotesFirst, EconomyPolicy::Off),
    (Mode::NoStall, EconomyPolicy::Off),
    (Mode::Both, EconomyPolicy::Off),
    (Mode::Collapse, EconomyPolicy::Off),
    (Mode::Full, EconomyPolicy::Clear),
    (Mode::Both, EconomyPolicy::Clear),
    (Mode::Both, EconomyPolicy::Full),
];

/// Every mode, side by side.
async fn compare(model: &'static str, window: u64, tending: Tending) {
    let folder = Folder::new(&format!("{model}-{tending:?}"));
    let steps = Arc::new(plan(seed(), turns(), Flow::Mixed));
    let mut modes = Vec::new();
    for (mode, economy) in COLUMNS {
        let setup = Setup {
            mode,
            tending,
            model,
            window,
            economy,
        };
        modes.push(lived(setup, &steps, &folder).await);
    }
    println!("{model}, {tending:?}\n{}", table(&modes));
    let [
        full,
        notes,
        no_stall,
        both,
        collapse,
        _,
        default,
        full_price,
    ] = &modes[..]
    else {
        unreachable!("eight columns");
    };
    assert!(full.all() > turns() / 40, "{} compactions", full.all());
    for by_notes in [notes, both] {
        assert!(by_notes.count(Summarizer::Notes) > 0);
        assert!(by_notes.summaries() * 5 <= full.summaries());
    }
    for unstalled in [no_stall, both, default, full_price] {
        assert!(
            unstalled.waited * 100.0 <= full.waited,
            "{}",
            unstalled.waited
        );
    }
    assert!(notes.waited < full.waited / 2.0);
    assert!(collapse.count(Summarizer::Fold) > 0);
    assert!(collapse.waited < full.waited / 2.0);
    // Not waiting costs little more than waiting did (V5).
    for (priced, most) in [(default, 1.05), (full_price, 1.1)] {
        let share = priced.total.cost_usd.to_f64() / full.total.cost_usd.to_f64();
        assert!(share <= most, "{}: {share:.3} of full only", priced.name);
    }
}

/// A turn that adds a third of the window at once sometimes outruns a summary and has to wait. Over many sessions that
/// is little, and so is what the default costs more than waiting.
#[tokio::test(start_paused = true)]
async fn x5_v5_over_many_sessions_hardly_anything_is_waited_for_and_it_costs_hardly_more() {
    let (mut waited, mut cost) = ([0.0; 4], [0.0; 4]);
    for seed in 1..=8 {
        let folder = Folder::new(&format!("seed-{seed}"));
        let steps = Arc::new(plan(seed, turns(), Flow::Mixed));
        let modes = [
            (Mode::Full, EconomyPolicy::Off),
            (Mode::NoStall, EconomyPolicy::Off),
            (Mode::Both, EconomyPolicy::Off),
            (Mode::Both, EconomyPolicy::Clear),
        ];
        for (at, (mode, economy)) in modes.into_iter().enumerate() {
            let setup = Setup {
                mode,
                tending: Tending::LooksAway,
                model: "claude-sonnet-4-6",
                window: WINDOW,
                economy,
            };
            let figures = lived(setup, &steps, &folder).await;
            let usd = figures.total.cost_usd.to_f64();
            println!("seed {seed}: waited {:.1} s, ${usd:.2}", figures.waited);
            waited[at] += figures.waited;
            cost[at] += usd;
        }
    }
    println!("waited {waited:.1?} s, cost ${cost:.2?}");
    for unstalled in &waited[1..] {
        assert!(unstalled * 100.0 <= waited[0], "{waited:?}");
    }
    assert!(cost[3] <= cost[0] * 1.05, "{cost:?}");
}

#[tokio::test(start_paused = true)]
async fn s6_x5_o6_v5_the_modes_side_by_side() {
    compare("claude-sonnet-4-6", WINDOW, Tending::Attends).await;
}

#[tokio::test(start_paused = true)]
async fn s6_x5_o6_v5_the_modes_where_the_host_looks_away_meanwhile() {
    compare("claude-sonnet-4-6", WINDOW, Tending::LooksAway).await;
}

#[tokio::test(start_paused = true)]
async fn n2_s6_x5_o6_v5_the_modes_where_thinking_is_bound() {
    // Its tokens are smaller: the same words take more of them.
    compare("claude-opus-5-5", WINDOW * 13 / 10, Tending::Attends).await;
}
