//! The modes of keeping the window small, against each other: the same session under each, in virtual time.
//!
//! `LONGHAUL_MODES_TURNS` makes it longer, `LONGHAUL_MODES_KEEP` names a folder for the transcripts.

mod host;
mod plan;
mod provider;
mod table;

use std::sync::Arc;

use host::{Host, Mode, Setup, Tending};
use plan::{Flow, plan};
use table::{Figures, table};

const WINDOW: u64 = 100_000;

fn turns(bounded: usize) -> usize {
    let asked = std::env::var("LONGHAUL_MODES_TURNS").ok();
    asked.map_or(bounded, |turns| turns.parse().unwrap())
}

/// Where transcripts go.
struct Folder {
    path: std::path::PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Folder {
    fn new(name: &str) -> Self {
        match std::env::var_os("LONGHAUL_MODES_KEEP") {
            Some(path) => {
                let path = std::path::PathBuf::from(path).join(name);
                // Sessions begin anew.
                let _ = std::fs::remove_dir_all(&path);
                std::fs::create_dir_all(&path).unwrap();
                Self {
                    path,
                    _temporary: None,
                }
            }
            None => {
                let temporary = tempfile::tempdir().unwrap();
                Self {
                    path: temporary.path().to_owned(),
                    _temporary: Some(temporary),
                }
            }
        }
    }
}

async fn compare(model: &'static str, turns: usize, tending: Tending) -> Vec<Figures> {
    let folder = Folder::new(&format!("{model}-{tending:?}"));
    let steps = Arc::new(plan(1, turns, Flow::Mixed));
    let mut modes = Vec::new();
    for mode in Mode::ALL {
        let setup = Setup {
            mode,
            tending,
            model,
            window: WINDOW,
        };
        let real = std::time::Instant::now();
        let mut host = Host::new(setup, Arc::clone(&steps), &folder.path);
        host.live().await;
        let figures = Figures::of(&host);
        println!(
            "{}: {:?} {:?}, waited {:.1} told {:.1}, {} missing, {} grown, refused {:?}, rejected {:?}, {:.1} s",
            figures.name,
            figures.compactions,
            figures.oddities,
            figures.waited,
            figures.waited_told,
            figures.missing,
            figures.grown,
            host.refused,
            host.provider.rejected(),
            real.elapsed().as_secs_f64()
        );
        host.session
            .take()
            .unwrap()
            .close(std::time::Duration::from_secs(120))
            .await;
        modes.push(figures);
    }
    println!("{}", table(&modes));
    modes
}

#[tokio::test(start_paused = true)]
async fn s6_x5_o6_the_modes_side_by_side() {
    compare("claude-sonnet-4-6", turns(500), Tending::Attends).await;
}
