//! Performs the steps of a reply on a connection.

use std::future::pending;
use std::io;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;

use super::shared::InFlightGuard;
use super::wire::ResetFlag;
use crate::faults::wire::WireStep;

/// The pause before a reset: the bytes that were sent should arrive, and a reset may overtake them.
const SETTLE: Duration = Duration::from_millis(20);

/// A reply in progress. It is dropped when it ends or when the client hangs up.
struct ReplyPlayback {
    steps: std::vec::IntoIter<WireStep>,
    cutter: ResetFlag,
    _entered: InFlightGuard,
}

/// A body that performs these steps.
pub(super) fn body(steps: Vec<WireStep>, cutter: ResetFlag, entered: InFlightGuard) -> Body {
    let performance = ReplyPlayback {
        steps: steps.into_iter(),
        cutter,
        _entered: entered,
    };
    Body::from_stream(stream::unfold(performance, next))
}

async fn next(mut performance: ReplyPlayback) -> Option<(io::Result<Bytes>, ReplyPlayback)> {
    loop {
        match performance.steps.next()? {
            WireStep::Send(bytes) => return Some((Ok(bytes), performance)),
            WireStep::Wait(duration) => tokio::time::sleep(duration).await,
            WireStep::Hang => pending().await,
            WireStep::Reset => {
                tokio::time::sleep(SETTLE).await;
                performance.cutter.arm();
                let reset = io::Error::from(io::ErrorKind::ConnectionReset);
                return Some((Err(reset), performance));
            }
        }
    }
}
