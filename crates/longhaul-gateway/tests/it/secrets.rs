//! Keys pass through and are stored nowhere.

use std::io::Write;
use std::sync::{Arc, Mutex};

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, SessionNames, UpstreamChoice};
use longhaul_gateway::store::SqliteStore;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::support::{self, REPLY, answering, exchange, post, sessions_when};

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

impl<'w> MakeWriter<'w> for Log {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

#[test]
fn x8_keys_and_texts_are_in_no_file_log_or_error() {
    const KEY: &str = "sk-ant-very-secret-0123456789";
    const TOKEN: &str = "token-that-nobody-may-see";
    const TEXT: &str = "wordsofaprivateconversation";
    let folder = tempfile::tempdir().unwrap();
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let told = tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (url, got) = answering(REPLY).await;
            let store = Arc::new(SqliteStore::open(&folder.path().join("books.sqlite")).unwrap());
            let tenants = Tenants::of_file(&folder.path().join("secret")).unwrap();
            let mut options = GatewayOptions::new(UpstreamChoice::Url(url), store, tenants);
            // Otherwise the first words of a conversation are its name on the page.
            options.session_names = SessionNames::Hashes;
            let gateway = Gateway::start(options).await.unwrap();
            let body = support::body(&json!([{"role": "user", "content": TEXT}]));
            let mut told = String::new();
            for headers in [
                format!("x-api-key: {KEY}\r\n"),
                format!("authorization: Bearer {TOKEN}\r\n"),
            ] {
                told += &exchange(gateway.addr(), &post("/v1/messages", &headers, &body)).await;
                assert!(
                    got.lock()
                        .unwrap()
                        .last()
                        .unwrap()
                        .windows(headers.len())
                        .any(|part| part == headers.as_bytes())
                );
                told += &exchange(gateway.addr(), &post("/v1/messages", &headers, "{broken")).await;
            }
            let two = |all: &serde_json::Value| all["sessions"].as_array().unwrap().len() == 2;
            told += &sessions_when(gateway.addr(), two).await.to_string();
            told += &support::get(gateway.addr(), "/metrics").await;
            gateway.stop().await;
            told
        })
    });
    let mut places = vec![
        ("answers".to_owned(), told.into_bytes()),
        ("log".to_owned(), log.0.lock().unwrap().clone()),
    ];
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        places.push((path.display().to_string(), std::fs::read(path).unwrap()));
    }
    assert!(places.len() >= 4);
    for (place, bytes) in &places {
        for secret in [KEY, TOKEN, TEXT] {
            let found = bytes
                .windows(secret.len())
                .any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} in {place}");
        }
    }
}

#[cfg(unix)]
#[test]
fn x8_the_secret_and_the_books_are_private_and_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/secret");
    let mut headers = http::HeaderMap::new();
    headers.insert("x-api-key", "k".parse().unwrap());
    let first = Tenants::of_file(&path).unwrap().of_key(&headers);
    assert_eq!(Tenants::of_file(&path).unwrap().of_key(&headers), first);
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let mut bearer = http::HeaderMap::new();
    bearer.insert("authorization", "Bearer k".parse().unwrap());
    assert_eq!(
        Tenants::of_file(&path).unwrap().of_key(&bearer),
        first,
        "however it is sent"
    );
    assert_ne!(Tenants::passing().of_key(&headers), first);
    std::fs::write(&path, "short").unwrap();
    assert!(Tenants::of_file(&path).is_err());
}
