//! Ports, gateways that run, proxy variables, and the upstreams: whether they answer, take the key, and tell the same time.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use jiff::Timestamp;
use longhaul_provider::{Certificates, chain, http_client};

use super::finding::{Finding, FindingState};
use crate::agents::AgentProfile;
use crate::args::DoctorArgs as Command;
use crate::failure::{API_URL_ADVICE, CliError};
use crate::running_gateways::RunningGateway;
use crate::wrap;

const UPSTREAM: &str = "upstream";
/// How long an upstream may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// By how many seconds the clocks may differ.
const SKEW: i64 = 60;
/// From how many seconds on certificates and logins are refused.
const LARGE_SKEW: i64 = 300;
/// The upstream that is asked if nothing names one.
const USUAL: &str = "https://api.anthropic.com";
/// Variables that send requests through a proxy.
const PROXIES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Whether `longhaul serve` could listen there.
pub(super) fn port(listen: SocketAddr, running: &[RunningGateway]) -> Finding {
    let url = format!("http://{listen}");
    if let Some(own) = running.iter().find(|one| one.url == url) {
        let says = format!("{listen} is used by your own gateway (process {})", own.pid);
        return Finding::new("port", FindingState::Ok, says);
    }
    match TcpListener::bind(listen) {
        Ok(_) => Finding::new("port", FindingState::Ok, format!("{listen} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Finding::new(
            "port",
            FindingState::Broken,
            format!("{listen} is in use by another program"),
        )
        .advise("Start the gateway elsewhere (--listen 127.0.0.1:0 picks a free port), or end that program. `longhaul wrap` picks a free port anyway."),
        Err(error) => Finding::new(
            "port",
            FindingState::Broken,
            format!("cannot listen on {listen}: {error}"),
        )
        .advise("Use an address of this machine and a port above 1023, as in --listen 127.0.0.1:8787."),
    }
}

/// The gateways that run.
pub(super) fn gateways(running: &[RunningGateway]) -> Vec<Finding> {
    let each = running.iter().map(|one| {
        let says = format!(
            "{} in front of {} (process {})",
            one.url, one.upstream, one.pid
        );
        Finding::new("gateway", FindingState::Ok, says)
    });
    each.collect()
}

/// What proxy variables do.
pub(super) fn proxies(variable: impl Fn(&str) -> Option<String>) -> Option<Finding> {
    let is_set = |name: &&&str| variable(name).is_some_and(|value| !value.is_empty());
    let set: Vec<&str> = PROXIES.iter().filter(is_set).copied().collect();
    if set.is_empty() {
        return None;
    }
    let exceptions = ["NO_PROXY", "no_proxy"].into_iter().filter_map(&variable);
    let mut exceptions =
        exceptions.flat_map(|list| list.split(',').map(str::to_owned).collect::<Vec<_>>());
    let is_here_excepted = exceptions.any(|host| matches!(host.trim(), "127.0.0.1" | "*"));
    let says = format!(
        "{} set; the gateway itself connects to the upstream directly",
        are(&set)
    );
    Some(if is_here_excepted {
        Finding::new("proxy", FindingState::Note, says)
            .advise("If the upstream can only be reached through the proxy, give --upstream an address that can be reached directly.")
    } else {
        let says =
            format!("{says}; clients that honor it reach the gateway through the proxy, and fail");
        Finding::new("proxy", FindingState::Warning, says)
            .advise("Set NO_PROXY=127.0.0.1 for clients of `longhaul serve`; `longhaul wrap` does it by itself.")
    })
}

fn are(names: &[&str]) -> String {
    match names {
        [one] => format!("{one} is"),
        many => format!("{} are", many.join(", ")),
    }
}

/// An upstream to ask, and the variable with the key that it should take.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AskedUpstream {
    url: String,
    key: Option<String>,
}

/// Which upstreams are asked: the one that a flag names, those that these agents would use, or the usual one. An address
/// that the user's surroundings name, and that cannot be used, is a finding; one on the command line is a wrong command.
pub(super) fn upstreams(
    chosen: &[AgentProfile],
    command: &Command,
) -> Result<(Vec<AskedUpstream>, Vec<Finding>), CliError> {
    let has_key = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let mut asked: Vec<AskedUpstream> = Vec::new();
    let mut refused: Vec<Finding> = Vec::new();
    // Nobody has said that this one should get a key.
    let is_bare = command.upstream.is_some() && command.agent.is_none();
    let chosen = if is_bare { &[] } else { chosen };
    for api in chosen.iter().flat_map(|agent| agent.api.values()) {
        let url = match &command.upstream {
            Some(url) => wrap::upstream_of(url)?,
            None => match wrap::usual_upstream(api) {
                Ok(url) => url,
                Err(error @ CliError::Upstream(_)) => {
                    refused.push(unusable(&error));
                    continue;
                }
                Err(error) => return Err(error),
            },
        };
        let key = api.key.clone().filter(has_key);
        // Of several providers, only those count that the user has a key for.
        let is_wanted = key.is_some() || command.agent.is_some();
        let one = AskedUpstream { url, key };
        if is_wanted && !asked.iter().any(|known| known.url == one.url) {
            asked.push(one);
        }
    }
    // An agent with several APIs needs one key.
    if asked.iter().any(|one| one.key.is_some()) {
        asked.retain(|one| one.key.is_some());
    }
    if asked.is_empty() && refused.is_empty() {
        let url = command.upstream.as_deref().unwrap_or(USUAL);
        asked.push(AskedUpstream {
            url: wrap::upstream_of(url)?,
            key: None,
        });
    }
    // Several agents may use the same variable.
    refused.dedup_by(|one, other| one.says == other.says);
    Ok((asked, refused))
}

