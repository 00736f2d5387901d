//! A wait before a request is sent again, in words: for the screen, for print mode and for the progress of sub-agents.

use std::time::Duration;

use longhaul::session::RetryWait;
use longhaul_provider::ErrorClass;
use longhaul_provider::error::AwaitedStep;

/// The wait in one line, with the time that is left of it: `overloaded, again in 8 s, try 4`.
pub(crate) fn line(wait: &RetryWait, left: Duration) -> String {
    let reason = reason(wait.class);
    let attempt = wait.attempt;
    // The countdown ends with 1, not with 0.
    match left.as_millis().div_ceil(1000) {
        0 => format!("{reason}, trying again, try {attempt}"),
        seconds @ 1..120 => format!("{reason}, again in {seconds} s, try {attempt}"),
        seconds => format!(
            "{reason}, again in {} min, try {attempt}",
            seconds.div_ceil(60)
        ),
    }
}

/// What went wrong, in two or three words.
pub(crate) fn reason(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Overloaded { .. } => "overloaded",
        ErrorClass::RateLimited { .. } => "rate limit reached",
        ErrorClass::Server { .. } => "server error",
        ErrorClass::Retry { .. } | ErrorClass::Timeout(AwaitedStep::Connection) => "no connection",
        ErrorClass::Timeout(AwaitedStep::FirstByte) => "no answer",
        ErrorClass::Timeout(_) => "the reply stalled",
        ErrorClass::Cut => "the reply broke off",
        ErrorClass::Damaged => "the reply was damaged on its way",
        _ => "the request failed",
    }
}

/// What went wrong with each attempt, the first kind of failure first: `overloaded 4 times, rate limit reached`.
pub(crate) fn failures(classes: &[ErrorClass]) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for reason in classes.iter().map(|class| reason(*class)) {
        match counted.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, times)) => *times += 1,
            None => counted.push((reason, 1)),
        }
    }
    let is_mixed = counted.len() > 1;
    let told = counted.into_iter().map(|(reason, times)| match times {
        _ if !is_mixed => reason.to_owned(),
        1 => reason.to_owned(),
        2 => format!("{reason} twice"),
        times => format!("{reason} {times} times"),
    });
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_a_wait_counts_down_to_one() {
        let class = ErrorClass::Overloaded { after: None };
        let wait = RetryWait::new(class, Duration::from_secs(8), 4);
        let words = |left: u64| line(&wait, Duration::from_millis(left));
        assert_eq!(words(7_400), "overloaded, again in 8 s, try 4");
        assert_eq!(words(1), "overloaded, again in 1 s, try 4");
        assert_eq!(words(0), "overloaded, trying again, try 4");
        assert_eq!(words(600_000), "overloaded, again in 10 min, try 4");
    }

    #[test]
    fn q2_failures_of_several_kinds_are_all_named() {
        let overloaded = ErrorClass::Overloaded { after: None };
        let limited = ErrorClass::RateLimited { after: None };
        assert_eq!(failures(&[overloaded; 3]), "overloaded");
        let mixed = [overloaded, overloaded, overloaded, limited];
        assert_eq!(failures(&mixed), "overloaded 3 times, rate limit reached");
        let broken = [ErrorClass::Damaged, ErrorClass::Cut, ErrorClass::Cut];
        assert_eq!(
            failures(&broken),
            "the reply was damaged on its way, the reply broke off twice"
        );
    }
}
