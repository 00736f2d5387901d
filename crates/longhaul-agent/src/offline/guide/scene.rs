//! What the guide sees of a request: the user's newest words, what it did for them so far, the tools and paths it has.

use std::collections::BTreeSet;

use longhaul_sim::model::DraftBlock;
use longhaul_sim::model::agent::file::{self, Held};
use longhaul_sim::model::agent::places::{Places, joined, name_of, working_folder};
use longhaul_sim::model::ask::Ask;
use longhaul_sim::model::chance::Chance;
use longhaul_sim::model::conversation::{Exchange, exchanges, own_texts};
use longhaul_sim::model::schema::Palette;
use longhaul_sim::model::toolbox::{Kind, Offer, PATH_FIELDS, Toolbox, kind_of_name};
use longhaul_sim::model::{notes, prompts_of_summary, summarise};
use longhaul_sim::request::{Request, Role};
use serde_json::Value;

/// Hosts mark so that the user stopped a turn.
const INTERRUPTED: &str = "[Request interrupted";

/// What is said and called next. No calls: the turn ends with it.
#[derive(Debug, Default)]
pub(super) struct Move {
    pub(super) say: String,
    pub(super) calls: Vec<DraftBlock>,
}

impl Move {
    pub(super) fn say(text: impl Into<String>) -> Self {
        Self {
            say: text.into(),
            calls: Vec::new(),
        }
    }
}

/// What the guide sees.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    /// What the request asks besides its words.
    pub(super) ask: Ask<'a>,
    /// The user's newest words; blank where a summary is the newest.
    pub(super) words: String,
    /// The summary that the conversation goes on from, and the prompts that it quotes.
    pub(super) summary: Option<(String, Vec<String>)>,
    /// Every call it sees.
    pub(super) all: Vec<Exchange<'a>>,
    /// Where the calls for this prompt begin among them.
    since: usize,
    /// Replies to this prompt so far.
    pub(super) steps: usize,
    /// The paths it knows.
    pub(super) places: Places,
    /// The folder it works in.
    pub(super) folder: Option<String>,
    /// The user's prompts in order, without what a summary quotes.
    pub(super) prompts: Vec<String>,
    tools: Toolbox<'a>,
    pub(super) seed: u64,
}

/// How a message begins that stands for what was compacted, whoever wrote the summary.
const SUMMARY: &str = "This session continues an earlier conversation";

impl<'a> Scene<'a> {
    pub(super) fn of(request: &'a Request, seed: u64) -> Self {
        let ask = Ask::of(request);
        let mut summary = None;
        let mut prompts = Vec::new();
        let mut words = String::new();
        for (at, message) in request.messages.iter().enumerate() {
            for text in own_texts(message) {
                // A request for a summary names the sections of one and is none.
                let is_asked =
                    at == ask.prompt_at && (summarise::is_asked(&text) || notes::is_asked(&text));
                let quoted = match is_asked {
                    true => None,
                    false => prompts_of_summary(&text)
                        .or_else(|| text.starts_with(SUMMARY).then(Vec::new)),
                };
                match quoted {
                    Some(quoted) => {
                        summary = Some((text, quoted));
                        words.clear();
                    }
                    None if text.starts_with(INTERRUPTED) => {}
                    None => {
                        if at == ask.prompt_at {
                            words.clone_from(&text);
                        }
                        prompts.push(text);
                    }
                }
            }
        }
        let all = exchanges(&request.messages);
        let since = all.partition_point(|exchange| exchange.at <= ask.prompt_at);
        let behind = request.messages.iter().skip(ask.prompt_at + 1);
        let steps = behind.filter(|message| message.role == Role::Assistant);
        let steps = steps.count();
        let folder = working_folder(request);
        let places = Places::of(&all, folder.as_deref(), &words);
        let tools = Toolbox::of(request)
            .filtered(|offer| !ask.unwanted.iter().any(|name| name == offer.name()));
        Self {
            words,
            summary,
            all,
            since,
            steps,
            places,
            folder,
            prompts,
            tools,
            seed,
            ask,
        }
    }

