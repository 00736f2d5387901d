//! The tools of a conversation: each session and each sub-agent has its own files, todos and shells; servers are
//! shared.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::environment::PassedVariables;
use longhaul_core::engine::{Event, HostState};
use longhaul_core::prompt::UserPresence;
use longhaul_core::rehydrate::RestoreSourceResult;
use longhaul_store::Home;
use longhaul_store::archive::archive_path;

use super::notifications::Notifications;
use super::restore_tools::refill;
use crate::agent::{ConversationRole, ConversationTools, EventCallback, ToolStateSources};
use crate::event::{AgentEvent, ApprovalMode};
use crate::files::FileState;
use crate::own_command::OwnCommand;
use crate::permission::Permissions;
use crate::session_paths::SessionPaths;
use crate::tool::{CALL_LATE_TOOL, LateTools, Toolbox};
use crate::tools::mcp::McpServers;
use crate::tools::plan::{self, ApprovalModeStore, PlanState};
use crate::tools::skill::{Skill, SkillInvokeError, SkillInvoker, Skills};
use crate::tools::todo::TodoList;
use crate::tools::{
    BackgroundShells, HiddenPathFn, ShellVariables, ToolServices, files_and_shell, services,
    web_fetch,
};

/// Provides conversations with tools.
pub(super) struct ToolProvisioner {
    pub(super) permissions: Arc<Permissions>,
    pub(super) home: Option<Home>,
    pub(super) skills: Vec<Skill>,
    pub(super) web: web_fetch::WebFetchOptions,
    pub(super) servers: Option<Arc<McpServers>>,
    pub(super) variables: ShellVariables,
    pub(super) passed: PassedVariables,
    pub(super) notifications: Arc<Notifications>,
    /// What remains of the main conversation when it is reopened.
    pub(super) main: Mutex<Option<MainConversationTools>>,
}

/// The tools of the main conversation.
#[derive(Clone)]
pub(super) struct MainConversationTools {
    transcript: PathBuf,
    shells: Arc<BackgroundShells>,
    files: Arc<FileState>,
    skills: Arc<Skills>,
}

impl ToolProvisioner {
    pub(super) fn equip(
        &self,
        place: &SessionPaths,
        seat: ConversationRole,
        presence: UserPresence,
        tell: &EventCallback,
    ) -> ConversationTools {
        let place = Arc::new(place.clone());
        let files = Arc::new(FileState::default());
        let skills = Arc::new(Skills::new(self.skills.clone()));
        let (shells, todos) = match seat {
            ConversationRole::Main => {
                self.notifications.deliver_to(tell);
                self.permissions.keep_in(&place);
                let tell = tell.clone();
                let told = move |list: &[_]| tell(AgentEvent::Todos(list.to_vec()));
                (
                    self.shells(&place, &files, &skills),
                    TodoList::watched(told),
                )
            }
            ConversationRole::SubAgent => (self.new_shells(), TodoList::default()),
        };
        let todos = Arc::new(todos);
        let plan = Arc::new(PlanState::new(
            &place,
            Arc::new(PermissionsModeStore(self.permissions.clone())),
        ));
        if seat == ConversationRole::Main {
            self.permissions.set_plan_file(Some(plan.path().to_owned()));
            self.permissions.set_scratchpad(Some(place.scratchpad()));
        }
        let permissions = self.permissions.clone();
        let hidden: HiddenPathFn = Arc::new(move |path| permissions.denies_reading(path));
        let with = ToolServices {
            todos: todos.clone(),
            plan: plan.clone(),
            skills: skills.clone(),
            web: self.web.clone(),
            archive: (self.home.as_ref()).map(|home| {
                (
                    archive_path(home, &place.transcript),
                    place.transcript.clone(),
                )
            }),
            servers: self.servers.clone(),
            // A sub-agent's user is the model that it works for.
            presence: match seat {
                ConversationRole::Main => presence,
                ConversationRole::SubAgent => UserPresence::Unattended,
            },
        };
        let mut toolbox = Toolbox::default();
        let own = files_and_shell(&place, &files, &shells, &hidden);
        for tool in own.into_iter().chain(services(&with)) {
            // A sub-agent has nobody to show a plan to.
            let plans = [plan::ENTER, plan::EXIT].contains(&tool.name());
            // Whatever comes while it works is for the next one.
            let is_late = tool.name() == CALL_LATE_TOOL;
            if seat == ConversationRole::Main || !plans && !is_late {
                toolbox.add(tool);
            }
        }
        toolbox.join(self.servers.iter().flat_map(|servers| servers.tools()));
        let sources = match seat {
            ConversationRole::Main => sources(with, files),
            ConversationRole::SubAgent => ToolStateSources {
                knows: knowing(&files),
                heard: forgetting(files),
                ..ToolStateSources::default()
            },
        };
        ConversationTools { toolbox, sources }
    }

