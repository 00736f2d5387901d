//! Read-only calls: reading, searching, finding, listing, fetching, asking a sub-agent or a skill.

use serde_json::json;

use super::known_paths::{extension, joined, name_of};
use super::turn::{AgentTurn, PlannedCall, WorkPhase};
use crate::model::conversation::first_line;
use crate::model::toolbox::OfferedTool;
use crate::model::web_search;

/// The beginning of a prompt for a sub-agent; an agent that gets such a prompt starts no further ones.
const ERRAND: &str = "Look into this and report back:";

impl AgentTurn<'_> {
    /// Reads a file that the agent knows and has not read, or another part of one it has.
    pub(super) fn read(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let field = offer.path_field()?;
        let places = &self.view.places;
        let taken = |path: &&String| {
            places.bad.contains(path.as_str())
                || self.chosen.iter().any(|call| {
                    call.input.get(field).and_then(|at| at.as_str()) == Some(path.as_str())
                })
        };
        let unread = |path: &&String| !places.read.contains(*path) && !taken(path);
        let named: Vec<&String> = places.named.iter().filter(unread).collect();
        let fresh: Vec<&String> = places.files.iter().filter(unread).collect();
        let near: Vec<&String> = fresh
            .iter()
            .copied()
            .filter(|path| self.bears_on_it(path))
            .collect();
        let pool = if !named.is_empty() && self.chance.odds(0.7) {
            named
        } else if !near.is_empty() && self.chance.odds(0.7) {
            near
        } else {
            fresh
        };
        if let Some(path) = self.chance.pick(&pool).map(|path| (*path).clone()) {
            let doing = format!("read `{}`", self.display_path(&path));
            return Some(self.call(offer, json!({ field: path }), doing));
        }
        if places.files.is_empty() && self.view.folder.is_some() {
            let path = joined(self.view.folder.as_deref(), "README.md");
            let doing = format!("see whether there is a `{path}`");
            return (!places.bad.contains(&path))
                .then(|| self.call(offer, json!({ field: path }), doing));
        }
        self.read_again(offer, field)
    }

    /// Reads another part of a file it has read, or the whole file if it was edited since.
    fn read_again(&mut self, offer: OfferedTool<'_>, field: &str) -> Option<PlannedCall> {
        let path = self.chance.pick(&self.view.places.files)?.clone();
        let known = self.held.iter().find(|held| held.path == path);
        let lines = known.map_or(40, |held| held.first + held.text.lines().count());
        if offer.field("offset").is_none() || lines < 12 {
            let doing = format!("read `{path}` again");
            return known
                .is_none()
                .then(|| self.call(offer, json!({ field: path }), doing));
        }
        let from = self.chance.between(1, lines * 3 / 4);
        let limit = self.chance.between(20, 160);
        let doing = format!("read `{}` from line {from}", self.display_path(&path));
        Some(self.call(
            offer,
            json!({ field: path, "offset": from, "limit": limit }),
            doing,
        ))
    }

    /// Reads one particular file.
    pub(super) fn read_this(&mut self, offer: OfferedTool<'_>, path: &str) -> Option<PlannedCall> {
        let field = offer.path_field()?;
        let doing = format!("read `{path}` again");
        Some(self.call(offer, json!({ field: path, "command": "view" }), doing))
    }

    /// Searches for a name that a file defines or for a word of the prompt.
    pub(super) fn search(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let pattern = self.chance.pick(&self.phrases)?.clone();
        let mode = self
            .chance
            .say(&["content", "files_with_matches", "content"]);
        let mut hints = json!({ "pattern": pattern, "output_mode": mode, "head_limit": 60 });
        if mode == "content" {
            hints["-n"] = json!(true);
        }
        if self.chance.odds(0.3)
            && let Some(folder) = self.chance.pick(&self.view.places.folders)
        {
            hints["path"] = json!(folder);
        } else if let Some(folder) = &self.view.folder {
            hints["path"] = json!(folder);
        }
        Some(self.call(offer, hints, format!("search for `{pattern}`")))
    }

    /// Finds files by name.
    pub(super) fn find(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let known: Vec<&str> = self
            .view
            .places
            .files
            .iter()
            .map(|file| extension(file))
            .filter(|end| !end.is_empty())
            .collect();
        let pattern = match self.chance.pick(&known) {
            None => "**/*".to_owned(),
            Some(end) => match self.chance.below(3) {
                0 => "**/*".to_owned(),
                1 => "**/*test*".to_owned(),
                _ => format!("**/*.{end}"),
            },
        };
        self.find_this(offer, &pattern)
    }

    /// Finds files by one particular pattern.
    pub(super) fn find_this(
        &mut self,
        offer: OfferedTool<'_>,
        pattern: &str,
    ) -> Option<PlannedCall> {
        let mut hints = json!({ "pattern": pattern });
        if let Some(folder) = &self.view.folder {
            hints["path"] = json!(folder);
        }
        Some(self.call(offer, hints, format!("list `{pattern}`")))
    }

    /// Lists a folder.
    pub(super) fn list(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let field = offer.path_field()?;
        let folder = match self.chance.pick(&self.view.places.folders) {
            Some(folder) => folder.clone(),
            None => self.view.folder.clone().unwrap_or_else(|| ".".to_owned()),
        };
        let doing = format!("list `{folder}`");
        Some(self.call(offer, json!({ field: folder }), doing))
    }

    /// Gives a task to a sub-agent.
    pub(super) fn delegate(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        if self.ask.words.starts_with(ERRAND) {
            return None;
        }
        let topic = self.topic();
        let place = self.chance.pick(&self.view.places.folders).cloned();
        let where_ = place.map_or(String::new(), |folder| format!(" Begin in `{folder}`."));
        let prompt = format!(
            "{ERRAND} which files deal with {topic}, and what each is for.{where_} Change nothing. Answer with a short list of paths, each with a sentence."
        );
        let description = format!("Survey {}", first_line(&topic, 30));
        let doing = format!("have a sub-agent survey {topic}");
        Some(self.errand(offer, &description, &prompt, doing))
    }

    /// Starts a sub-agent of a type that the tool lists: the one that the user names, or else the first.
    pub(super) fn errand(
        &mut self,
        offer: OfferedTool<'_>,
        description: &str,
        prompt: &str,
        doing: String,
    ) -> PlannedCall {
        let values = offer
            .field("subagent_type")
            .and_then(|field| field.get("enum")?.as_array().cloned());
        let types: Vec<String> = match values {
            Some(values) => {
                let names = values.iter().filter_map(|value| value.as_str());
                names.map(str::to_owned).collect()
            }
            None => listed(offer.description()),
        };
        let words = &self.ask.words;
        let named = types.iter().find(|name| {
            let is_it = |word: &str| word.eq_ignore_ascii_case(name);
            words
                .split(|c: char| c.is_whitespace() || ",.:;!?`\"'".contains(c))
                .any(is_it)
        });
        let kind = named
            .or(types.first())
            .map_or("general-purpose", String::as_str);
        let hints = json!({ "description": description, "prompt": prompt, "subagent_type": kind });
        self.call(offer, hints, doing)
    }

    /// Loads a skill from the list.
    pub(super) fn skill(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let names = listed(offer.description());
        let name = self.chance.pick(&names)?.clone();
        let field = ["skill", "name", "command"]
            .into_iter()
            .find(|field| offer.field(field).is_some())?;
        let doing = format!("load the skill `{name}`");
        let call = self.call(offer, json!({ field: name }), doing);
        let loaded = self
            .view
            .exchanges
            .iter()
            .any(|exchange| exchange.input_text(field) == Some(name.as_str()));
        (!loaded).then_some(call)
    }

    /// Fetches a page that the user named.
    pub(super) fn fetch(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let url = self
            .ask
            .words
            .split_whitespace()
            .find(|word| word.starts_with("https://") || word.starts_with("http://"))?;
        let url = url
            .trim_end_matches([')', '.', ',', ';', '>', '"'])
            .to_owned();
        Some(self.fetch_this(offer, &url))
    }

    /// Searches the web for this, or for what the prompt asks for.
    pub(super) fn search_the_web(
        &mut self,
        offer: OfferedTool<'_>,
        query: Option<&str>,
    ) -> Option<PlannedCall> {
        let query = match query {
            Some(query) => query.to_owned(),
            None => web_search::queries(&self.ask.words).into_iter().next()?,
        };
        let doing = format!("search the web for {query}");
        Some(self.call(offer, json!({ "query": query }), doing))
    }

    /// Fetches one particular page.
    pub(super) fn fetch_this(&mut self, offer: OfferedTool<'_>, url: &str) -> PlannedCall {
        let question = format!("What does this page say about {}?", self.topic());
        let doing = format!("fetch {url}");
        self.call(offer, json!({ "url": url, "prompt": question }), doing)
    }

    /// Reads what the agent has remembered, or remembers something.
    pub(super) fn remember(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let looked = self
            .view
            .exchanges
            .iter()
            .any(|exchange| exchange.name == offer.name());
        if !looked || self.phase() != WorkPhase::Closing {
            let hints = json!({ "command": "view", "path": "/memories" });
            return Some(self.call(offer, hints, "look at what was remembered".to_owned()));
        }
        let topic = self.topic();
        let path = format!(
            "/memories/{}-{}.md",
            topic.split(' ').next().unwrap_or("work"),
            self.chance.below(1000)
        );
        let files: Vec<&str> = self
            .view
            .places
            .read
            .iter()
            .take(6)
            .map(|path| name_of(path))
            .collect();
        let text = format!("Worked on: {topic}.\nFiles read: {}.\n", files.join(", "));
        let hints = json!({ "command": "create", "path": path, "file_text": text });
        Some(self.call(offer, hints, format!("remember this in `{path}`")))
    }
}

/// The names that a description lists, as in `- name: what it is for`.
fn listed(description: &str) -> Vec<String> {
    description
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- ")?.split_once(':'))
        .map(|(name, _)| name.trim().trim_matches(['`', '"', '*']).to_owned())
        .filter(|name| {
            !name.is_empty()
                && name.len() < 60
                && name
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "-_:.".contains(letter))
        })
        .collect()
}
