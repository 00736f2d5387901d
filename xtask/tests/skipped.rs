//! The last test program of `cargo test --workspace`: it says which tests were skipped in this run, and why. It has no
//! harness, because a harness hides what a passing test prints.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

fn main() {
    let skipped = longhaul_testkit::skipped::take_all();
    if skipped.is_empty() {
        return;
    }
    println!("\nSkipped in this run, because something is missing here:");
    for (reason, tests) in skipped {
        let tests = match tests {
            1 => "1 test".to_owned(),
            more => format!("{more} tests"),
        };
        println!("  {tests:>9}: {reason}");
    }
}
