//! The kinds of change that are injected, one per run, each with the cause that must be named.

use longhaul_core::cache::{CacheMissCause, PresenceChange, RequestChange};
use longhaul_core::prompt::Ttl;
use serde_json::{Value, json};

use super::session::{Marking, Session, as_blocks, tool};

/// Models that are served, ignore missing thinking, and have a small and a large cache minimum.
pub(crate) const MODELS: [&str; 7] = [
    "claude-opus-5",
    "claude-opus-4-8",
    "claude-opus-5-5",
    "claude-fable-5",
    "claude-sonnet-5",
    "claude-haiku-4-5",
    "claude-sonnet-4-5",
];
const SYSTEM_ROLE: [&str; 3] = ["claude-opus-5", "claude-opus-4-8", "claude-fable-5"];
const BUDGETED: [&str; 2] = ["claude-haiku-4-5", "claude-sonnet-4-5"];
const ADAPTIVE: [&str; 2] = ["claude-opus-5", "claude-opus-4-8"];

/// The expected result.
#[derive(Clone, Copy)]
pub(crate) enum Expected {
    /// A break whose cause and words satisfy this.
    Break(fn(&CacheMissCause, &str) -> bool),
    /// No alarm, because the change was intended.
    Quiet,
}

/// One kind of injected change.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) models: &'static [&'static str],
    /// Before the first turn.
    pub(crate) prepare: fn(&mut Session),
    /// Before the turn that is judged.
    pub(crate) inject: fn(&mut Session),
    pub(crate) expected: Expected,
    /// How the simulator's own diagnosis begins, where there is one.
    pub(crate) diagnosis: Option<&'static str>,
}

fn kind(
    name: &'static str,
    diagnosis: Option<&'static str>,
    inject: fn(&mut Session),
    right: fn(&CacheMissCause, &str) -> bool,
) -> Kind {
    Kind {
        name,
        models: &MODELS,
        prepare: |_| {},
        inject,
        expected: Expected::Break(right),
        diagnosis,
    }
}

fn is(cause: &CacheMissCause, right: impl Fn(&RequestChange) -> bool) -> bool {
    matches!(cause, CacheMissCause::Changed(change) if right(change))
}

const TOOLS: Option<&str> = Some("tools_changed");
const SYSTEM: Option<&str> = Some("system_changed");
const MESSAGES: Option<&str> = Some("messages_changed");
const MODEL: Option<&str> = Some("model_changed");

pub(crate) fn all() -> Vec<Kind> {
    [tools(), system(), settings(), messages(), time_and_server()].concat()
}

fn tools() -> Vec<Kind> {
    vec![
        kind(
            "tool added behind",
            TOOLS,
            |s| {
                let new = tool("mcp__jira__search", &mut s.chance);
                s.tools.push(new);
            },
            |cause, words| {
                words.contains("tools +1 (mcp__jira__search)")
                    && is(cause, |c| matches!(c, RequestChange::Tools { .. }))
            },
        ),
        kind(
            "tool added before",
            TOOLS,
            |s| {
                let new = tool("aaa", &mut s.chance);
                s.tools.insert(0, new);
            },
            |_, words| words.contains("tools +1 (aaa)"),
        ),
        kind(
            "tool removed",
            TOOLS,
            |s| {
                s.tools.remove(1);
            },
            |_, words| words.contains("tools −1 (tool_1)"),
        ),
        kind(
            "tools reordered",
            TOOLS,
            |s| s.tools.swap(0, 2),
            |_, words| words.contains("tools reordered (tool_2, tool_0)"),
        ),
        kind(
            "tool described otherwise",
            TOOLS,
            |s| s.tools[2]["description"] = json!("Finds things."),
            |_, words| words.contains("tools edited (tool_2)"),
        ),
        kind(
            "tool schema edited",
            TOOLS,
            |s| s.tools[1]["input_schema"]["required"] = json!([]),
            |_, words| words.contains("tools edited (tool_1)"),
        ),
        kind(
            "tool schema in another order",
            TOOLS,
            |s| {
                let schema = &s.tools[1]["input_schema"];
                let from = schema.to_string();
                let to = format!(
                    "{{\"properties\":{},\"type\":\"object\",\"required\":[\"path\"]}}",
                    schema["properties"]
                );
                assert_ne!(from, to);
                s.replaced.push((from, to));
            },
            |_, words| words.contains("tools edited (tool_1)"),
        ),
        kind(
            "tool renamed",
            TOOLS,
            |s| s.tools[2]["name"] = json!("renamed"),
            |_, words| words.contains("tools +1 (renamed), −1 (tool_2)"),
        ),
        kind(
            "deferred tool made an ordinary one",
            TOOLS,
            |s| {
                s.tools
                    .last_mut()
                    .unwrap()
                    .as_object_mut()
                    .unwrap()
                    .remove("defer_loading");
            },
            |_, words| words.contains("tools +1 (far)"),
        )
        .prepared(|s| {
            let mut far = tool("far", &mut s.chance);
            far["defer_loading"] = json!(true);
            s.tools.push(far);
        }),
        kind(
            "web search on",
            SYSTEM,
            |s| {
                s.tools
                    .push(json!({ "type": "web_search_20250305", "name": "web_search" }))
            },
            |cause, _| {
                is(cause, |c| {
                    *c == RequestChange::WebSearch(PresenceChange::On)
                })
            },
        ),
    ]
}

