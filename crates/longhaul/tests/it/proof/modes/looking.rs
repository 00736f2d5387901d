//! The next request of a session if it were resumed from its transcript now.

use std::sync::{Arc, Mutex};

use longhaul::{Boxed, Model, OnStream};
use longhaul_core::engine::ModelRequest;
use longhaul_core::window::QuerySource;
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};

use super::host::Host;

/// Records its requests, and answers none.
#[derive(Clone, Default)]
struct Looking(Arc<Mutex<Vec<(QuerySource, String)>>>);

impl Model for Looking {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        _: OnStream<'a>,
        _: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let body = String::from_utf8(request.body.concat()).unwrap();
        self.0.lock().unwrap().push((request.source, body));
        Box::pin(async { Err(Error::new(ErrorClass::Cancelled, "only looking")) })
    }
}

/// The next request of a session that resumes a copy of the transcript, and its source. Where there is nothing to
/// answer, a message is added first.
pub(super) async fn next_request(host: &Host) -> Option<(QuerySource, String)> {
    let (source, body, _) = next_request_on_disk(host).await?;
    Some((source, body))
}

/// The same, and the transcript of the copy after that.
pub(super) async fn next_request_on_disk(host: &Host) -> Option<(QuerySource, String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(host.transcript.file_name().unwrap());
    std::fs::copy(&host.transcript, &path).unwrap();
    let looking = Looking::default();
    let mut session = host.open_at(&path, looking.clone());
    let _ = session.turn().await;
    if looking.0.lock().unwrap().is_empty() {
        session.say("And now?").await.unwrap();
        let _ = session.turn().await;
    }
    let (source, body) = looking.0.lock().unwrap().first().cloned()?;
    Some((source, body, std::fs::read(&path).unwrap()))
}
