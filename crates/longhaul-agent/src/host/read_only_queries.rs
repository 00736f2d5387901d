//! Answers read-only queries from disk and from the last snapshot, so that no caller has to wait for the model.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use longhaul::rewind;
use longhaul::undo::{self, UndoMode};
use longhaul_core::config::Config;
use longhaul_core::figures::grouped;
use longhaul_core::inspect::EconomyReport;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::money::TokenPrice;
use longhaul_core::tokens::RoughEstimator;
use longhaul_core::tokens::calibrated::CalibratedEstimate;
use longhaul_store::layout::NotesFiles;
use longhaul_store::{Env, HomeOwner};

use super::{rewinding, transcript};
use crate::agent::{AgentHandle, ListedSession, SessionSnapshot, list};
use crate::offline;
use crate::project_setup::ProjectSetup;
use crate::screen::{
    CommandItem, ContextView, CostLine, CostView, HookItem, HostRefusal, HostRequest,
    MessageAuthor, MessageItem, ModelItem, ReplySender, ResourceItem, RewindChoices, SessionItem,
    TranscriptItem,
};
use crate::typed_text::TypedText;

/// Answers queries about an agent that another task works with.
pub(super) struct ReadOnlyQueries {
    pub(super) outlook: AgentHandle,
    pub(super) workplace: Arc<ProjectSetup>,
    pub(super) env: Env,
    pub(super) models: ModelTable,
    pub(super) config: Config,
    pub(super) cwd: PathBuf,
}

impl ReadOnlyQueries {
    /// Answers a read-only query alongside the running work; returns any other request to be performed.
    pub(super) fn take(self: &Arc<Self>, ask: HostRequest) -> Option<HostRequest> {
        match ask {
            HostRequest::Sessions(reply) => self.spawn_query(reply, |looks| Ok(looks.sessions())),
            HostRequest::Models(reply) => self.spawn_query(reply, |looks| Ok(looks.model_list())),
            HostRequest::Context(reply) => {
                self.spawn_query(reply, |looks| looks.context().map(Box::new))
            }
            HostRequest::Messages(reply) => self.spawn_query(reply, Self::messages),
            HostRequest::RewindPlan(uuid, reply) => self.spawn_query(reply, move |looks| {
                rewinding::plan(&looks.look()?, &looks.cwd, &uuid)
            }),
            HostRequest::Transcript(reply) => self.spawn_query(reply, Self::transcript),
            HostRequest::Report(boundary, reply) => {
                self.spawn_query(reply, move |looks| looks.report(boundary.as_deref()));
            }
            HostRequest::Notes(reply) => self.spawn_query(reply, Self::notes),
            HostRequest::Page(page, reply) => {
                self.spawn_query(reply, move |looks| looks.page(page))
            }
            HostRequest::Export(name, reply) => {
                self.spawn_query(reply, move |looks| looks.export(&name));
            }
            HostRequest::Hooks(reply) => self.spawn_query(reply, |looks| Ok(looks.hooks())),
            HostRequest::Cost(reply) => {
                let looks = self.clone();
                tokio::spawn(async move {
                    looks.outlook.earlier_usage_is_read().await;
                    looks.spawn_query(reply, |looks| Ok(looks.cost()));
                });
            }
            HostRequest::Commands(reply) => self.spawn_query(reply, |looks| Ok(looks.commands())),
            HostRequest::Resources(reply) => self.spawn_query(reply, |looks| Ok(looks.resources())),
            other => return Some(other),
        }
        None
    }

