//! `longhaul serve`: the gateway, served until a signal ends it.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::config::Config;
use longhaul_core::models::ModelTable;
use longhaul_gateway::front::{
    Gateway, GatewayOptions, KeylessClients, SessionNames, StartError, UpstreamChoice,
    raise_open_files,
};
use longhaul_gateway::manage::NotesMode;
use longhaul_gateway::policy::{PolicyRule, PolicyRules, RecallMode, rules_of};
use longhaul_gateway::proof::GatewayProof;
use longhaul_provider::Secret;
use longhaul_store::layout::Home;

use crate::api_url;
use crate::args::ServeArgs as Command;
use crate::failure::{CliError, CliOutcome, tell, warn};
use crate::gateway_store::{self, GatewayStore, SharedStoreNotice};
use crate::running_gateways::{self, PublishedGateway};
use crate::settings::{self, CommandSettings, given_flags};
use crate::signals::EndSignals;
use crate::sim;

/// The variable that holds the token.
pub(crate) const TOKEN: &str = "LONGHAUL_GATEWAY_TOKEN";
/// The variable that holds the token for clients, unless another is named.
const CLIENT_TOKEN: &str = "LONGHAUL_GATEWAY_CLIENT_TOKEN";
/// The default file of rules, below LONGHAUL_HOME.
const RULES: &str = "gateway.toml";

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let recall = command.recall.then(|| "true".to_owned());
    let hashes = command.hashes.then(|| "true".to_owned());
    let config = given.resolve_for_serve(given_flags([
        ("models.file", &command.models),
        ("window.cap", &command.window),
        ("economy", &command.economy),
        ("reduce", &command.reduce),
        ("gateway.recall", &recall),
        ("gateway.hashes", &hashes),
    ]))?;
    let mut runtime = match command.threads {
        // A single thread needs no locking between threads.
        Some(1) => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if let Some(threads) = command.threads {
        runtime.worker_threads(usize::from(threads));
    }
    let runtime = runtime.enable_all().build().map_err(CliError::Runtime)?;
    raise_open_files();
    let books = runtime.block_on(gateway_store::open(
        command.store.as_deref(),
        given,
        SharedStoreNotice::Told,
    ))?;
    tell_dropped(books.store.dropped());
    let mut options = gateway_options(command, given, config, &books)?;
    let proof = GatewayProof::draw().ok();
    options.proof.clone_from(&proof);
    let outcome = runtime.block_on(serve(options, command, given, proof));
    // Held for as long as the gateway runs.
    drop(books.lease);
    outcome
}

/// The options of the gateway that these flags describe.
pub(crate) fn gateway_options(
    command: &Command,
    given: &CommandSettings,
    config: Config,
    books: &GatewayStore,
) -> Result<GatewayOptions, CliError> {
    let upstream = upstream(&command.upstream)?;
    let store = Arc::clone(&books.store);
    let mut options = GatewayOptions::new(upstream, store, books.tenants.clone());
    options.peers.clone_from(&books.peers);
    options.listen = sim::address(&command.listen)?;
    options.policies = policies(command, given)?;
    options.breakpoint_mode = command.marks;
    options.notes = if command.notes {
        NotesMode::On
    } else {
        NotesMode::Off
    };
    options.recall = RecallMode::from(config.gateway_recall);
    options.session_names = SessionNames::from(config.gateway_hashes);
    options.models = settings::models(&config)?;
    check_window(&config, &options.models)?;
    options.retention_days = config.retention_days;
    options.config = config;
    options.clearable = command.clearable.clone();
    options.token = secret(TOKEN);
    options.client_token = client_token(&command.client_token_env)?;
    options.allowed_hosts = command.allow_host.clone();
    options.keyless = if command.share_keyless {
        KeylessClients::Shared
    } else {
        KeylessClients::Apart
    };
    options.upstream_ca = command.upstream_ca.as_deref().map(roots).transpose()?;
    let limits = &mut options.limits;
    limits.body = command.max_body.unwrap_or(limits.body);
    limits.memory = command.max_memory.unwrap_or(limits.memory);
    let requests = command.max_requests.map(|most| most as usize);
    limits.requests = requests.unwrap_or(limits.requests);
    let seconds = |given: Option<u64>, usual| given.map_or(usual, Duration::from_secs);
    let timeouts = &mut options.timeouts;
    timeouts.upstream_idle = seconds(command.idle, timeouts.upstream_idle);
    timeouts.drain = seconds(command.drain, timeouts.drain);
    Ok(options)
}

