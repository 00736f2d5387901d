//! Writes a generated transcript to a file: `transcript OUT ROUNDS [SEED]`, or `transcript OUT 200MB [SEED]`.

use std::process::ExitCode;
use std::time::Instant;

use longhaul_testkit::SessionSpec;
use longhaul_testkit::big::{BigFileBoundaries, BigSpec};

#[expect(clippy::print_stderr, reason = "an example talks to a person")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out, size, rest @ ..] = args.as_slice() else {
        eprintln!("usage: transcript OUT ROUNDS|SIZEMB [SEED]");
        return ExitCode::from(2);
    };
    let seed = rest.first().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let started = Instant::now();
    let written = match size.strip_suffix("MB").map_or_else(
        || (size.parse().ok(), None),
        |mb| (None, mb.parse::<u64>().ok()),
    ) {
        (Some(rounds), _) => {
            let bytes = SessionSpec::new(seed, rounds).bytes();
            std::fs::write(out, &bytes).map(|()| bytes.len() as u64)
        }
        (_, Some(mb)) => {
            let spec = BigSpec {
                seed,
                min_bytes: mb * 1_000_000,
                boundaries: BigFileBoundaries::LastBefore(1_000_000),
            };
            spec.write_file(out.as_ref()).map(|file| file.bytes)
        }
        _ => {
            eprintln!("{size}: neither a number of rounds nor a size such as 200MB");
            return ExitCode::from(2);
        }
    };
    match written {
        Ok(bytes) => {
            let seconds = started.elapsed().as_secs_f64();
            eprintln!(
                "{bytes} bytes in {seconds:.2} s, {:.0} MB/s",
                bytes as f64 / 1e6 / seconds
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{out}: {error}");
            ExitCode::FAILURE
        }
    }
}
