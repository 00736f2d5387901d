//! The usage log: whether it can be read, is intact, and is of a format that this version knows.

use std::fs;
use std::path::Path;

use longhaul_gateway::store::{ReadOnlyUsageLog, StoreError, open_shared_store};

use super::finding::{Finding, FindingState};
use crate::failure::CliError;
use crate::gateway_store;
use crate::settings::CommandSettings;

const CHECK: &str = "usage log";
const SECRET_BYTES: u64 = 32;

/// What is found of the usage log that a flag names, or of the default one.
pub(super) fn usage_log(named: Option<&str>, given: &CommandSettings) -> Result<Finding, CliError> {
    let file = match gateway_store::file(named, given) {
        Ok(file) => file,
        // The check of the home says what is wrong with it.
        Err(CliError::Home(error)) => {
            return Ok(
                Finding::new(CHECK, FindingState::Broken, error.to_string()).advise(
                    "Set LONGHAUL_HOME to a folder of your own, or name a file with --store.",
                ),
            );
        }
        Err(error) => return Err(error),
    };
    Ok(match (file, named) {
        (Some(path), _) => of_file(&path),
        (None, Some(url)) if url != "memory" => of_server(url)?,
        _ => Finding::new(CHECK, FindingState::Note, "is kept in memory alone"),
    })
}

fn broken(says: impl Into<String>, advice: &str) -> Finding {
    Finding::new(CHECK, FindingState::Broken, says).advise(advice)
}

fn of_file(path: &Path) -> Finding {
    let shown = path.display();
    match fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let says = format!("{shown} does not exist yet; the first gateway creates it");
            return Finding::new(CHECK, FindingState::Ok, says);
        }
        Err(error) => {
            return broken(
                format!("{shown} cannot be read: {error}"),
                "Make it yours (chown, chmod u+rw), or name another file with --store sqlite:PATH.",
            );
        }
        Ok(_) => {}
    }
    let problems = ReadOnlyUsageLog::open(path).and_then(|log| log.problems());
    match problems {
        Err(error @ StoreError::Newer { .. }) => broken(
            error.to_string(),
            "Install the newer longhaul, or name another file with --store sqlite:PATH.",
        ),
        Err(error) => broken(
            error.to_string(),
            "Move the file away: the gateway begins a new one, and its summaries are made again. Or restore it from a backup.",
        ),
        Ok(problems) if !problems.is_empty() => broken(
            format!("{shown} is damaged: {}", problems.join("; ")),
            "Move the file away: the gateway begins a new one, and its summaries are made again. Or restore it from a backup.",
        ),
        Ok(_) => secret(path),
    }
}

/// The secret beside the file: a gateway does not start with one that is damaged.
fn secret(path: &Path) -> Finding {
    let secret = gateway_store::secret_of(path);
    match fs::metadata(&secret) {
        Ok(found) if found.len() != SECRET_BYTES && found.len() != 0 => broken(
            format!("the secret {} is not 32 bytes long", secret.display()),
            "Delete it to begin anew: conversations are then recognized from their next request on.",
        ),
        _ => Finding::new(
            CHECK,
            FindingState::Ok,
            format!("{} is intact", path.display()),
        ),
    }
}

/// A server is asked for an answer, and nothing else.
fn of_server(url: &str) -> Result<Finding, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let asked = runtime.block_on(async { open_shared_store(url).await?.store.probe().await });
    Ok(match asked {
        Ok(()) => Finding::new(
            CHECK,
            FindingState::Ok,
            "the server answers and can be written to",
        ),
        Err(error @ StoreError::NoPostgres) => broken(
            error.to_string(),
            "Install a package, or build with `--features postgres`.",
        ),
        Err(error) => broken(
            error.to_string(),
            "Check the address, the user's rights and that the server runs; docs/gateway.md says what the URL looks like.",
        ),
    })
}
