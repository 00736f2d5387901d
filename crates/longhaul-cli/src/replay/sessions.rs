//! Reads and replays the sessions, several at a time. What cannot be replayed is listed with its reason.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use longhaul_core::message::Id;
use longhaul_core::micro::ClearableTools;
use longhaul_core::replay::{
    ReplayError, ReplayReport, ReplayTerms, SessionRecordingReader, replay,
};
use longhaul_core::transcript::format::DetectedFormat;
use longhaul_store::LineReader;
use longhaul_store::layout::{Env, transcripts_under};

use super::ReplayBasis;
use crate::failure::CliError;
use crate::progress;
use crate::reading;
use crate::target::InspectionTarget;

/// The sessions that were read.
#[derive(Default)]
pub(super) struct ReplayedSessions {
    /// Sessions that could be replayed, by path.
    pub(super) replayed: Vec<ReplayedSession>,
    /// Sessions that are in no total.
    pub(super) apart: Vec<ApartSession>,
    /// Answers that are in more than one of the replayed sessions.
    pub(super) repeated_answers: u64,
}

/// A session that was replayed.
pub(super) struct ReplayedSession {
    pub(super) file: String,
    pub(super) report: ReplayReport,
    answers: Vec<Id>,
}

/// A session that is counted apart, and why.
pub(super) struct ApartSession {
    pub(super) file: String,
    pub(super) reason: String,
}

/// A file to read.
enum SessionSource {
    File(PathBuf),
    Stdin,
}

impl SessionSource {
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => reading::STDIN.to_owned(),
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::File(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            Self::Stdin => 0,
        }
    }
}

/// Reads and replays everything that the targets name.
pub(super) fn read(
    targets: &[PathBuf],
    env: &Env,
    basis: &ReplayBasis,
) -> Result<ReplayedSessions, CliError> {
    let mut found = ReplayedSessions::default();
    let sources = sources(targets, env, &mut found.apart)?;
    let outcomes = replay_all(&sources, basis);
    let single = sources.len() == 1;
    for (source, outcome) in sources.iter().zip(outcomes) {
        match outcome {
            Some(Ok(session)) => found.replayed.push(session),
            // A window that is too small is the caller's mistake, and the same for every session. A single file that
            // cannot be read is an error, one of many is left out.
            Some(Err(failure)) if single || matches!(failure, CliError::Window(_)) => {
                let CliError::Unreplayable(_) = &failure else {
                    return Err(failure);
                };
                found.apart.push(apart(source, &failure));
            }
            Some(Err(failure)) => found.apart.push(apart(source, &failure)),
            None => {}
        }
    }
    if found.replayed.is_empty()
        && found.apart.len() > 1
        && let [target] = targets
        && found.apart.iter().all(|one| one.reason == unreadable())
    {
        return Err(CliError::NoneReadable {
            path: target.clone(),
            count: found.apart.len() as u64,
        });
    }
    found.set_copies_apart();
    Ok(found)
}

fn unreadable() -> String {
    let name = String::new();
    CliError::NotATranscript { name }.without_name()
}

fn apart(source: &SessionSource, failure: &CliError) -> ApartSession {
    ApartSession {
        file: source.name(),
        reason: failure.without_name(),
    }
}

/// The files that the targets name, each once.
fn sources(
    targets: &[PathBuf],
    env: &Env,
    apart: &mut Vec<ApartSession>,
) -> Result<Vec<SessionSource>, CliError> {
    let mut seen = BTreeSet::new();
    let mut sources = Vec::new();
    for target in targets {
        let paths = match InspectionTarget::find(target, env)? {
            InspectionTarget::Stdin => {
                sources.push(SessionSource::Stdin);
                continue;
            }
            InspectionTarget::File(path) => vec![path],
            InspectionTarget::Folder(path) => {
                let mut found = transcripts_under(&path);
                if found.paths.is_empty()
                    && let Some(unlisted) = found.problems.pop()
                {
                    return Err(CliError::Read {
                        path: unlisted.path,
                        source: unlisted.source,
                    });
                }
                apart.extend(found.problems.iter().map(|unlisted| ApartSession {
                    file: unlisted.path.display().to_string(),
                    reason: unlisted.source.to_string(),
                }));
                if found.paths.is_empty() {
                    return Err(CliError::EmptyFolder { path });
                }
                found.paths
            }
        };
        for path in paths {
            let real = longhaul_store::real_path(&path).unwrap_or_else(|_| path.clone());
            if seen.insert(real) {
                sources.push(SessionSource::File(path));
            }
        }
    }
    Ok(sources)
}

