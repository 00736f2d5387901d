//! A reply as the steps that put it on the wire, spoiled by a fault. This is pure: the server performs the steps, and a
//! test may feed them to a decoder without a socket.

use std::time::Duration;

use bytes::Bytes;

use super::InjectedFault;

/// One step of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireStep {
    /// Send these bytes.
    Send(Bytes),
    /// Do nothing for this long.
    Wait(Duration),
    /// Do nothing any more, with the connection open.
    Hang,
    /// Reset the connection.
    Reset,
}

/// How fast events follow each other where no fault says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventPace {
    /// The delay before the first byte of a reply.
    pub first_byte: Duration,
    /// The delay between two events of a stream.
    pub between: Duration,
    /// The maximum total delay between the events of a stream: a long reply is sent faster.
    pub at_most: Option<Duration>,
}

impl EventPace {
    /// Sends events as fast as possible.
    pub const FAST: Self = Self {
        first_byte: Duration::ZERO,
        between: Duration::ZERO,
        at_most: None,
    };

    /// Parses `fast`, `20ms` (between events) or `300ms/20ms` (before the first byte, and between events).
    pub fn parse(text: &str) -> Option<Self> {
        let duration = |text: &str| super::arguments::duration(text.trim());
        if text == "fast" {
            return Some(Self::FAST);
        }
        Some(match text.split_once('/') {
            Some((first_byte, between)) => Self {
                first_byte: duration(first_byte)?,
                between: duration(between)?,
                at_most: None,
            },
            None => Self {
                first_byte: Duration::ZERO,
                between: duration(text)?,
                at_most: None,
            },
        })
    }
}

/// The steps of a stream. `error` is the frame of an error event in the client's dialect.
pub fn script(
    frames: Vec<Bytes>,
    fault: Option<InjectedFault>,
    pace: EventPace,
    error: &Bytes,
) -> Vec<WireStep> {
    let mut steps = Vec::with_capacity(frames.len() + 2);
    let last = frames.len().saturating_sub(1);
    let gaps = u32::try_from(last.max(1)).unwrap_or(u32::MAX);
    let between = match pace.at_most {
        Some(at_most) => pace.between.min(at_most / gaps),
        None => pace.between,
    };
    for (index, frame) in frames.into_iter().enumerate() {
        if index > 0 && !between.is_zero() {
            steps.push(WireStep::Wait(between));
        }
        // A fault that waits for more events than the stream has strikes at the last one.
        let struck =
            fault.filter(|fault| fault.after().is_some_and(|after| after.min(last) == index));
        match struck {
            None => steps.push(WireStep::Send(frame)),
            Some(InjectedFault::Stall { lasting, .. }) => {
                let (head, tail) = halves(&frame);
                steps.push(WireStep::Send(head));
                match lasting {
                    Some(lasting) => steps.extend([WireStep::Wait(lasting), WireStep::Send(tail)]),
                    None => {
                        steps.push(WireStep::Hang);
                        return steps;
                    }
                }
            }
            Some(InjectedFault::Reset { .. }) => {
                steps.extend([WireStep::Send(halves(&frame).0), WireStep::Reset]);
                return steps;
            }
            Some(InjectedFault::Truncate { .. }) => {
                steps.push(WireStep::Send(halves(&frame).0));
                return steps;
            }
            Some(InjectedFault::Malformed { .. }) => steps.push(WireStep::Send(garbled(&frame))),
            Some(InjectedFault::ErrorEvent { .. }) => {
                steps.push(WireStep::Send(error.clone()));
                return steps;
            }
            Some(_) => steps.push(WireStep::Send(frame)),
        }
    }
    steps
}

impl InjectedFault {
    /// The number of stream events before the fault strikes, if it strikes within a stream.
    fn after(&self) -> Option<usize> {
        match *self {
            Self::Stall { after, .. }
            | Self::Reset { after }
            | Self::Truncate { after }
            | Self::Malformed { after }
            | Self::ErrorEvent { after } => Some(after),
            Self::RateLimited { .. }
            | Self::Overloaded
            | Self::Internal
            | Self::SlowFirstByte { .. } => None,
        }
    }
}

fn halves(frame: &Bytes) -> (Bytes, Bytes) {
    let middle = frame.len() / 2;
    (frame.slice(..middle), frame.slice(middle..))
}

/// A frame of the same length and lines, but without its first opening brace.
fn garbled(frame: &Bytes) -> Bytes {
    let mut bytes = frame.to_vec();
    if let Some(brace) = bytes.iter().position(|byte| *byte == b'{') {
        bytes[brace] = b'<';
    }
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Bytes> {
        let frame = |n: u32| Bytes::from(format!("data: {{\"n\":{n}}}\n\n"));
        (0..5).map(frame).collect()
    }

    fn steps(spec: &str) -> Vec<WireStep> {
        let plan = super::super::FaultPlan::parse(spec, 0).unwrap();
        script(
            frames(),
            plan.decide(1),
            EventPace::FAST,
            &Bytes::from_static(b"event: error\n\n"),
        )
    }

    fn sent(steps: &[WireStep]) -> String {
        let sent = steps.iter().filter_map(|step| match step {
            WireStep::Send(bytes) => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        });
        sent.collect()
    }

    #[test]
    fn a_reply_without_a_fault_is_its_frames() {
        let plain = script(frames(), None, EventPace::FAST, &Bytes::new());
        assert_eq!(
            plain,
            frames().into_iter().map(WireStep::Send).collect::<Vec<_>>()
        );
    }

    #[test]
    fn each_fault_strikes_where_it_says() {
        assert_eq!(steps("reset(1)").last(), Some(&WireStep::Reset));
        assert_eq!(sent(&steps("reset(1)")), "data: {\"n\":0}\n\ndata: {");
        assert_eq!(sent(&steps("truncate(0)")), "data: {");
        assert_eq!(steps("stall").last(), Some(&WireStep::Hang));
        assert!(steps("stall(1s)").contains(&WireStep::Wait(Duration::from_secs(1))));
        let whole: String = sent(&script(frames(), None, EventPace::FAST, &Bytes::new()));
        assert_eq!(sent(&steps("stall(1s)")), whole);
        assert!(sent(&steps("malformed(2)")).contains("data: <\"n\":2}"));
        assert!(sent(&steps("error(2)")).ends_with("\"n\":1}\n\nevent: error\n\n"));
        // With fewer events than requested, the fault strikes at the last one.
        assert!(sent(&steps("error(99)")).ends_with("\"n\":3}\n\nevent: error\n\n"));
    }

    #[test]
    fn a_pace_lies_between_events() {
        let pace = EventPace::parse("300ms/20ms").unwrap();
        assert_eq!(pace.first_byte, Duration::from_millis(300));
        let steps = script(frames(), None, pace, &Bytes::new());
        let waits = steps
            .iter()
            .filter(|step| matches!(step, WireStep::Wait(_)));
        assert_eq!(waits.count(), 4);
        assert_eq!(EventPace::parse("fast"), Some(EventPace::FAST));
        assert_eq!(EventPace::parse("5"), None);
    }
}
