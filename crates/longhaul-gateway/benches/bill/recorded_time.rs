//! The time of the recording, for the gateway and for other proxies.
//!
//! A proxy that decides by the time of day needs the recorded time too. `LONGHAUL_PEERS_CLOCK` names a file that gets the
//! time that has passed in the recording, in the form that libfaketime reads (`+12.345`).

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use longhaul::Clock;

/// A clock that the bench advances.
#[derive(Debug, Default)]
pub(crate) struct RecordedTime(AtomicI64);

impl Clock for RecordedTime {
    fn now(&self) -> Timestamp {
        let millis = self.0.load(Ordering::Relaxed);
        Timestamp::constant(1_800_000_000, 0) + SignedDuration::from_millis(millis)
    }
}

impl RecordedTime {
    pub(crate) fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

/// Lets this much time pass for proxies that read the file of the recorded time.
pub(crate) fn advance_peers(millis: u64) {
    static PASSED: AtomicU64 = AtomicU64::new(0);
    let passed = PASSED.fetch_add(millis, Ordering::Relaxed) + millis;
    let Some(file) = std::env::var_os("LONGHAUL_PEERS_CLOCK").map(PathBuf::from) else {
        return;
    };
    // Renamed, so that a proxy never reads half a number.
    let new = file.with_extension("new");
    let text = format!("+{}.{:03}\n", passed / 1_000, passed % 1_000);
    std::fs::write(&new, text).expect("the file of the recorded time can be written");
    std::fs::rename(&new, &file).expect("the file of the recorded time can be replaced");
}
