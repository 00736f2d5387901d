//! Tests that the record of a decision justifies it (V6): its rent has reached its price, less what was waived.

use longhaul_core::economy::{EconomyPolicy, EconomyRecord};
use proptest::prelude::*;
use serde_json::Value;

use super::desk::{Desk, Setting};
use super::prices::{decisions, reads, setting};

/// The amounts are numbers of dollars; sums of these are not exact.
const TINY: f64 = 1e-9;

/// The records on the boundaries of the transcript.
fn recorded(desk: &Desk) -> Vec<EconomyRecord> {
    let entries = desk.transcript.iter();
    let entries = entries.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let records = entries.filter_map(|entry| {
        let metadata =
            ["compactMetadata", "microcompactMetadata"].map(|name| &entry[name]["economy"]);
        let record = metadata.into_iter().find(|record| record.is_object())?;
        EconomyRecord::read(record.to_string().as_bytes())
    });
    records.collect()
}

fn is_justified(record: &EconomyRecord) -> bool {
    let waived = record.waived_usd.expect("it is recorded");
    record.rent_usd + waived + TINY >= record.price_usd
}

/// The conversation of an agent that reads files of these sizes.
fn worked(policy: EconomyPolicy, model: &'static str, files: &[usize]) -> Desk {
    let mut desk = Desk::with(Setting {
        economy: policy,
        model,
        ..setting()
    });
    desk.say("Read them.");
    for (at, tokens) in files.iter().enumerate() {
        let id: &str = Box::leak(format!("t{at}").into_boxed_str());
        reads(&mut desk, id, *tokens);
    }
    desk
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn v6_the_figures_of_every_recorded_decision_justify_it(
        files in proptest::collection::vec(prop_oneof![200_usize..900, 2_000_usize..12_000], 20..70),
        policy in prop_oneof![Just(EconomyPolicy::Clear), Just(EconomyPolicy::Full)],
        model in prop_oneof![Just("claude-opus-4-6"), Just("claude-sonnet-4-6"), Just("claude-opus-5-5")],
    ) {
        let desk = worked(policy, model, &files);
        let told = decisions(&desk);
        for record in recorded(&desk).iter().chain(told) {
            prop_assert!(is_justified(record), "{record:?}");
        }
    }
}

#[test]
fn v6_a_rent_below_its_price_is_recorded_with_what_was_waived() {
    // One large result, and a lot of text after it: the price of clearing it grows faster than its rent.
    let mut files = [800; 70];
    files[2] = 9_000;
    let desk = worked(EconomyPolicy::Clear, "claude-sonnet-4-6", &files);
    let records = recorded(&desk);
    assert_eq!(records.len(), decisions(&desk).len());
    assert!(
        records
            .iter()
            .any(|record| record.rent_usd < record.price_usd),
        "{records:?}"
    );
    assert!(records.iter().all(is_justified), "{records:?}");
}
