//! The text form of faults, such as `after 5: 529*2, reset; 1%: 429(retry-after=2)`.
//!
//! ```text
//! spec  = rule *( ";" rule )
//! rule  = [ when ":" ] fault *( "," fault )
//! when  = "after" ["request"] N | "every" N | P "%"
//! fault = name [ "(" argument *( "," argument ) ")" ] [ "*" N ]
//! ```

use std::time::Duration;

use super::arguments::FaultArguments;
use super::spec_error::FaultSpecError;
use super::{FaultTrigger, InjectedFault};

/// A parsed rule: its trigger, if it has one, and its faults, each with its number of repetitions.
pub(super) type ParsedRule = (Option<FaultTrigger>, Vec<(InjectedFault, u32)>);

pub(super) fn parse(spec: &str) -> Result<Vec<ParsedRule>, FaultSpecError> {
    spec.trim()
        .trim_end_matches(';')
        .split(';')
        .map(rule)
        .collect()
}

fn rule(text: &str) -> Result<ParsedRule, FaultSpecError> {
    let (when, faults) = match text.split_once(':') {
        Some((when, faults)) => (Some(self::when(when.trim())?), faults),
        None => (None, text),
    };
    let faults = split(faults)?.into_iter().map(repeated);
    Ok((when, faults.collect::<Result<_, _>>()?))
}