    fn spawn_query<T: Send + 'static>(
        self: &Arc<Self>,
        reply: ReplySender<T>,
        look: impl FnOnce(&Self) -> Result<T, HostRefusal> + Send + 'static,
    ) {
        let looks = self.clone();
        tokio::task::spawn_blocking(move || {
            // A screen that is gone needs no answer.
            let _ = reply.send(look(&looks));
        });
    }

    pub(super) fn look(&self) -> Result<SessionSnapshot, HostRefusal> {
        let look = self.outlook.snapshot();
        look.ok_or_else(|| HostRefusal("the session is not open yet; try again".to_owned()))
    }

    fn sessions(&self) -> Vec<SessionItem> {
        let now = self.outlook.snapshot().map(|look| look.transcript);
        let all = list(&self.env, &self.cwd).into_iter();
        all.map(|listed| {
            let is_now = Some(&listed.path) == now.as_ref();
            let item = session(listed);
            if is_now {
                SessionItem {
                    mark: "(this one)".to_owned(),
                    ..item
                }
            } else {
                item
            }
        })
        .collect()
    }

    fn model_list(&self) -> Vec<ModelItem> {
        let look = self.outlook.snapshot();
        let is_offline = look
            .as_ref()
            .is_some_and(|look| look.backend.is_simulated());
        let current = look.map(|look| look.model);
        let models = self.models.models();
        // Without a key, only the simulated model can be used; with a key, the simulated model is not offered.
        let models = models.filter(|spec| (spec.id == offline::MODEL) == is_offline);
        models
            .map(|spec| ModelItem {
                about: about(spec),
                current: current.as_deref() == Some(&*spec.id),
                id: spec.id.clone(),
            })
            .collect()
    }

    pub(super) fn context(&self) -> Result<ContextView, HostRefusal> {
        let look = self.look()?;
        let report = transcript::inspect(&look, &self.models).map_err(unreadable)?;
        let mut categories = report.categories;
        let likely = report.calibrated.map(|likely| CalibratedEstimate {
            tokens: likely.tokens,
            bound: likely.bound,
        });
        // Before the first request, nothing of the prefix is on disk.
        if categories.system_prompt == 0 {
            categories.system_prompt = look.prefix.system;
            categories.tools = look.prefix.tools;
            categories.memory_files = look.prefix.context;
        }
        Ok(ContextView {
            model: look.model,
            categories,
            measured: report.measured,
            cleared: report.cleared,
            status: look.status,
            likely: likely.unwrap_or_default(),
        })
    }

    fn messages(&self) -> Result<RewindChoices, HostRefusal> {
        let look = self.look()?;
        if !look.transcript.exists() {
            return Ok(RewindChoices::default());
        }
        let spoken = rewind::rewind_points(&look.transcript).map_err(unreadable)?;
        let messages = spoken.into_iter().filter_map(|said| {
            let typed = TypedText::words(&said.text)?;
            Some(MessageItem {
                tokens: RoughEstimator::text(&said.text).unpadded(),
                line: typed.lines().next().unwrap_or_default().to_owned(),
                uuid: said.uuid,
                who: MessageAuthor::User,
                at: said.at,
            })
        });
        let undone = undo::undo(
            &look.transcript,
            &self.config,
            &self.models,
            UndoMode::Look,
            Timestamp::now(),
        );
        Ok(RewindChoices {
            messages: messages.collect(),
            can_undo: undone.is_ok(),
        })
    }

    fn transcript(&self) -> Result<Vec<TranscriptItem>, HostRefusal> {
        let look = self.look()?;
        transcript::items(&look.transcript, look.prefix.total()).map_err(unreadable)
    }

    pub(super) fn report(&self, boundary: Option<&str>) -> Result<String, HostRefusal> {
        let look = self.look()?;
        let found = transcript::report(&look.transcript, boundary, look.prefix.total());
        let found = found.map_err(unreadable)?;
        let none = "this conversation has not been compacted yet; /compact does it";
        found.ok_or_else(|| HostRefusal(none.to_owned()))
    }

    pub(super) fn notes(&self) -> Result<String, HostRefusal> {
        let path = NotesFiles::of_transcript(&self.look()?.transcript).notes();
        match std::fs::read(&path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(unreadable(error)),
        }
    }

    pub(super) fn hooks(&self) -> Vec<HookItem> {
        let listed = self.workplace.hooks().into_iter();
        let items = listed.map(|hook| HookItem {
            event: hook.event,
            matcher: hook.matcher,
            command: hook.command,
            source: hook.label,
        });
        items.collect()
    }

    pub(super) fn cost(&self) -> CostView {
        let (parts, all) = self.outlook.spent();
        let look = self.outlook.snapshot();
        let lines = parts.into_iter().map(|(purpose, spent)| CostLine {
            name: purpose.words().to_owned(),
            usage: spent.usage,
            cost: spent.cost,
            at_least: spent.at_least,
        });
        let usage = all.as_ref().map(|all| &all.usage);
        CostView {
            lines: lines.collect(),
            cache_hit_rate: usage
                .filter(|usage| usage.prompt() > 0)
                .map(|usage| usage.cache_hit_rate()),
            at_least: all.as_ref().is_some_and(|all| all.at_least),
            total: all.and_then(|all| all.cost),
            backend: look.as_ref().map(|look| look.backend).unwrap_or_default(),
            economy: look.as_ref().map(|look| look.economy).unwrap_or_default(),
            decisions: look.map(|look| self.decisions(&look)).unwrap_or_default(),
        }
    }

    /// The decisions by price, from the transcript; none where it cannot be read.
    fn decisions(&self, look: &SessionSnapshot) -> Vec<EconomyReport> {
        let report = transcript::inspect(look, &self.models).ok();
        report.map_or_else(Vec::new, |report| {
            let compactions = report.boundaries.into_iter();
            let compactions = compactions.map(|one| (one.line, one.economy));
            let clearings = report.clearings.into_iter();
            let clearings = clearings.map(|one| (one.line, one.economy));
            let mut decisions: Vec<_> = compactions.chain(clearings).collect();
            decisions.sort_by_key(|(line, _)| *line);
            decisions.into_iter().filter_map(|(_, one)| one).collect()
        })
    }

    fn commands(&self) -> Vec<CommandItem> {
        let commands = self.workplace.commands().into_iter();
        commands
            .map(|(name, description)| CommandItem { name, description })
            .collect()
    }

    fn resources(&self) -> Vec<ResourceItem> {
        let resources = self.workplace.resources().into_iter();
        resources
            .map(|(mention, name)| ResourceItem { mention, name })
            .collect()
    }
}

fn unreadable(error: impl std::fmt::Display) -> HostRefusal {
    HostRefusal(error.to_string())
}

fn session(listed: ListedSession) -> SessionItem {
    let title = listed
        .title
        .unwrap_or_else(|| "(nothing said yet)".to_owned());
    SessionItem {
        title,
        mark: match listed.owner {
            HomeOwner::Longhaul => String::new(),
            _ => "(Claude Code's; it is copied)".to_owned(),
        },
        modified: Timestamp::try_from(listed.modified).ok(),
        messages: listed.turns.unwrap_or_default() as u64,
        branch: listed.branch,
        id: listed.id,
    }
}

fn about(spec: &ModelSpec) -> String {
    let window = format!("{} tokens", grouped(spec.window));
    match &spec.prices {
        Some(prices) => {
            let base = &prices.base;
            let dollars = |rate: TokenPrice| rate.of(1_000_000).to_f64();
            format!(
                "{window} · ${:.2} in, ${:.2} out per million",
                dollars(base.input),
                dollars(base.output)
            )
        }
        None => window,
    }
}
