//! Quoted text in a session's view after a compaction: nothing passes for the engine's own words, and what the user
//! called off stays called off. Tested through a session, its workspace, its store and a model over HTTP.

use std::sync::Arc;

use longhaul::{Boxed, RestoreRequest, Session, Workspace};
use longhaul_core::engine::{CompactRequest, GatheredContext, ToolOutput};
use longhaul_core::message::Entry;
use longhaul_core::normalize::{RenderOptions, Rendering};
use longhaul_core::quoting::markers::{self, MarkerKind};
use longhaul_core::rehydrate::{
    FileText, InvokedSkill, PlanFile, RestoreInput, RestoreSourceResult, TodoListItem,
};
use longhaul_sim::model::{DraftBlock, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::request::ApiRole;
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::world::{self, World};
use longhaul_store::Durability;
use longhaul_testkit::forgery::Forgery;
use serde_json::{Value, json};

use super::house::{VirtualClock, client, prompt, settings};

const TODO: &str = "Move the user tables over to Postgres";

/// Calls the tools it was told to call, then says its text; asked for a summary, it gives this one.
struct Scripted {
    calls: Vec<(String, Value)>,
    says: String,
    summary: String,
}

impl ReplyModel for Scripted {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let messages = &turn.request.messages;
        let asked = messages.last().map(|last| format!("{:?}", last.content));
        let content =
            if asked.is_some_and(|asked| asked.contains("with these nine numbered headings")) {
                vec![DraftBlock::Text(format!(
                    "<summary>\n{}\n</summary>",
                    self.summary
                ))]
            } else {
                let said = messages
                    .iter()
                    .filter(|said| said.role == ApiRole::Assistant);
                match self.calls.get(said.count()) {
                    Some((name, input)) => vec![DraftBlock::ToolUse {
                        name: name.clone(),
                        input: input.clone(),
                    }],
                    None => vec![DraftBlock::Text(self.says.clone())],
                }
            };
        ReplyDraft {
            content,
            ..ReplyDraft::default()
        }
    }
}

/// Restores what it holds.
struct Desk(RestoreInput);

impl Workspace for Desk {
    fn gather<'a>(&'a self, _: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        Box::pin(async {
            GatheredContext {
                gathered: self.0.clone(),
                prefix: None,
            }
        })
    }
}

struct Room {
    session: Session,
    _server: Arc<SimServer>,
    _folder: tempfile::TempDir,
}

impl Room {
    async fn new(model: Scripted, gathered: RestoreInput) -> Self {
        let world = World::new(world::WorldOptions::new(5, Box::new(model)));
        let options = SimServerOptions {
            time: TimeSource::Virtual,
            ..SimServerOptions::default()
        };
        let address = "127.0.0.1:0".parse().unwrap();
        let server = Arc::new(SimServer::start(address, world, options).await.unwrap());
        let folder = tempfile::tempdir().unwrap();
        let session = Session::builder()
            .model(client(&server))
            .prompt(prompt("claude-sonnet-4-6"))
            .transcript(folder.path().join("session.jsonl"))
            .archive(folder.path().join("archive.db"))
            .durability(Durability::OnClose)
            .config(settings(200_000))
            .workspace(Desk(gathered))
            .clock(VirtualClock(server.clone()))
            .seed(1)
            .open()
            .unwrap();
        Self {
            session,
            _server: server,
            _folder: folder,
        }
    }

    /// The user speaks, and the model works until it has said what it has to say.
    async fn exchange(&mut self, said: &str, result: impl Fn(&str) -> (String, bool)) {
        self.session.say(said).await.unwrap();
        loop {
            let reply = self.session.turn().await.unwrap();
            let calls = reply.tool_calls();
            let outputs: Vec<ToolOutput> = calls
                .map(|call| {
                    let (text, is_error) = result(&call.name);
                    ToolOutput {
                        tool_use_id: call.id.to_string(),
                        content: json!(text),
                        is_error,
                    }
                })
                .collect();
            if outputs.is_empty() {
                return;
            }
            self.session.results(outputs).await.unwrap();
        }
    }

    async fn compact(&mut self, local: bool) {
        let request = CompactRequest {
            local,
            ..CompactRequest::default()
        };
        self.session.compact(request).await.unwrap();
    }

    /// The texts that the next request holds.
    fn texts(&self) -> Vec<String> {
        let views: Vec<Entry> = self
            .session
            .engine()
            .live()
            .views()
            .map(|view| Entry::read(view.line.to_vec().into()).unwrap())
            .collect();
        let mut rendering =
            Rendering::begin(RenderOptions::default(), views.iter().map(Entry::view));
        rendering.seal();
        let blocks = rendering.blocks().iter();
        blocks
            .filter_map(|block| {
                let block = rendering.buffer().copy(block.start, block.end);
                let block: Value = serde_json::from_slice(&block).unwrap();
                block["text"].as_str().map(str::to_owned)
            })
            .collect()
    }
}

fn forgery(source: &str) -> Forgery {
    let lines = markers::all().iter().map(|marker| marker.line.as_str());
    Forgery::new(source, lines)
}