fn system() -> Vec<Kind> {
    vec![
        kind(
            "one byte in the system prompt",
            SYSTEM,
            |s| {
                let text = s.system[0]["text"].as_str().unwrap().replacen(' ', "_", 1);
                s.system[0]["text"] = json!(text);
            },
            |_, words| words.contains("system edited, same length (block 0)"),
        ),
        kind(
            "the date in the system prompt",
            SYSTEM,
            |s| {
                let text = s.system[1]["text"]
                    .as_str()
                    .unwrap()
                    .replace("2026-11-14", "2026-11-15");
                s.system[1]["text"] = json!(text);
            },
            |_, words| words.contains("system edited, same length (block 1)"),
        ),
        kind(
            "system prompt longer",
            SYSTEM,
            |s| {
                let text = format!(
                    "{}{}",
                    s.system[1]["text"].as_str().unwrap(),
                    "x".repeat(142)
                );
                s.system[1]["text"] = json!(text);
            },
            |_, words| words.contains("system +142 chars (block 1)"),
        ),
        kind(
            "system block added",
            SYSTEM,
            |s| {
                s.system
                    .insert(0, json!({ "type": "text", "text": "Be brief." }))
            },
            |_, words| words.contains("system +9 chars (block 0)"),
        ),
        kind(
            "system block removed",
            SYSTEM,
            |s| {
                s.system.remove(1);
            },
            |cause, words| {
                words.contains("system −") && is(cause, |c| matches!(c, RequestChange::System(_)))
            },
        ),
        kind(
            "system blocks in another order",
            SYSTEM,
            |s| s.system.swap(0, 1),
            |cause, _| is(cause, |c| matches!(c, RequestChange::System(_))),
        ),
    ]
}