/// Refuses a cap of the window within which no model could work, where nothing would ever be made smaller.
fn check_window(config: &Config, models: &ModelTable) -> Result<(), CliError> {
    let widest = models.models().max_by_key(|spec| spec.window);
    match widest.map(|spec| longhaul::window(config, spec)) {
        Some(Err(error)) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Starts a gateway.
pub(crate) async fn start(options: GatewayOptions) -> Result<Gateway, CliError> {
    Gateway::start(options).await.map_err(|error| match error {
        StartError::Listen { addr, source } => CliError::Listen {
            addr: addr.to_string(),
            source,
        },
        other => CliError::Gateway(other),
    })
}

/// Says how many entries of earlier versions could not be used.
fn tell_dropped(dropped: u64) {
    if dropped > 0 {
        let texts = crate::text::count(dropped, "summary or note", "summaries and notes");
        tell(&format!(
            "Dropped {texts} of an earlier version, which cannot be checked: they are made again when they are needed."
        ));
    }
}

/// The value of a variable, if it is not empty.
fn secret(name: &str) -> Option<Secret> {
    let held = std::env::var(name).ok().map(Secret::new);
    held.filter(|token| !token.expose().is_empty())
}

/// The token that clients must send. A variable that was named must have a value: a gateway that is meant to be closed
/// must not be open.
fn client_token(name: &str) -> Result<Option<Secret>, CliError> {
    match secret(name) {
        None if name != CLIENT_TOKEN => Err(CliError::NoClientToken(name.to_owned())),
        token => Ok(token),
    }
}

fn roots(path: &Path) -> Result<Vec<u8>, CliError> {
    std::fs::read(path).map_err(|source| CliError::Read {
        path: path.to_owned(),
        source,
    })
}

async fn serve(
    options: GatewayOptions,
    command: &Command,
    given: &CommandSettings,
    proof: Option<GatewayProof>,
) -> Result<CliOutcome, CliError> {
    let tokens = PresentTokens {
        page: options.token.is_some(),
        clients: options.client_token.is_some(),
    };
    let gateway = start(options).await?;
    let mut signals = EndSignals::listen().map_err(CliError::Runtime)?;
    let _published = publish(&gateway, command, given, proof, tokens);
    announce(&gateway, &command.upstream, tokens)?;
    signals.received().await;
    let under_way = gateway.metrics().under_way();
    if under_way > 0 {
        let requests = crate::text::count(under_way.unsigned_abs(), "request", "requests");
        tell(&format!("Waiting for {requests} to finish."));
    }
    let cut_off = gateway.cut_off();
    let mut stopping = std::pin::pin!(gateway.stop());
    tokio::select! {
        () = &mut stopping => return Ok(CliOutcome::Fine),
        // A second signal means that the user does not want to wait.
        _ = signals.received() => cut_off.cancel(),
    }
    tokio::select! {
        () = stopping => {}
        _ = signals.received() => {}
    }
    Ok(CliOutcome::Fine)
}

/// Lets `longhaul wrap` find this gateway, if an agent could use it without a token of ours.
fn publish(
    gateway: &Gateway,
    command: &Command,
    given: &CommandSettings,
    proof: Option<GatewayProof>,
    tokens: PresentTokens,
) -> Option<PublishedGateway> {
    let proof = proof.filter(|_| gateway.addr().ip().is_loopback() && !tokens.clients)?;
    let (url, port) = (gateway.url(), gateway.addr().port());
    let published = running_gateways::publish(given, &url, port, &command.upstream, &proof);
    published
        .inspect_err(|error| tracing::debug!(%error, "other programs cannot find this gateway"))
        .ok()
}

/// Which tokens there are.
#[derive(Clone, Copy)]
struct PresentTokens {
    page: bool,
    clients: bool,
}

/// Prints the address on stdout, for programs, and a hint for people on stderr.
fn announce(gateway: &Gateway, upstream: &str, tokens: PresentTokens) -> Result<(), CliError> {
    let url = gateway.url();
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening on {url}")
        .and_then(|()| out.flush())
        .map_err(CliError::Stdout)?;
    match upstream {
        "sim" => {
            tell("A simulated model answers: nothing reaches a real one, and any key is accepted.")
        }
        _ => tell("Conversations are kept within the window; --policy observe changes nothing."),
    }
    tell(&format!("  ANTHROPIC_BASE_URL={url} claude"));
    tell(&format!("  OPENAI_BASE_URL={url}/v1 your-agent"));
    tell(&format!(
        "  {url}/      the conversations and what they cost"
    ));
    if !gateway.addr().ip().is_loopback() {
        if !tokens.clients {
            warn(&format!(
                "it listens beyond this machine: anyone who reaches the port can send requests through it; set {CLIENT_TOKEN} to close it."
            ));
        }
        if !tokens.page {
            warn(&format!(
                "sessions and counters are not shown: set {TOKEN} to see them."
            ));
        }
    }
    Ok(())
}

fn upstream(text: &str) -> Result<UpstreamChoice, CliError> {
    if text == "sim" {
        return Ok(UpstreamChoice::Simulated);
    }
    Ok(UpstreamChoice::Url(api_url::read("--upstream", text)?))
}

fn policies(command: &Command, given: &CommandSettings) -> Result<PolicyRules, CliError> {
    let flags = command.policy.iter().map(|rule| rule.parse::<PolicyRule>());
    let mut rules = flags
        .collect::<Result<Vec<_>, _>>()
        .map_err(CliError::Rule)?;
    let usual = Home::longhaul(&given.env).ok();
    let usual = usual.map(|home| home.root().join(RULES));
    let file = command
        .rules
        .clone()
        .or_else(|| usual.filter(|path| path.exists()));
    if let Some(path) = file {
        let text = std::fs::read_to_string(&path).map_err(|source| CliError::Read {
            path: path.clone(),
            source,
        })?;
        rules.extend(rules_of(&text).map_err(|source| CliError::Rules { path, source })?);
    }
    Ok(PolicyRules {
        rules,
        ..PolicyRules::default()
    })
}