fn when(text: &str) -> Result<FaultTrigger, FaultSpecError> {
    let wrong = || FaultSpecError::When(text.to_owned());
    if let Some(percent) = text.strip_suffix('%') {
        let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
        return match percent {
            0.0..=100.0 => Ok(FaultTrigger::Chance((percent * 10_000.0).round() as u32)),
            _ => Err(wrong()),
        };
    }
    let words: Vec<_> = text.split_whitespace().collect();
    match words[..] {
        ["after", number] | ["after", "request", number] => {
            number.parse().map(FaultTrigger::After).map_err(|_| wrong())
        }
        ["every", number] => match number.parse() {
            Ok(step) if step > 0 => Ok(FaultTrigger::Every(step)),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// Splits at commas that are not within parentheses.
fn split(text: &str) -> Result<Vec<&str>, FaultSpecError> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' if !inside => inside = true,
            ')' if inside => inside = false,
            '(' | ')' => return Err(FaultSpecError::Parenthesis(text.trim().to_owned())),
            ',' if !inside => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(FaultSpecError::Parenthesis(text.trim().to_owned()));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

fn repeated(text: &str) -> Result<(InjectedFault, u32), FaultSpecError> {
    let (fault, times) = match text.rsplit_once('*') {
        Some((fault, times)) => (fault, times.trim()),
        None => (text, "1"),
    };
    let count: u32 = times.parse().unwrap_or(0);
    if !(1..=1_000_000).contains(&count) {
        return Err(FaultSpecError::Times(times.to_owned()));
    }
    Ok((self::fault(fault.trim())?, count))
}

pub(super) fn fault(text: &str) -> Result<InjectedFault, FaultSpecError> {
    if text.is_empty() {
        return Err(FaultSpecError::Empty);
    }
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) => (name.trim(), rest.trim_end_matches(')')),
        None => (text, ""),
    };
    let mut arguments = FaultArguments::new(name, arguments);
    let fault = match name {
        "429" => InjectedFault::RateLimited {
            retry_after: arguments.retry_after()?,
        },
        "529" => InjectedFault::Overloaded,
        "500" => InjectedFault::Internal,
        "slow" => InjectedFault::SlowFirstByte {
            by: arguments
                .duration("by, as in `slow(2s)`")?
                .unwrap_or(Duration::from_secs(5)),
        },
        "stall" => InjectedFault::Stall {
            after: arguments.after()?,
            lasting: arguments
                .duration("for and after, as in `stall(30s)` or `stall(after=3,for=30s)`")?,
        },
        "reset" => InjectedFault::Reset {
            after: arguments.after()?,
        },
        "truncate" => InjectedFault::Truncate {
            after: arguments.after()?,
        },
        "malformed" => InjectedFault::Malformed {
            after: arguments.after()?,
        },
        "error" => InjectedFault::ErrorEvent {
            after: arguments.after()?,
        },
        _ => return Err(FaultSpecError::Unknown(name.to_owned())),
    };
    arguments.done()?;
    Ok(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> InjectedFault {
        let rules = parse(text).unwrap();
        rules[0].1[0].0
    }

    #[test]
    fn every_fault_can_be_written_and_reads_back_as_it_prints() {
        let seconds = Duration::from_secs;
        let table = [
            (
                "429",
                InjectedFault::RateLimited {
                    retry_after: Some(1),
                },
            ),
            (
                "429(7)",
                InjectedFault::RateLimited {
                    retry_after: Some(7),
                },
            ),
            (
                "429(retry-after=none)",
                InjectedFault::RateLimited { retry_after: None },
            ),
            ("529", InjectedFault::Overloaded),
            ("500", InjectedFault::Internal),
            ("slow", InjectedFault::SlowFirstByte { by: seconds(5) }),
            (
                "slow(250ms)",
                InjectedFault::SlowFirstByte {
                    by: Duration::from_millis(250),
                },
            ),
            (
                "stall",
                InjectedFault::Stall {
                    after: 3,
                    lasting: None,
                },
            ),
            (
                "stall(30s)",
                InjectedFault::Stall {
                    after: 3,
                    lasting: Some(seconds(30)),
                },
            ),
            (
                "stall(after=1, for=1.5s)",
                InjectedFault::Stall {
                    after: 1,
                    lasting: Some(Duration::from_millis(1500)),
                },
            ),
            ("reset", InjectedFault::Reset { after: 3 }),
            ("reset(0)", InjectedFault::Reset { after: 0 }),
            ("truncate(after=2)", InjectedFault::Truncate { after: 2 }),
            ("malformed", InjectedFault::Malformed { after: 3 }),
            ("error", InjectedFault::ErrorEvent { after: 3 }),
        ];
        for (text, fault) in table {
            assert_eq!(one(text), fault, "{text}");
            assert_eq!(one(&fault.to_string()), fault, "{text} printed");
        }
    }

    #[test]
    fn rules_say_when_and_how_often() {
        let rules =
            parse("after request 5: 529*2, reset ; 0.5%: 500; every 4: slow(1s); 529*3;").unwrap();
        let whens: Vec<_> = rules.iter().map(|rule| rule.0).collect();
        let expected = [
            Some(FaultTrigger::After(5)),
            Some(FaultTrigger::Chance(5000)),
            Some(FaultTrigger::Every(4)),
            None,
        ];
        assert_eq!(whens, expected);
        assert_eq!(
            rules[0].1,
            [
                (InjectedFault::Overloaded, 2),
                (InjectedFault::Reset { after: 3 }, 1)
            ]
        );
    }

    #[test]
    fn mistakes_are_named_with_what_would_be_right() {
        let table = [
            ("", "a fault is missing"),
            ("529;;500", "a fault is missing"),
            ("418", "there is no fault `418`"),
            ("sometimes: 529", "`sometimes` does not say when"),
            ("150%: 529", "`150%` does not say when"),
            ("every 0: 529", "`every 0` does not say when"),
            ("529*0", "`*0` does not say how often"),
            ("529*many", "`*many` does not say how often"),
            ("529(3)", "`529` takes no `3`"),
            ("slow(soon)", "`slow` takes no `soon`"),
            ("reset(before=1)", "`reset` takes no `before=1`"),
            ("429(retry-after=soon)", "`429` takes no `retry-after=soon`"),
            ("slow(1s", "parenthesis"),
        ];
        for (text, sentence) in table {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(sentence), "{text}: {error}");
        }
    }
}
