//! Performs the steps of a reply on a connection.

use std::future::pending;
use std::io;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;

use super::shared::Entered;
use super::wire::Cutter;
use crate::faults::wire::Step;

/// Before a reset: what was sent shall arrive, for a reset may overtake it.
const SETTLE: Duration = Duration::from_millis(20);

/// A reply under way. Dropped when it ended or when the client hung up.
struct Performance {
    steps: std::vec::IntoIter<Step>,
    cutter: Cutter,
    _entered: Entered,
}

/// A body that does what the steps say.
pub(super) fn body(steps: Vec<Step>, cutter: Cutter, entered: Entered) -> Body {
    let performance = Performance {
        steps: steps.into_iter(),
        cutter,
        _entered: entered,
    };
    Body::from_stream(stream::unfold(performance, next))
}

async fn next(mut performance: Performance) -> Option<(io::Result<Bytes>, Performance)> {
    loop {
        match performance.steps.next()? {
            Step::Send(bytes) => return Some((Ok(bytes), performance)),
            Step::Wait(duration) => tokio::time::sleep(duration).await,
            Step::Hang => pending().await,
            Step::Reset => {
                tokio::time::sleep(SETTLE).await;
                performance.cutter.arm();
                let reset = io::Error::from(io::ErrorKind::ConnectionReset);
                return Some((Err(reset), performance));
            }
        }
    }
}