fn unusable(refused: &CliError) -> Finding {
    Finding::new(UPSTREAM, FindingState::Broken, refused.to_string()).advise(API_URL_ADVICE)
}

/// Asks each of them for its list of models, which costs nothing.
pub(super) async fn ask(asked: &[AskedUpstream]) -> Vec<Finding> {
    let mut found = Vec::new();
    for one in asked {
        found.extend(ask_one(one).await);
    }
    found
}

async fn ask_one(asked: &AskedUpstream) -> Vec<Finding> {
    let url = &asked.url;
    let unreachable = |why: String| {
        vec![
            Finding::new(UPSTREAM, FindingState::Broken, format!("{url} cannot be reached: {why}")).advise(
                "Check the network and the address. The gateway connects directly, without a proxy; a private certificate authority is named with --upstream-ca. --offline leaves this check out.",
            ),
        ]
    };
    let certificates = if url.starts_with("https:") {
        Certificates::OfTheSystem
    } else {
        Certificates::None
    };
    let client = match http_client(certificates, None) {
        Ok(client) => client.timeout(PATIENCE).build(),
        Err(error) => return unreachable(error.to_string()),
    };
    let client = match client {
        Ok(client) => client,
        Err(error) => return unreachable(chain(&error.without_url())),
    };
    let mut request = client.get(format!("{url}/v1/models"));
    let key = asked.key.as_ref().and_then(|name| std::env::var(name).ok());
    if let (Some(name), Some(key)) = (&asked.key, &key) {
        request = if name.starts_with("ANTHROPIC") {
            request
                .header("x-api-key", key)
                .header("anthropic-version", "2023-06-01")
        } else {
            request.bearer_auth(key)
        };
    }
    let answer = match request.send().await {
        Ok(answer) => answer,
        Err(error) => return unreachable(chain(&error.without_url())),
    };
    let date = answer
        .headers()
        .get("date")
        .and_then(|date| date.to_str().ok());
    let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    let mut found = vec![judge(url, answer.status().as_u16(), asked.key.as_deref())];
    found.extend(date.and_then(|date| clock(date.timestamp(), Timestamp::now())));
    found
}

/// What a status says of the upstream and of the key that was sent.
fn judge(url: &str, status: u16, key: Option<&str>) -> Finding {
    match (status, key) {
        (200..300, Some(key)) => Finding::new(
            UPSTREAM,
            FindingState::Ok,
            format!("{url} answers and takes the key in {key}"),
        ),
        (401 | 403, Some(key)) => Finding::new(
            UPSTREAM,
            FindingState::Broken,
            format!("{url} refuses the key in {key} ({status})"),
        )
        .advise(format!(
            "Set {key} to a valid key for this API, or unset it to use a login."
        )),
        (500.., _) => Finding::new(
            UPSTREAM,
            FindingState::Warning,
            format!("{url} answers with {status}"),
        )
        .advise("Try again later: the fault is the upstream's."),
        (_, Some(_)) => Finding::new(
            UPSTREAM,
            FindingState::Note,
            format!("{url} answers with {status}, so the key could not be checked"),
        ),
        (_, None) => Finding::new(
            UPSTREAM,
            FindingState::Ok,
            format!("{url} answers; no key was sent"),
        ),
    }
}

/// Whether the upstream's clock and ours agree.
fn clock(theirs: Timestamp, ours: Timestamp) -> Option<Finding> {
    let apart = ours.as_second() - theirs.as_second();
    let state = match apart.abs() {
        ..SKEW => {
            return Some(Finding::new(
                "clock",
                FindingState::Ok,
                "agrees with the upstream's",
            ));
        }
        SKEW..LARGE_SKEW => FindingState::Warning,
        _ => FindingState::Broken,
    };
    let direction = if apart > 0 { "ahead of" } else { "behind" };
    let says = format!(
        "this machine's clock is {} s {direction} the upstream's",
        apart.abs()
    );
    let advice = "Set the clock (timedatectl set-ntp true): certificates and logins fail, and times in the usage log are wrong.";
    Some(Finding::new("clock", state, says).advise(advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_differ_are_told_with_the_direction() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let state = |theirs, ours| clock(time(theirs), time(ours)).unwrap();
        assert_eq!(state(1_000, 1_030).state, FindingState::Ok);
        assert_eq!(state(1_000, 1_090).state, FindingState::Warning);
        let far = state(10_000, 1_000);
        assert_eq!(far.state, FindingState::Broken);
        assert!(far.says.contains("9000 s behind"), "{}", far.says);
    }

    #[test]
    fn a_status_says_whether_the_key_is_taken() {
        let of = |status, key| judge("https://x", status, key).state;
        assert_eq!(of(200, Some("K")), FindingState::Ok);
        assert_eq!(of(401, Some("K")), FindingState::Broken);
        assert_eq!(of(401, None), FindingState::Ok);
        assert_eq!(of(404, Some("K")), FindingState::Note);
        assert_eq!(of(529, None), FindingState::Warning);
    }

    #[test]
    fn proxies_that_would_catch_the_gateway_are_warned_of() {
        let of = |set: &'static [(&str, &str)]| {
            proxies(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(of(&[]).is_none());
        let secret = of(&[("HTTPS_PROXY", "http://me:pass@proxy")]).unwrap();
        assert_eq!(secret.state, FindingState::Warning);
        assert!(!format!("{secret:?}").contains("pass"));
        let excepted = of(&[("http_proxy", "http://p"), ("no_proxy", "a, 127.0.0.1")]).unwrap();
        assert_eq!(excepted.state, FindingState::Note);
    }
}