fn settings() -> Vec<Kind> {
    vec![
        kind(
            "model",
            MODEL,
            |s| {
                let now = s.settings["model"].as_str().unwrap().to_owned();
                let other = MODELS.iter().find(|model| **model != now).unwrap();
                s.set_model(other);
            },
            |cause, words| {
                words.contains("model claude-")
                    && is(cause, |c| matches!(c, RequestChange::Model { .. }))
            },
        ),
        kind(
            "effort",
            MESSAGES,
            |s| s.settings["output_config"] = json!({ "effort": "low" }),
            |_, words| words.contains(": effort ") && words.contains("→ low"),
        )
        .on(&ADAPTIVE),
        kind(
            "effort back to the default",
            MESSAGES,
            |s| {
                s.settings.as_object_mut().unwrap().remove("output_config");
            },
            |_, words| words.contains("effort low → medium"),
        )
        .on(&["claude-opus-5-5"])
        .prepared(|s| s.settings["output_config"] = json!({ "effort": "low" })),
        kind(
            "thinking",
            MESSAGES,
            |s| s.settings["thinking"] = json!({ "type": "adaptive" }),
            |_, words| words.contains("thinking none → adaptive"),
        )
        .on(&ADAPTIVE),
        kind(
            "thinking budget",
            MESSAGES,
            |s| s.settings["thinking"] = json!({ "type": "enabled", "budget_tokens": 2_000 }),
            |_, words| words.contains("thinking none → enabled (2000 tokens)"),
        )
        .on(&BUDGETED)
        .prepared(|s| s.calls = Some(0)),
        kind(
            "beta added",
            Some("betas_changed"),
            |s| {
                s.betas.insert("context-management-2025-06-27".to_owned());
            },
            |_, words| words.contains("betas +context-management-2025-06-27"),
        ),
        kind(
            "beta removed",
            Some("betas_changed"),
            |s| s.betas.clear(),
            |_, words| words.contains("betas −context-management-2025-06-27"),
        )
        .prepared(|s| {
            s.betas.insert("context-management-2025-06-27".to_owned());
        }),
        kind(
            "speed",
            MODEL,
            |s| s.settings["speed"] = json!("fast"),
            |_, words| words.contains("speed standard → fast"),
        ),
        kind(
            "tool choice",
            MESSAGES,
            |s| s.settings["tool_choice"] = json!({ "type": "none" }),
            |_, words| words.contains("tool_choice auto → none"),
        )
        .prepared(|s| s.calls = Some(0)),
        kind(
            "parallel calls forbidden",
            MESSAGES,
            |s| {
                s.settings["tool_choice"] =
                    json!({ "type": "auto", "disable_parallel_tool_use": true })
            },
            |_, words| words.contains("tool_choice auto → auto, one at a time"),
        ),
        kind(
            "output format",
            MESSAGES,
            |s| {
                let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false });
                s.settings["output_config"] =
                    json!({ "format": { "type": "json_schema", "schema": schema } });
                s.calls = Some(0);
            },
            |cause, _| is(cause, |c| matches!(c, RequestChange::Format { .. })),
        ),
        kind(
            "lifetime",
            None,
            |s| {
                s.ttl = if s.ttl == "5m" { "1h" } else { "5m" };
                s.world.evict();
            },
            |_, words| {
                words.contains("cache lifetime 5m → 1h") || words.contains("cache lifetime 1h → 5m")
            },
        ),
        kind(
            "scope",
            None,
            |s| {
                s.only_watched = |body| {
                    for block in body["system"].as_array_mut().unwrap() {
                        block["cache_control"]["scope"] = json!("global");
                    }
                };
                s.world.evict();
            },
            |_, words| words.contains("cache scope none → global"),
        ),
        kind(
            "overage",
            None,
            |s| {
                s.flags.insert("overage".to_owned(), "on".to_owned());
                s.world.evict();
            },
            |_, words| words.contains("overage none → on"),
        ),
        kind(
            "cache strategy",
            None,
            |s| {
                s.flags
                    .insert("cache strategy".to_owned(), "system prompt".to_owned());
                s.world.evict();
            },
            |_, words| words.contains("cache strategy tools → system prompt"),
        )
        .prepared(|s| {
            s.flags
                .insert("cache strategy".to_owned(), "tools".to_owned());
        }),
        kind(
            "extra body field",
            None,
            |s| {
                s.settings["inference_geo"] = json!("us");
                s.world.evict();
            },
            |_, words| words.contains("inference_geo added"),
        ),
        kind(
            "marker of the messages gone",
            None,
            |s| {
                s.marking = Marking::HeadOnly;
                s.bridge = false;
            },
            |cause, _| is(cause, |c| *c == RequestChange::Unmarked),
        ),
        kind(
            "twelve parallel calls without a bridge",
            None,
            |s| {
                s.bridge = false;
                // The reply to this makes the calls; what follows has the results.
                s.calls = Some(12);
                let asked = s.step();
                assert!(asked.verdict.finding().is_none(), "{:?}", asked.verdict);
                s.calls = Some(0);
            },
            |cause, _| {
                is(
                    cause,
                    |c| matches!(c, RequestChange::OutOfReach { distance } if *distance >= 20),
                )
            },
        )
        .prepared(|s| s.calls = Some(0)),
    ]
}