#[tokio::test]
async fn nobody_passes_for_the_engine_in_a_session_after_a_compaction() {
    let guarded = markers::all().iter().filter(|marker| {
        let kind = marker.kind;
        !matches!(kind, MarkerKind::Section | MarkerKind::Reminder)
    });
    let by_model = Forgery::new("model", guarded.map(|marker| marker.line.as_str()));
    let sources = ["failure", "file", "todo", "plan", "skill", "path"].map(forgery);
    let [failure, file, todo, plan, skill, path] = &sources;
    let step = 10;
    for (at, local) in [(0, false), (3, true), (6, false), (7, true)] {
        let calls = vec![
            ("Bash".to_owned(), json!({"command": "make"})),
            (
                "Read".to_owned(),
                json!({"file_path": path.part(at, step).text()}),
            ),
            ("Bash".to_owned(), json!({"command": "make again"})),
        ];
        let model = Scripted {
            calls,
            says: "Done. ".repeat(4_000),
            summary: format!("1. Request: build it\n{}\n9. Next: go on", by_model.text()),
        };
        let gathered = RestoreInput {
            files: vec![RestoreSourceResult::Found(FileText {
                path: "/src/a.rs".into(),
                text: file.text(),
            })],
            todos: Some(RestoreSourceResult::Found(vec![TodoListItem {
                content: todo.text(),
                status: "pending".to_owned(),
                active_form: None,
            }])),
            plan: Some(RestoreSourceResult::Found(PlanFile {
                path: "/plan.md".into(),
                text: plan.text(),
            })),
            skills: Some(RestoreSourceResult::Found(vec![InvokedSkill {
                name: "release".to_owned(),
                path: "/skill.md".into(),
                content: skill.text(),
                at: "2026-11-01T12:00:00Z".parse().unwrap(),
            }])),
            ..RestoreInput::default()
        };
        let mut room = Room::new(model, gathered).await;
        let failed = failure.part(at, step).text();
        room.exchange("Build it. Never push.", |tool| match tool {
            "Read" => ("a line of a file\n".repeat(16_000), false),
            _ => (failed.clone(), true),
        })
        .await;
        room.compact(local).await;
        let texts = room.texts();
        let all = texts.join("\n");
        let mut there = 0;
        for forgery in sources.iter().chain([&by_model]) {
            there += usize::from(forgery.is_in(&all));
            for text in &texts {
                let inside = text.strip_prefix("<system-reminder>\n");
                let inside = inside.and_then(|text| text.strip_suffix("\n</system-reminder>"));
                let made_it = forgery.made_it(inside.unwrap_or(text), &["system-reminder"]);
                assert!(made_it.is_empty(), "{made_it:#?}");
            }
        }
        assert!(there >= if local { 6 } else { 7 }, "{there}");
        let facts = room.session.engine().live().facts();
        assert_eq!((facts.messages().len(), facts.rules().len()), (1, 1));
    }
}

#[tokio::test]
async fn y4_work_that_the_user_called_off_carries_the_words_wherever_it_appears() {
    let words = "Cancel that, scrap the whole Postgres migration.";
    for local in [false, true] {
        let model = Scripted {
            calls: vec![(
                "TodoWrite".to_owned(),
                json!({"todos": [
                    {"content": TODO, "status": "in_progress"},
                    {"content": "Update the docs for Postgres", "status": "pending"},
                ]}),
            )],
            says: "I am at it. ".repeat(2_000),
            summary: format!(
                "1. Request: a migration\n7. Pending tasks:\n- {TODO}\n9. Next step: {TODO}"
            ),
        };
        let gathered = RestoreInput {
            todos: Some(RestoreSourceResult::Found(vec![TodoListItem {
                content: TODO.to_owned(),
                status: "in_progress".to_owned(),
                active_form: None,
            }])),
            plan: Some(RestoreSourceResult::Found(PlanFile {
                path: "/plan.md".into(),
                text: "Move everything over to Postgres.".to_owned(),
            })),
            ..RestoreInput::default()
        };
        let mut room = Room::new(model, gathered).await;
        room.exchange("Move us to Postgres.", |_| ("ok".to_owned(), false))
            .await;
        room.exchange(&format!("Stop. {words} We stay on MySQL."), |_| {
            ("ok".to_owned(), false)
        })
        .await;
        room.compact(local).await;
        for text in room.texts() {
            let lines: Vec<&str> = text.lines().collect();
            for (at, line) in lines
                .iter()
                .enumerate()
                .filter(|(_, line)| line.contains(TODO))
            {
                // On the line itself, or in the line above its list.
                let lead = lines[..at]
                    .iter()
                    .rposition(|line| !line.starts_with("- (") && !line.starts_with("- ["));
                let beside =
                    line.contains(words) || lead.is_some_and(|lead| lines[lead].contains(words));
                assert!(beside, "{line}\nin\n{text}");
                assert!(!line.starts_with("- Go on with"), "{line}");
            }
            if text.contains("Move everything over") {
                assert!(text.contains(words), "{text}");
            }
        }
        let all = room.texts().join("\n");
        assert!(
            all.contains(TODO) && all.contains("Update the docs for Postgres"),
            "nothing is deleted:\n{all}"
        );
    }
}
