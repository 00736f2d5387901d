//! D3, E1: a break is reported in a sentence that names a file, and in an event.

use std::io::Write;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use jiff::Timestamp;
use longhaul::cache_breaks::CacheBreakFolder;
use longhaul_core::cache::{CacheBreakDetector, CacheFinding, CacheVerdict, RequestFingerprint};
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use serde_json::json;

fn finding(source: &str, second: i64) -> CacheFinding {
    let mut watch = CacheBreakDetector::default();
    let spec = ModelTable::builtin().resolve("claude-opus-5").spec;
    let mut verdict = CacheVerdict::First;
    for (system, read) in [("one", 40_000), ("two", 0)] {
        let marker = json!({ "type": "ephemeral" });
        let body = json!({
            "model": "claude-opus-5", "system": system,
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "Hi", "cache_control": marker }] }],
        });
        let body = Bytes::from(body.to_string());
        let started = Timestamp::from_second(1_795_000_000 + second).unwrap();
        let id = watch.before(RequestFingerprint::of_body(source, started, &body, []).unwrap());
        let usage = Usage {
            cache_read: read,
            cache_write_5m: 40_000 - read,
            ..Usage::default()
        };
        verdict = watch.after(id, &usage, Some(&spec));
    }
    verdict.finding().unwrap().clone()
}

#[test]
fn d3_the_diff_is_a_private_file_that_the_sentence_names() {
    let home = tempfile::tempdir().unwrap();
    let told = CacheBreakFolder::below(home.path()).report(&finding("agent:a/../b", 0));
    let path = told.diff.unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, "20261118T110640.000Z-agent_a____b.diff");
    assert!(path.parent().unwrap().ends_with("cache-breaks"));
    assert!(
        told.sentence.ends_with(&format!(
            "system edited, same length (block 0); diff: {}",
            path.display()
        )),
        "{}",
        told.sentence
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("-one\n+two\n"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}

#[test]
fn d3_the_newest_fifty_are_kept_and_what_is_not_ours_stays() {
    let home = tempfile::tempdir().unwrap();
    let breaks = CacheBreakFolder::below(home.path());
    let first = breaks.write(&finding("main", 0)).unwrap();
    let folder = first.parent().unwrap();
    std::fs::write(folder.join("notes.diff"), "mine").unwrap();
    let again = breaks.write(&finding("main", 0)).unwrap();
    assert_ne!(first, again);
    for second in 1..60 {
        breaks.write(&finding("main", second)).unwrap();
    }
    let count = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(count, 51);
    assert!(!first.exists() && folder.join("notes.diff").exists());
}

#[test]
fn d3_a_folder_that_cannot_be_written_stops_nothing() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let told = CacheBreakFolder::below(&file).report(&finding("main", 0));
    assert_eq!(told.diff, None);
    assert!(told.sentence.ends_with("(block 0)"), "{}", told.sentence);
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn e1_a_break_is_an_event_with_figures() {
    let home = tempfile::tempdir().unwrap();
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        CacheBreakFolder::below(home.path()).report(&finding("main", 0));
    });
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let event: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let fields = &event["fields"];
    assert_eq!(fields["event"], "cache_break", "{text}");
    assert_eq!(
        (&fields["pre_tokens"], &fields["post_tokens"]),
        (&json!(40_000), &json!(0))
    );
    assert_eq!(fields["cause"], "system");
    assert_eq!(fields["cost_usd"], json!(0.23));
    assert!(fields["diff"].as_str().unwrap().ends_with("-main.diff"));
}