fn picture() -> Value {
    json!({ "type": "image", "source": { "type": "url", "url": "https://example.com/a.png" } })
}

fn messages() -> Vec<Kind> {
    vec![
        kind("old user message edited", MESSAGES, |s| {
            let at = s.early("user");
            let text = format!("{}!", as_blocks(&mut s.messages[at])[0]["text"].as_str().unwrap());
            as_blocks(&mut s.messages[at])[0]["text"] = json!(text);
        }, |_, words| words.contains(": message ") && words.contains("(user) edited")),
        kind("old reply edited", MESSAGES, |s| {
            let at = s.early("assistant");
            as_blocks(&mut s.messages[at])[0]["text"] = json!("Done.");
        }, |_, words| words.contains(": message ") && words.contains("(assistant) edited")),
        kind("the date in the first message", MESSAGES, |s| as_blocks(&mut s.messages[0])[0]["text"] = json!("Today is 2026-11-15."),
            |_, words| words.contains("message 0 (user) edited"))
            .prepared(|s| s.messages.push(json!({ "role": "user", "content": [{ "type": "text", "text": "Today is 2026-11-14." }] }))),
        kind("input of an old call in another order", MESSAGES, |s| {
            let call = s.messages[1]["content"].as_array().unwrap().iter().find(|block| block["type"] == "tool_use").unwrap();
            let (path, query) = (&call["input"]["path"], &call["input"]["query"]);
            s.replaced.push((format!("{{\"path\":{path},\"query\":{query}}}"), format!("{{\"query\":{query},\"path\":{path}}}")));
        }, |_, words| words.contains("message 1 (assistant) edited"))
            .prepared(|s| s.calls = Some(1)),
        kind("old result cleared", MESSAGES, |s| {
            let result = as_blocks(&mut s.messages[2]).iter_mut().find(|block| block["type"] == "tool_result").unwrap();
            result["content"] = json!("[cleared]");
        }, |_, words| words.contains("message 2 (user) edited"))
            .prepared(|s| s.calls = Some(1)),
        kind("two messages removed", MESSAGES, |s| { s.messages.drain(2..4); s.written = None; },
            |_, words| words.contains("message 2 (user) removed") && words.contains("message 3 (assistant) removed"))
            .prepared(|s| s.calls = Some(0)),
        kind("two messages inserted", MESSAGES, |s| {
            s.messages.insert(2, json!({ "role": "user", "content": "And?" }));
            s.messages.insert(3, json!({ "role": "assistant", "content": "Nothing." }));
            s.written = None;
        }, |_, words| words.contains("message 2 (user) inserted"))
            .prepared(|s| s.calls = Some(0)),
        kind("a system message inserted", MESSAGES, |s| {
            s.messages.insert(1, json!({ "role": "system", "content": "Mind the style guide." }));
            s.written = None;
        }, |_, words| words.contains("message 1 (system) inserted")).on(&SYSTEM_ROLE),
        kind("first image", MESSAGES, |s| {
            s.calls = Some(0);
            s.listen();
            as_blocks(s.messages.last_mut().unwrap()).push(picture());
            s.messages.push(json!({ "role": "assistant", "content": "I see." }));
        }, |cause, _| is(cause, |c| *c == RequestChange::Images(PresenceChange::On)))
            .prepared(|s| s.calls = Some(0)),
        kind("image removed", MESSAGES, |s| { as_blocks(&mut s.messages[0]).pop(); s.written = None; },
            |_, words| words.contains("image removed from message 0 (user)"))
            .prepared(first_with_picture),
        kind("image replaced by a text", MESSAGES, |s| {
            let block = as_blocks(&mut s.messages[0]).last_mut().unwrap();
            *block = json!({ "type": "text", "text": "[image]" });
        }, |_, words| words.contains("image removed from message 0 (user)"))
            .prepared(first_with_picture),
        kind("citations on", MESSAGES, |s| {
            s.calls = Some(0);
            s.listen();
            as_blocks(s.messages.last_mut().unwrap()).push(json!({
                "type": "document", "citations": { "enabled": true },
                "source": { "type": "text", "media_type": "text/plain", "data": "x" },
            }));
            s.messages.push(json!({ "role": "assistant", "content": "I read it." }));
        }, |cause, _| is(cause, |c| *c == RequestChange::Citations(PresenceChange::On)))
            .prepared(|s| s.calls = Some(0)),
        kind("a new turn drops earlier thinking", MESSAGES, |s| {
            s.calls = Some(0);
            let last = s.step();
            assert!(last.verdict.finding().is_none(), "{:?}", last.verdict);
        }, |cause, _| is(cause, |c| matches!(c, RequestChange::ThinkingDropped { message: 1 }))).on(&BUDGETED)
            .prepared(|s| {
                s.settings["thinking"] = json!({ "type": "enabled", "budget_tokens": 2_000 });
                s.calls = Some(1);
            }),
    ]
}