    /// What it works on: the user's newest words, or after a compaction those that the summary quotes last.
    pub(super) fn goal(&self) -> &str {
        match (self.goes_on(), &self.summary) {
            (true, Some((_, quoted))) => quoted.last().map_or("", String::as_str),
            _ => &self.words,
        }
    }

    /// It is in the middle of something that a compaction interrupted.
    pub(super) fn goes_on(&self) -> bool {
        self.words.is_empty() && self.summary.is_some()
    }

    /// The calls for this prompt.
    pub(super) fn done(&self) -> &[Exchange<'a>] {
        self.all.get(self.since..).unwrap_or_default()
    }

    /// The calls of a kind for this prompt.
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Exchange<'a>> {
        self.done()
            .iter()
            .filter(move |exchange| kind_of_name(exchange.name) == kind)
    }

    /// In how many replies tools of this kind were called for this prompt.
    pub(super) fn rounds(&self, kind: Kind) -> usize {
        let at: BTreeSet<usize> = self.of_kind(kind).map(|exchange| exchange.at).collect();
        at.len()
    }

    /// A tool of this kind is on offer.
    pub(super) fn can(&self, kind: Kind) -> bool {
        self.tools.of_kind(kind).is_some()
    }

    /// A call of a tool of this kind with what its schema takes of these; none where there is no such tool.
    pub(super) fn call(&self, kind: Kind, hints: Value) -> Option<DraftBlock> {
        Some(self.made(self.tools.of_kind(kind)?, hints))
    }

    fn made(&self, offer: Offer<'a>, mut hints: Value) -> DraftBlock {
        // Tools name their path field differently.
        if let (Some(field), Some(fields)) = (offer.path_field(), hints.as_object_mut())
            && let Some(path) = PATH_FIELDS.iter().find_map(|name| fields.remove(*name))
        {
            fields.insert(field.to_owned(), path);
        }
        let paths = &self.places.files;
        let palette = Palette {
            paths,
            phrases: &[],
        };
        DraftBlock::ToolUse {
            name: offer.name().to_owned(),
            input: offer.input(hints, palette, &mut self.chance()),
        }
    }

    /// Files it knows and has not looked at, those that tell most first.
    pub(super) fn unread(&self) -> Vec<&str> {
        let before = self.summary.as_ref().map_or("", |(text, _)| text.as_str());
        let known = self.places.files.iter().filter(|file| {
            !self.places.read.contains(*file)
                && (before.is_empty() || !before.contains(self.told(file)))
        });
        let mut files: Vec<&str> = known.map(String::as_str).collect();
        files.sort_by_key(|file| (super::look::rank(file), file.len(), *file));
        files
    }

    /// What it holds of files that it read for this prompt, oldest first.
    pub(super) fn held(&self) -> Vec<Held> {
        let mut seen = BTreeSet::new();
        let paths = self.done().iter().filter(|exchange| exchange.succeeded());
        let paths = paths.filter(|exchange| kind_of_name(exchange.name) == Kind::Read);
        paths
            .filter_map(|exchange| exchange.input_any(PATH_FIELDS))
            .filter(|path| seen.insert(*path))
            .filter_map(|path| file::one(self.done(), path))
            .collect()
    }

    /// A path as it is told to the user: from the folder on.
    pub(super) fn told<'p>(&self, path: &'p str) -> &'p str {
        let inner = self.folder.as_deref().and_then(|folder| {
            let inner = path.strip_prefix(folder)?.strip_prefix('/')?;
            (!inner.is_empty()).then_some(inner)
        });
        inner.unwrap_or(path)
    }

    /// A path that the user or a listing gave, as tools take it.
    pub(super) fn path(&self, given: &str) -> String {
        joined(self.folder.as_deref(), given)
    }

    /// The name of the folder.
    pub(super) fn here(&self) -> &str {
        self.folder
            .as_deref()
            .map_or("this folder", |folder| match name_of(folder) {
                "" => "/",
                name => name,
            })
    }

    /// Chance for this turn.
    pub(super) fn chance(&self) -> Chance {
        Chance::new(self.seed)
    }
}
