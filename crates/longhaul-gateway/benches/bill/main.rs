//! What recorded sessions cost through the gateway, by the books of the simulator (V3, V5, V9).
//!
//! Run `cargo bench -p longhaul-gateway --bench bill`. A client that never trims sends each long recorded session again,
//! at the recorded times, through a gateway to the simulator. The baseline is the same client without a gateway and with
//! a window without an end. That direct run is recorded as a transcript with the usage that the simulator billed, and
//! beside the bills stands what `longhaul replay` forecasts for the recording, and the best schedule in hindsight. Figures
//! are of prompts, summaries and clearings; what the model writes in its answers is left out, because it is the same for
//! all.
//!
//! Assumptions: the model answers what it answered in the recording, whatever it had in view; recorded thinking is left out
//! (its signatures are not the simulator's), and a model that binds thinking gets the simulator's own; the system prompt
//! is plain text of the recorded size; images are a line of text. `LONGHAUL_BILL_MODEL` and `LONGHAUL_BILL_WINDOW` choose
//! another model or window, `LONGHAUL_BILL_MOST` the most requests of a session, `LONGHAUL_BILL_ONLY` sessions by a part
//! of their path; `LONGHAUL_BILL_OURS` leaves out the provider's own ways, `LONGHAUL_BILL_WAYS` takes only these
//! (`clear,p-compact`), `LONGHAUL_BILL_SHOW` prints every compaction, `LONGHAUL_BILL_KEEP` names a folder that gets the
//! transcripts of the direct runs.
//! `LONGHAUL_PEERS` names other proxies to send the same through (`../peers/mod.rs`); they get a provider with a window
//! without an end, as the direct client does, because a request that is refused would cost them nothing.
//! `cargo test -p longhaul-gateway --bench bill` runs the same without an optimized build.
//!
//! `replay.rs` sends a session again, with what `requests.rs` makes, on the way that `route.rs` opens.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "a bench talks, reads files and measures time"
)]

mod details;
mod fidelity;
mod figures;
mod forecast;
#[path = "../peers/mod.rs"]
mod peers;
mod provider;
mod recorded_time;
mod replay;
mod requests;
mod route;
mod session;

use std::process::ExitCode;

use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;

use details::{Bill, details};
use figures::{number, short};
use forecast::{Forecast, POLICIES, forecast};
use replay::bill;
use route::Between;
use session::read;

/// Sessions of at least this size are long.
const LONG: u64 = 1_000_000;
const WINDOW: u64 = 200_000;
const GOALS: [(&str, f64); 2] = [("clear", 0.66), ("full", 0.48)];
const NEVER_ABOVE: f64 = 1.02;
/// How far a forecast may be from the bill.
const FORECAST_ERROR: f64 = 0.05;

fn main() -> ExitCode {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return ExitCode::SUCCESS;
    };
    let model = std::env::var("LONGHAUL_BILL_MODEL").unwrap_or("claude-sonnet-4-6".to_owned());
    let window = number("LONGHAUL_BILL_WINDOW", WINDOW);
    let long = files
        .iter()
        .filter(|path| std::fs::metadata(path).is_ok_and(|file| file.len() >= LONG));
    let only = std::env::var("LONGHAUL_BILL_ONLY").unwrap_or_default();
    let long: Vec<_> = long
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(all(&long, &model, window))
}

async fn all(files: &[&std::path::PathBuf], model: &str, window: u64) -> ExitCode {
    let with = |reduction| POLICIES.map(|policy| Between::Gateway(policy, reduction));
    let mut ways: Vec<Between> = with(ResultReduction::default()).into();
    ways.extend(with(ResultReduction::Recallable).into_iter().skip(1));
    if std::env::var_os("LONGHAUL_BILL_OURS").is_none() {
        ways.extend([Between::ProviderClears, Between::ProviderCompacts]);
    }
    ways.extend(peers::of_environment().into_iter().map(Between::Peer));
    if let Ok(wanted) = std::env::var("LONGHAUL_BILL_WAYS") {
        ways.retain(|way| wanted.split(',').any(|wanted| wanted == way.name()));
    }
    let ways = &ways;
    println!(
        "{model}, a window of {window} tokens; parts of what the session costs directly, without a limit of the window"
    );
    print!("  {:<13}{:>9}{:>9}", "session", "requests", "direct");
    for way in ways {
        print!("{:>width$}", way.name(), width = width_of(way));
    }
    println!("   forecast: off  clear   full  best: clear  full");
    let mut sums = vec![0.0; ways.len()];
    let mut bills: Vec<Vec<Bill>> = (0..=ways.len()).map(|_| Vec::new()).collect();
    let (mut dollars, mut whole) = (vec![0.0; ways.len()], 0.0);
    let mut missed = 0;
    for file in files {
        let session = read(file);
        let mut unmanaged = bill(&session, model, window, &Between::Nothing).await;
        let (requests, direct) = (unmanaged.requests, unmanaged.cost);
        let recorded = std::mem::take(&mut unmanaged.recorded);
        bills[0].push(unmanaged);
        print!("  {:<13}{requests:>9}{:>9}", session.name, short(direct));
        whole += direct.to_f64();
        let mut parts = Vec::new();
        for (column, way) in ways.iter().enumerate() {
            let bill = bill(&session, model, window, way).await;
            let part = bill.cost.to_f64() / direct.to_f64();
            dollars[column] += bill.cost.to_f64();
            bills[column + 1].push(bill);
            sums[column] += part;
            print!("{part:>width$.3}", width = width_of(way));
            parts.push(part);
            if matches!(
                way,
                Between::Gateway(EconomyPolicy::Clear | EconomyPolicy::Full, _)
            ) && part > NEVER_ABOVE
            {
                missed += 1;
            }
        }
        if let Ok(folder) = std::env::var("LONGHAUL_BILL_KEEP") {
            std::fs::write(format!("{folder}/{}.jsonl", session.name), &recorded).unwrap();
        }
        let Forecast { policies, best } = forecast(&recorded, model, window);
        print!("        ");
        for (policy, forecast) in POLICIES.into_iter().zip(policies) {
            let policy = Between::Gateway(policy, ResultReduction::default());
            let billed = ways.iter().zip(&parts).find(|(way, _)| **way == policy);
            let is_off =
                billed.is_some_and(|(_, part)| (forecast / part - 1.0).abs() > FORECAST_ERROR);
            print!(" {forecast:.3}{}", if is_off { "!" } else { " " });
        }
        println!("       {:.3} {:.3}", best[0], best[1]);
    }
    print!("  {:<22}{whole:>9.2}", "all");
    for (way, dollars) in ways.iter().zip(&dollars) {
        print!("{:>width$.3}", dollars / whole, width = width_of(way));
    }
    println!();
    print!("  {:<31}", "mean");
    for (way, sum) in ways.iter().zip(&sums) {
        let mean = sum / files.len() as f64;
        print!("{mean:>width$.3}", width = width_of(way));
        let goal = GOALS.iter().find(|(name, _)| *name == way.name());
        missed += usize::from(goal.is_some_and(|(_, goal)| mean > *goal));
    }
    println!();
    let names = std::iter::once("direct").chain(ways.iter().map(Between::name));
    details(names.zip(&bills), window);
    if missed == 0 || window != WINDOW {
        ExitCode::SUCCESS
    } else {
        println!("{missed} goals missed");
        ExitCode::FAILURE
    }
}

/// The width of a way's column.
fn width_of(way: &Between) -> usize {
    (way.name().len() + 2).max(10)
}
