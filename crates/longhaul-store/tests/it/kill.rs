//! A process killed at any instant.

use std::collections::BTreeSet;

use longhaul_core::message::Id;
use longhaul_store::{Durability, TranscriptWriter, load};

use crate::child::{Said, listen, start};
use crate::support::entry;

#[test]
fn y7_after_kill_9_at_any_instant_every_acknowledged_entry_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.jsonl");
    let mut writer = TranscriptWriter::open(&path, Durability::EveryAppend).unwrap();
    let _ = writer.append(entry("root", None).as_bytes()).unwrap();
    let mut acknowledged = BTreeSet::new();
    let mut random = 0x9E37_79B9_u32;
    for round in 0..12 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut child = start(&path, &format!("round{round}"), 100_000);
        let mut said = listen(child.stdout.take().unwrap());
        let after = (random >> 16) as usize % 40;
        acknowledged.extend(said.by_ref().take(after));
        // The kill hits somewhere inside one of the next appends.
        for _ in 0..random % 200_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged.extend(said);

        let loaded = load(&path).unwrap();
        let held: BTreeSet<Id> = loaded.entries().filter_map(|e| e.view().uuid()).collect();
        for said in &acknowledged {
            let Said::Acknowledged(uuid) = said else {
                panic!("{said:?}");
            };
            assert!(held.contains(&Id::of(uuid)), "{uuid} was acknowledged");
        }
    }
    assert!(acknowledged.len() > 20, "the children did append");
    let _ = writer
        .append(entry("end", Some("root")).as_bytes())
        .unwrap();
}
