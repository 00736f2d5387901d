//! `longhaul sim`: the offline world, served until a signal ends it.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use longhaul_core::models::ModelTable;
use longhaul_sim::faults::wire::EventPace;
use longhaul_sim::faults::{FaultPlan, InjectedFault};
use longhaul_sim::model::misbehave::Misbehavior;
use longhaul_sim::model::script::{ReplyScript, ScriptError};
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::usage_log::UsageTotals;
use longhaul_sim::world::{self, World};

use crate::args::SimArgs as Command;
use crate::failure::{CliError, CliOutcome, tell, warn};
use crate::settings::{self, CommandSettings};
use crate::signals::EndSignals;
use longhaul_core::figures::{counted, grouped};

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(Vec::new())?;
    let models = settings::models(&config)?;
    let listen = address(&command.listen)?;
    let options = options(command, &models)?;
    let world = World::new(world::WorldOptions {
        models,
        pace: SimServerOptions::world_pace(options.pace),
        ..world::WorldOptions::new(command.seed, Box::new(model(command)?))
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    runtime.block_on(serve(listen, world, options))
}

async fn serve(
    listen: SocketAddr,
    world: World,
    options: SimServerOptions,
) -> Result<CliOutcome, CliError> {
    let time = options.time;
    let started = SimServer::start(listen, world, options).await;
    let server = started.map_err(|source| CliError::Listen {
        addr: listen.to_string(),
        source,
    })?;
    let mut signals = EndSignals::listen().map_err(CliError::Runtime)?;
    announce(&server, time)?;
    signals.received().await;
    let books = server.with_world(|world| world.usage_log().total);
    server.stop().await;
    tell(&farewell(&books));
    Ok(CliOutcome::Fine)
}

/// Prints the address on stdout, for programs, and a hint for people on stderr.
fn announce(server: &SimServer, time: TimeSource) -> Result<(), CliError> {
    let url = server.url();
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening on {url}")
        .and_then(|()| out.flush())
        .map_err(CliError::Stdout)?;
    tell(
        "This is a simulator of the Messages API. Nothing sent to it reaches a model, and any key is accepted.",
    );
    tell(&format!(
        "  ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=any claude"
    ));
    tell(&format!(
        "  OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY=any your-agent"
    ));
    tell(&format!(
        "  curl {url}/sim/books      what was read, written and spent"
    ));
    if time == TimeSource::Virtual {
        tell(&format!(
            "Time stands still; `curl -d '{{\"advance_ms\":300000}}' {url}/sim/clock` lets five minutes pass."
        ));
    }
    if !server.addr().ip().is_loopback() {
        warn("it listens beyond this machine: anyone who reaches the port can use and control it.");
    }
    Ok(())
}

fn farewell(books: &UsageTotals) -> String {
    format!(
        "{}, {} refused; {}, {:.1}% from the cache; it would have cost ${:.4}.",
        counted(books.requests, "request"),
        grouped(books.errors),
        counted(books.prompt_tokens(), "prompt token"),
        books.hit_rate * 100.0,
        books.cost_usd.to_f64(),
    )
}

/// The first address that a text resolves to; a bare port is a port of this machine.
pub(crate) fn address(text: &str) -> Result<SocketAddr, CliError> {
    let bad = || CliError::BadAddress(text.to_owned());
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let mut found = text.to_socket_addrs().map_err(|_| bad())?;
    found.next().ok_or_else(bad)
}

fn options(command: &Command, models: &ModelTable) -> Result<SimServerOptions, CliError> {
    let spec = command.faults.as_deref();
    let faults = match spec {
        None => FaultPlan::default(),
        Some(spec) => FaultPlan::parse(spec, command.seed).map_err(|source| CliError::Faults {
            spec: spec.to_owned(),
            source,
        })?,
    };
    let model = models.resolve(&command.model).spec;
    if !models.models().any(|known| known.id == model.id) {
        return Err(CliError::NoSuchModel(command.model.clone()));
    }
    Ok(SimServerOptions {
        faults,
        pace: EventPace::parse(&command.pace)
            .ok_or_else(|| CliError::Pace(command.pace.clone()))?,
        time: if command.virtual_time {
            TimeSource::Virtual
        } else {
            TimeSource::Real
        },
        model: command.model.clone(),
        seed: command.seed,
        log: log(command)?,
    })
}

fn log(command: &Command) -> Result<Option<Box<dyn Write + Send>>, CliError> {
    let Some(path) = &command.json_log else {
        return Ok(None);
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    match file {
        Ok(file) => Ok(Some(Box::new(file))),
        Err(source) => Err(CliError::Write {
            path: path.clone(),
            source,
        }),
    }
}

/// The model that answers: the script if there is one, otherwise the agent; with its misbehavior.
fn model(command: &Command) -> Result<SimModel, CliError> {
    let misbehavior = match &command.misbehave {
        None => Misbehavior::default(),
        Some(spec) => spec.parse().map_err(|source| CliError::Misbehave {
            spec: spec.clone(),
            source,
        })?,
    };
    let script = command.script.as_deref().map(script).transpose()?;
    Ok(SimModel::new(model::SimModelOptions {
        seed: command.seed,
        script,
        misbehavior,
        ..model::SimModelOptions::default()
    }))
}

fn script(path: &Path) -> Result<ReplyScript, CliError> {
    let text = std::fs::read_to_string(path).map_err(|source| CliError::Read {
        path: path.to_owned(),
        source,
    })?;
    let wrong = |source| CliError::Script {
        path: path.to_owned(),
        source,
    };
    let script = ReplyScript::parse(&text).map_err(wrong)?;
    for (line, fault) in script.faults() {
        if let Err(error) = fault.parse::<InjectedFault>() {
            let message = error.to_string();
            return Err(wrong(ScriptError { line, message }));
        }
    }
    Ok(script)
}