fn first_with_picture(session: &mut Session) {
    session.calls = Some(0);
    session.listen();
    as_blocks(&mut session.messages[0]).push(picture());
    session
        .messages
        .push(json!({ "role": "assistant", "content": "A picture." }));
}

fn time_and_server() -> Vec<Kind> {
    let quiet = |name, inject: fn(&mut Session)| Kind {
        expected: Expected::Quiet,
        ..kind(name, None, inject, |_, _| true)
    };
    vec![
        kind(
            "evicted",
            None,
            |s| {
                s.world.evict();
            },
            |cause, _| *cause == CacheMissCause::ServerSide,
        ),
        kind(
            "idle for 5 minutes",
            None,
            |s| s.world.advance(300_000),
            |cause, _| *cause == CacheMissCause::Expired(Ttl::FiveMinutes),
        )
        .prepared(|s| s.ttl = "5m"),
        kind(
            "idle for an hour",
            None,
            |s| s.world.advance(3_600_000),
            |cause, _| *cause == CacheMissCause::Expired(Ttl::OneHour),
        )
        .prepared(|s| s.ttl = "1h"),
        kind(
            "evicted after ten minutes of an hour",
            None,
            |s| {
                s.world.advance(600_000);
                s.world.evict();
            },
            |cause, _| *cause == CacheMissCause::ServerSide,
        )
        .prepared(|s| s.ttl = "1h"),
        quiet("compaction", |s| {
            let source = s.source.clone();
            s.watch.compacted(&source);
            let kept = s.messages.split_off(s.messages.len() - 1);
            s.messages = vec![json!({ "role": "user", "content": "Summary: all went well." })];
            s.messages.extend(kept);
            s.written = None;
        })
        .prepared(|s| s.calls = Some(0)),
        quiet("compaction that nobody announced, nothing kept", |s| {
            s.messages.clear();
            s.written = None;
        })
        .prepared(|s| s.calls = Some(0)),
        quiet("results deleted from the cache", |s| {
            let mut ids = Vec::new();
            let mut tokens = 0;
            for message in &s.messages[..5] {
                for block in message["content"].as_array().into_iter().flatten() {
                    if block["type"] == "tool_result" {
                        ids.push(json!({ "type": "delete", "tool_use_id": block["tool_use_id"] }));
                        tokens += block["content"].to_string().len() as u64 / 4;
                    }
                }
            }
            s.settings["cache_edits"] = json!(ids);
            let source = s.source.clone();
            s.watch.cache_deleted(&source, tokens);
        })
        .prepared(|s| {
            s.betas
                .insert(longhaul_sim::manage::cache_edits::BETA.to_owned());
            s.says = 2_000;
            s.calls = Some(1);
        }),
        kind(
            "evicted though something was deleted long before",
            None,
            |s| {
                let source = s.source.clone();
                s.watch.cache_deleted(&source, 50_000);
                let meant = s.step();
                assert!(meant.verdict.finding().is_none(), "{:?}", meant.verdict);
                s.world.evict();
            },
            |cause, _| *cause == CacheMissCause::ServerSide,
        ),
    ]
}

impl Kind {
    fn on(self, models: &'static [&'static str]) -> Self {
        Self { models, ..self }
    }

    fn prepared(self, prepare: fn(&mut Session)) -> Self {
        Self { prepare, ..self }
    }
}
