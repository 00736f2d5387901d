//! Decides about generated commands, and runs those that may run without asking in a real shell, in a temporary folder:
//! they must start only read-only programs, write nothing, and read nothing outside of the workspace and no denied
//! file.
//!
//! `LONGHAUL_SHELL_FUZZ_CASES` and `LONGHAUL_SHELL_FUZZ_SEED` make it longer and different; `cargo xtask shell-fuzz`
//! sets them.

mod attacks;
mod generate;
mod playground;
mod words;

use std::collections::HashSet;

use super::*;
use generate::Generator;
use playground::{Case, Denies, Playground, Writes};

/// The deny rules of the playgrounds that have any.
const DENY: &[&str] = &[
    "Read(./.env)",
    "Read(secret/**)",
    "Edit(./locked.txt)",
    "Bash(touch:*)",
];
const MODES: &[ApprovalMode] = &[
    ApprovalMode::Default,
    ApprovalMode::Plan,
    ApprovalMode::DontAsk,
    ApprovalMode::AcceptEdits,
];
/// The number of commands that are run together.
const BATCH: usize = 64;
/// The maximum number of failures that are reported.
const MOST: usize = 12;

/// Decides whether a command may run without asking.
type Judge<'a> = dyn Fn(ApprovalMode, &[&str], &Case) -> bool + 'a;

/// The results of a run.
#[derive(Default)]
struct Report {
    judged: usize,
    run: usize,
    failures: Vec<String>,
}

/// Decides about commands and runs them; each distinct one is run once under the rules and the kind of mode that allow
/// it.
fn examine(commands: impl Iterator<Item = (String, &'static str)>, judge: &Judge<'_>) -> Report {
    let mut report = Report::default();
    let mut seen = HashSet::new();
    let mut batches: Vec<Vec<Case>> = (0..4).map(|_| Vec::new()).collect();
    let worlds: Vec<Playground> = [
        (Writes::None, Denies::Nothing),
        (Writes::None, Denies::Files),
        (Writes::Inside, Denies::Nothing),
        (Writes::Inside, Denies::Files),
    ]
    .into_iter()
    .map(|(writes, denies)| Playground::new(writes, denies))
    .collect();
    for (number, (command, folder)) in commands.enumerate() {
        report.judged += 1;
        for denies in [false, true] {
            let mode = MODES[number % MODES.len()];
            let rules = if denies { DENY } else { &[] };
            let edits = mode == ApprovalMode::AcceptEdits;
            let world = 2 * usize::from(edits) + usize::from(denies);
            let case = Case {
                command: command.clone(),
                folder: worlds[world].project().join(folder),
            };
            if !judge(mode, rules, &case) || !seen.insert((world, command.clone(), folder)) {
                continue;
            }
            report.run += 1;
            batches[world].push(case);
            if batches[world].len() == BATCH {
                let batch = std::mem::take(&mut batches[world]);
                report.failures.extend(worlds[world].run(&batch));
            }
        }
        if report.failures.len() >= MOST {
            return report;
        }
    }
    for (world, batch) in batches.iter().enumerate() {
        report.failures.extend(worlds[world].run(batch));
    }
    report
}

/// The real permission check, in the folders of the playground that a case belongs to.
fn real(mode: ApprovalMode, deny: &[&str], case: &Case) -> bool {
    let root = playground::root_of(&case.folder);
    let (cwd, home) = (root.join("project"), root.join("home"));
    let bases = RulePathBases {
        cwd: &cwd,
        settings: &cwd,
        home: Some(&home),
    };
    let place = SessionPaths {
        cwd: cwd.clone(),
        more: Vec::new(),
        transcript: home.join("s.jsonl"),
    };
    let rules = PermissionRules {
        deny: deny
            .iter()
            .map(|rule| PermissionRule::parse(rule, bases).unwrap())
            .collect(),
        ..PermissionRules::default()
    };
    let workspace = ReadableWorkspace::new(&place, Some(home.clone()));
    let permissions = Permissions::new(workspace, rules, mode, home.join("local.json"));
    runs_in(&permissions, &case.folder, &case.command) == PermissionDecision::Allow
}

fn setting(name: &str, otherwise: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn no_generated_command_that_runs_unasked_does_more_than_look() {
    if !playground::is_possible() {
        println!("no bash here: passed over");
        return;
    }
    let cases = usize::try_from(setting("LONGHAUL_SHELL_FUZZ_CASES", 2_000)).unwrap();
    let seed = setting("LONGHAUL_SHELL_FUZZ_SEED", 1);
    let report = examine(Generator::new(seed).take(cases), &real);
    println!(
        "{} commands with seed {seed}: {} ran unasked, {} failures",
        report.judged,
        report.run,
        report.failures.len()
    );
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
    // A check that asks about everything would pass, and so would a generator of nonsense.
    assert!(report.run * 20 > report.judged, "{} ran", report.run);
}

#[test]
fn no_known_attack_runs_unasked() {
    let world = Playground::new(Writes::None, Denies::Files);
    let mut allowed = Vec::new();
    for attack in attacks::ATTACKS {
        for mode in MODES {
            for deny in [DENY, &[]] {
                let case = world.case(attack);
                let meant = attack.under.is_none_or(|under| under == *mode)
                    && (!attack.needs_deny || !deny.is_empty());
                if meant && real(*mode, deny, &case) {
                    allowed.push(format!("{mode:?} {deny:?}: {}", attack.command));
                }
            }
        }
    }
    assert!(allowed.is_empty(), "{}", allowed.join("\n"));
}

#[test]
fn every_known_attack_is_one_that_the_playground_notices() {
    if !playground::is_possible() {
        return;
    }
    let world = Playground::new(Writes::None, Denies::Files);
    let missed: Vec<&str> = attacks::ATTACKS
        .iter()
        .filter(|attack| world.run(&[world.case(attack)]).is_empty())
        .map(|attack| attack.command)
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_judge_that_allows_everything_is_found_out() {
    if !playground::is_possible() {
        return;
    }
    let report = examine(Generator::new(7).take(60), &|_, _, _| true);
    for kind in ["ran ", "changed ", "opened "] {
        assert!(
            report.failures.iter().any(|failure| failure.contains(kind)),
            "nothing {kind}: {:?}",
            report.failures
        );
    }
}
