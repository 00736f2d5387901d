//! Only one process at a time works on a session.

use std::fs::File;
use std::path::Path;

use longhaul::provider::{Client, ClientConfig, Dialect};
use longhaul::session::OpenError;
use longhaul::{Prompt, Session};

fn open(transcript: &Path) -> Result<Session, OpenError> {
    let config = ClientConfig::from_env(Dialect::Anthropic, |name| {
        (name == "ANTHROPIC_API_KEY").then(|| "any".to_owned())
    });
    Session::builder()
        .model(Client::new(config.unwrap()).unwrap())
        .prompt(Prompt::new("claude-sonnet-4-6", "You read code."))
        .transcript(transcript)
        .open()
}

#[tokio::test]
async fn a_session_that_another_process_has_open_is_a_typed_error() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    // A lock that is not this library's counts as another process's.
    let lock = folder.path().join("session.lock");
    let other = File::create(&lock).unwrap();
    other.try_lock().unwrap();
    std::fs::write(&lock, r#"{"pid":42,"program":"other"}"#).unwrap();
    match open(&transcript) {
        Err(OpenError::InUse(in_use)) => {
            assert_eq!(in_use.holder.pid, Some(42));
            assert_eq!(in_use.transcript, transcript);
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was opened"),
    }
    assert!(!transcript.exists());
    drop(other);
    let session = open(&transcript).unwrap();
    // The same process may open it again.
    drop(open(&transcript).unwrap());
    assert!(lock.exists());
    drop(session);
    assert!(!lock.exists());
}