/// Replays all sources on as many threads as there are processors, and returns the outcomes in the order of the sources.
fn replay_all(
    sources: &[SessionSource],
    basis: &ReplayBasis,
) -> Vec<Option<Result<ReplayedSession, CliError>>> {
    let bar = progress::bytes(sources.iter().map(SessionSource::size).sum());
    let outcomes: Mutex<Vec<_>> = Mutex::new((0..sources.len()).map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((at, source)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            sources.get(at).map(|source| (at, source))
        } {
            let outcome = replay_one(source, basis);
            bar.inc(source.size());
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes[at] = Some(outcome);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(sources.len()) {
            scope.spawn(work);
        }
        work();
    });
    bar.finish_and_clear();
    outcomes.into_inner().unwrap_or_default()
}

fn replay_one(source: &SessionSource, basis: &ReplayBasis) -> Result<ReplayedSession, CliError> {
    let file = source.name();
    let reader = match source {
        SessionSource::Stdin => lines(reading::stdin(), &file, CliError::Stdin)?,
        SessionSource::File(path) => {
            let failed = |source| CliError::Read {
                path: path.clone(),
                source,
            };
            lines(File::open(path).map_err(failed)?, &file, failed)?
        }
    };
    let session = reader.finish(&ClearableTools::default());
    let terms = ReplayTerms::of(&session, &basis.models, basis.model.as_deref(), basis.ttl)
        .decided_by(basis.host);
    let report = replay(&session, &terms, &basis.windows).map_err(|error| match error {
        ReplayError::Session(reason) => CliError::Unreplayable(reason),
        ReplayError::Window(error) => CliError::Window(error),
    })?;
    let answers = session.requests().filter_map(|request| request.message);
    Ok(ReplayedSession {
        file,
        report,
        answers: answers.collect(),
    })
}

/// Reads the lines of a transcript.
fn lines(
    mut source: impl Read,
    name: &str,
    failed: impl Fn(std::io::Error) -> CliError,
) -> Result<SessionRecordingReader, CliError> {
    let (head, verdict) = reading::recognize(&mut source, name, &failed)?;
    let mut lines = LineReader::new(Cursor::new(head).chain(source));
    let mut reader = SessionRecordingReader::new();
    while let Some(line) = lines.next().map_err(&failed)? {
        reader.line(line.number, line.offset, line.bytes);
    }
    if verdict == DetectedFormat::Unclear && reader.is_no_transcript() {
        return Err(CliError::NotATranscript {
            name: name.to_owned(),
        });
    }
    Ok(reader)
}

impl ReplayedSessions {
    /// Takes sessions out of the totals whose answers are all in other sessions: a resumed session may be stored again as
    /// a whole. Answers that are in several of the remaining ones are counted.
    fn set_copies_apart(&mut self) {
        let mut order: Vec<usize> = (0..self.replayed.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.replayed[*at].answers.len()));
        let mut seen: BTreeSet<Id> = BTreeSet::new();
        let mut copies = BTreeSet::new();
        for at in order {
            let answers = &self.replayed[at].answers;
            let repeated = answers
                .iter()
                .filter(|answer| seen.contains(*answer))
                .count();
            if repeated > 0 && repeated == answers.len() {
                copies.insert(at);
                continue;
            }
            self.repeated_answers += repeated as u64;
            seen.extend(answers.iter().copied());
        }
        let all = std::mem::take(&mut self.replayed);
        for (at, session) in all.into_iter().enumerate() {
            if copies.contains(&at) {
                self.apart.push(ApartSession {
                    file: session.file,
                    reason: "all of its replies are in another session".to_owned(),
                });
            } else {
                self.replayed.push(session);
            }
        }
    }
}

/// The end of a path, which says which session it is.
pub(super) fn short_name(file: &str) -> String {
    let path = Path::new(file);
    path.file_stem().map_or_else(
        || file.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}