    /// The shells of a session, which continue when it is reopened.
    fn shells(
        &self,
        place: &SessionPaths,
        files: &Arc<FileState>,
        skills: &Arc<Skills>,
    ) -> Arc<BackgroundShells> {
        let mut main = self.main.lock().unwrap_or_else(PoisonError::into_inner);
        let same = main.take().filter(|it| it.transcript == place.transcript);
        let shells = same.map_or_else(|| self.new_shells(), |main| main.shells);
        *main = Some(MainConversationTools {
            transcript: place.transcript.clone(),
            shells: shells.clone(),
            files: files.clone(),
            skills: skills.clone(),
        });
        shells
    }

    fn new_shells(&self) -> Arc<BackgroundShells> {
        let shells = BackgroundShells::with_env(self.variables.clone());
        Arc::new(shells.passing(self.passed.clone()))
    }

    /// Counts a picture of the user, if requests with it will be accepted.
    pub(super) fn admits_picture(&self, longer_side: usize) -> bool {
        let main = self.main.lock().unwrap_or_else(PoisonError::into_inner);
        let files = main.as_ref().map(|main| main.files.clone());
        files.is_none_or(|files| files.admits_picture(longer_side))
    }

    /// Invokes a skill for the user.
    pub(super) async fn invoke(
        &self,
        name: &str,
        arguments: &str,
    ) -> Result<OwnCommand, SkillInvokeError> {
        let main = self
            .main
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let skills = match main {
            Some(main) => main.skills,
            None => Arc::new(Skills::new(self.skills.clone())),
        };
        let skill = skills.load(name, arguments, SkillInvoker::User).await?;
        // What its commands for the shell will say is not known yet.
        skills.invoked(&skill, &skill.text());
        Ok(skill)
    }
}

fn sources(with: ToolServices, files: Arc<FileState>) -> ToolStateSources {
    let ToolServices {
        todos,
        plan,
        skills,
        servers,
        ..
    } = with;
    let late_tools = servers.clone().map(|it| it as Arc<dyn LateTools>);
    let (list, kept, reminded, invoked) =
        (todos.clone(), plan.clone(), plan.clone(), skills.clone());
    ToolStateSources {
        todos: Arc::new(move || list.list()),
        plan: Arc::new(move || kept.gathered()),
        plan_mode: Arc::new(move || reminded.reminder()),
        skills: Arc::new(move || match invoked.gathered() {
            Some(RestoreSourceResult::Found(skills)) => skills,
            _ => Vec::new(),
        }),
        announcements: Arc::new(move || {
            let announced = servers.as_ref().and_then(|all| all.announcement());
            announced.into_iter().collect()
        }),
        late_tools,
        knows: knowing(&files),
        heard: forgetting(files),
        reopened: Arc::new(move |live| refill(live, &todos, &skills)),
        ..ToolStateSources::default()
    }
}

/// Files that were shown may be read again after a compaction.
fn knowing(files: &Arc<FileState>) -> Arc<dyn Fn(&Path) -> bool + Send + Sync> {
    let files = files.clone();
    Arc::new(move |path| files.knows(path))
}

/// What was shown of files must not outlive its stay in the window (R7).
fn forgetting(files: Arc<FileState>) -> Arc<dyn Fn(&Event) + Send + Sync> {
    Arc::new(move |event| match event {
        Event::Compacted(done) if done.reset.includes(HostState::FileContents) => {
            files.compacted(&done.reset.restored);
        }
        Event::MicroCompacted { calls, .. } => files.cleared(calls),
        Event::NativeCleared { .. } => files.all_cleared(),
        _ => {}
    })
}

/// Keeps the mode in the permissions.
struct PermissionsModeStore(Arc<Permissions>);

impl ApprovalModeStore for PermissionsModeStore {
    fn mode(&self) -> ApprovalMode {
        self.0.mode()
    }

    fn set_mode(&self, mode: ApprovalMode) {
        self.0.set_mode(mode);
    }
}
