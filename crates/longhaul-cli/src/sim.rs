//! `longhaul sim`: the offline world, served until a signal ends it.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use longhaul_core::models::ModelTable;
use longhaul_sim::books::Account;
use longhaul_sim::faults::wire::Pace;
use longhaul_sim::faults::{Fault, Plan};
use longhaul_sim::model::misbehave::Misbehaviour;
use longhaul_sim::model::script::{Script, ScriptError};
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{Options, Server, Time};
use longhaul_sim::world::{self, World};

use crate::args::Sim as Command;
use crate::failure::{Failure, Outcome, tell, warn};
use crate::settings::{self, Given};
use crate::signals::EndSignals;
use crate::terminal::grouped;

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    let config = given.resolve(Vec::new())?;
    let models = settings::models(&config)?;
    let listen = address(&command.listen)?;
    let options = options(command, &models)?;
    let world = World::new(world::Options {
        models,
        pace: Options::world_pace(options.pace),
        ..world::Options::new(command.seed, Box::new(model(command)?))
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)?;
    runtime.block_on(serve(listen, world, options))
}

async fn serve(listen: SocketAddr, world: World, options: Options) -> Result<Outcome, Failure> {
    let time = options.time;
    let started = Server::start(listen, world, options).await;
    let server = started.map_err(|source| Failure::Listen {
        addr: listen.to_string(),
        source,
    })?;
    let mut signals = EndSignals::listen().map_err(Failure::Runtime)?;
    announce(&server, time)?;
    signals.received().await;
    let books = server.with_world(|world| world.books().total);
    server.stop().await;
    tell(&farewell(&books));
    Ok(Outcome::Fine)
}

/// Says where it listens on stdout, for programs, and what that is for on stderr.
fn announce(server: &Server, time: Time) -> Result<(), Failure> {
    let url = server.url();
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening on {url}")
        .and_then(|()| out.flush())
        .map_err(Failure::Stdout)?;
    tell(
        "This is a simulator of the Messages API. Nothing sent to it reaches a model, and any key is good.",
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
    if time == Time::Virtual {
        tell(&format!(
            "Time stands still; `curl -d '{{\"advance_ms\":300000}}' {url}/sim/clock` lets five minutes pass."
        ));
    }
    if !server.addr().ip().is_loopback() {
        warn("it listens beyond this machine: whoever reaches the port can use and steer it.");
    }
    Ok(())
}

fn farewell(books: &Account) -> String {
    format!(
        "{} requests, {} refused; {} prompt tokens, {:.1}% from the cache; it would have cost ${:.4}.",
        grouped(books.requests),
        grouped(books.errors),
        grouped(books.prompt_tokens()),
        books.hit_rate * 100.0,
        books.cost_usd.to_f64(),
    )
}

/// The first address that a text stands for; a bare port is one of this machine's.
pub(crate) fn address(text: &str) -> Result<SocketAddr, Failure> {
    let bad = || Failure::BadAddress(text.to_owned());
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let mut found = text.to_socket_addrs().map_err(|_| bad())?;
    found.next().ok_or_else(bad)
}

fn options(command: &Command, models: &ModelTable) -> Result<Options, Failure> {
    let spec = command.faults.as_deref();
    let faults = match spec {
        None => Plan::default(),
        Some(spec) => Plan::parse(spec, command.seed).map_err(|source| Failure::Faults {
            spec: spec.to_owned(),
            source,
        })?,
    };
    let model = models.resolve(&command.model).spec;
    if !models.models().any(|known| known.id == model.id) {
        return Err(Failure::NoSuchModel(command.model.clone()));
    }
    Ok(Options {
        faults,
        pace: Pace::parse(&command.pace).ok_or_else(|| Failure::Pace(command.pace.clone()))?,
        time: if command.virtual_time {
            Time::Virtual
        } else {
            Time::Real
        },
        model: command.model.clone(),
        seed: command.seed,
        log: log(command)?,
    })
}

fn log(command: &Command) -> Result<Option<Box<dyn Write + Send>>, Failure> {
    let Some(path) = &command.json_log else {
        return Ok(None);
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    match file {
        Ok(file) => Ok(Some(Box::new(file))),
        Err(source) => Err(Failure::Write {
            path: path.clone(),
            source,
        }),
    }
}

/// What answers: the script if there is one, else the agent; and what it does wrong.
fn model(command: &Command) -> Result<SimModel, Failure> {
    let misbehaviour = match &command.misbehave {
        None => Misbehaviour::default(),
        Some(spec) => spec.parse().map_err(|source| Failure::Misbehave {
            spec: spec.clone(),
            source,
        })?,
    };
    let script = command.script.as_deref().map(script).transpose()?;
    Ok(SimModel::new(model::Options {
        seed: command.seed,
        script,
        misbehaviour,
        ..model::Options::default()
    }))
}

fn script(path: &Path) -> Result<Script, Failure> {
    let text = std::fs::read_to_string(path).map_err(|source| Failure::Read {
        path: path.to_owned(),
        source,
    })?;
    let wrong = |source| Failure::Script {
        path: path.to_owned(),
        source,
    };
    let script = Script::parse(&text).map_err(wrong)?;
    for (line, fault) in script.faults() {
        if let Err(error) = fault.parse::<Fault>() {
            let message = error.to_string();
            return Err(wrong(ScriptError { line, message }));
        }
    }
    Ok(script)
}
