//! The modes of keeping the window small, against each other: the same session under each, in virtual time.
//!
//! `LONGHAUL_MODES_TURNS` makes it longer, `LONGHAUL_MODES_KEEP` names a folder for the transcripts.

mod bursts;
#[cfg(unix)]
mod dropped;
mod host;
mod plan;
mod provider;
mod table;
mod undone;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::engine::Summarizer;

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
        // Sessions begin anew.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self {
            path,
            _temporary: None,
        }
    }
}

/// Lives through the session in a mode. Nothing is lost, refused, rejected or grown on the way, and the bill is right.
async fn lived(setup: Setup, steps: &Arc<Vec<plan::Step>>, folder: &Folder) -> Figures {
    let mut host = Host::new(setup, Arc::clone(steps), &folder.path);
    host.live().await;
    let lost = host.missing().len();
    host.session.take().unwrap().close(PATIENCE).await;
    let figures = Figures::of(&host);
    let name = figures.name;
    println!("{name}: {:?} {:?}", figures.compactions, figures.oddities);
    assert_eq!(lost, 0, "{name}");
    assert_eq!(host.refused, Vec::<String>::new(), "{name}");
    assert_eq!(host.provider.rejected(), Vec::<String>::new(), "{name}");
    assert_eq!(figures.grown, 0, "{name}");
    assert_eq!(figures.rules.verbatim, figures.rules.total, "{name}");
    // What was being prepared when the session ended may have been asked for or not.
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
    figures
}

/// Every mode, side by side.
async fn compare(model: &'static str, tending: Tending) {
    let folder = Folder::new(&format!("{model}-{tending:?}"));
    let steps = Arc::new(plan(1, turns(), Flow::Mixed));
    let mut modes = Vec::new();
    for mode in Mode::ALL {
        let setup = Setup {
            mode,
            tending,
            model,
            window: WINDOW,
        };
        modes.push(lived(setup, &steps, &folder).await);
    }
    println!("{model}, {tending:?}\n{}", table(&modes));
    let [full, notes, no_stall, both, collapse] = &modes[..] else {
        unreachable!("five modes");
    };
    assert!(full.all() > turns() / 40, "{} compactions", full.all());
    for by_notes in [notes, both] {
        assert!(by_notes.count(Summarizer::Notes) > 0);
        assert!(by_notes.summaries() * 5 <= full.summaries());
    }
    for unstalled in [no_stall, both] {
        assert!(
            unstalled.waited * 100.0 <= full.waited,
            "{}",
            unstalled.waited
        );
    }
    assert!(notes.waited < full.waited / 2.0);
    assert!(collapse.count(Summarizer::Fold) > 0);
    assert!(collapse.waited < full.waited / 2.0);
}

#[tokio::test(start_paused = true)]
async fn s6_x5_o6_the_modes_side_by_side() {
    compare("claude-sonnet-4-6", Tending::Attends).await;
}

#[tokio::test(start_paused = true)]
async fn s6_x5_o6_the_modes_where_the_host_looks_away_meanwhile() {
    compare("claude-sonnet-4-6", Tending::LooksAway).await;
}

#[tokio::test(start_paused = true)]
async fn n2_s6_x5_o6_the_modes_where_thinking_is_bound() {
    compare("claude-opus-5-5", Tending::Attends).await;
}
