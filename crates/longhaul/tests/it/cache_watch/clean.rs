//! Runs in which nothing breaks, though a lot happens that looks like it.

use longhaul_core::cache::{CacheVerdict, MessageSpeaker};
use longhaul_core::message::Usage;
use serde_json::{Value, json};

use super::kinds::MODELS;
use super::session::{Session, as_blocks, tool};

/// Something harmless before a turn.
type Harmless = fn(&mut Session);

const HARMLESS: [(&str, Harmless); 15] = [
    ("nothing", |_| {}),
    ("strings become lists", |s| {
        s.messages.iter_mut().for_each(|message| {
            as_blocks(message);
        })
    }),
    ("lists become strings", |s| {
        s.messages.iter_mut().for_each(as_string)
    }),
    ("results become lists", |s| {
        s.messages.iter_mut().for_each(results_as_lists)
    }),
    ("the default effort is spelled out", |s| {
        let effort = s.spec.default_effort.name();
        if !s.spec.id.contains("haiku-4-5") && !s.spec.id.contains("sonnet-4-5") {
            s.settings["output_config"] = json!({ "effort": effort });
        }
    }),
    ("the default effort is left out", |s| {
        s.settings.as_object_mut().unwrap().remove("output_config");
    }),
    ("the default tool choice is spelled out", |s| {
        s.settings["tool_choice"] = json!({ "type": "auto" })
    }),
    ("another limit and name", |s| {
        s.settings["max_tokens"] = json!(s.chance.between(4_000, 9_000));
        s.settings["metadata"] = json!({ "user_id": s.chance.words(1) });
    }),
    ("a deferred tool more", |s| {
        let name = format!("deferred_{}", s.tools.len());
        let mut far = tool(&name, &mut s.chance);
        far["defer_loading"] = json!(true);
        s.tools.push(far);
    }),
    ("a beta without effect", |s| {
        s.betas.insert("prompt-caching-2024-07-31".to_owned());
    }),
    ("idle, in time", |s| {
        let most = if s.ttl == "1h" { 3_400_000 } else { 240_000 };
        let idle = s.chance.between(1_000, most);
        s.world.advance(idle as u64);
    }),
    ("the billing header", |s| {
        s.only_watched = |body| {
            let length = body["messages"].as_array().unwrap().len();
            let header = format!("x-anthropic-billing-header: cc_version=2.1; cch={length}");
            body["system"]
                .as_array_mut()
                .unwrap()
                .insert(0, json!({ "type": "text", "text": header }));
        }
    }),
    ("a call that failed", |s| {
        let written = s.written;
        s.listen();
        let body = s.body();
        let id = s.announce(&body);
        s.watch.failed(id);
        s.written = written;
        s.messages.pop();
    }),
    (
        "calls that are never heard of again, or measure nothing",
        |s| {
            let written = s.written;
            s.listen();
            let body = s.body();
            s.announce(&body);
            let empty = s.announce(&body);
            assert_eq!(
                s.watch.after(empty, &Usage::default(), None),
                CacheVerdict::Ignored
            );
            s.written = written;
            s.messages.pop();
        },
    ),
    ("sub-agents", sub_agents),
];

fn as_string(message: &mut Value) {
    if let Some([only]) = message["content"].as_array().map(Vec::as_slice)
        && only["type"] == "text"
    {
        message["content"] = only["text"].clone();
    }
}

fn results_as_lists(message: &mut Value) {
    for block in message["content"].as_array_mut().into_iter().flatten() {
        if block["type"] == "tool_result" && block["content"].is_string() {
            block["content"] = json!([{ "type": "text", "text": block["content"] }]);
        }
    }
}

/// Two sub-agents that overlap on one source, with one user context and tasks of their own.
fn sub_agents(session: &mut Session) {
    let main = std::mem::replace(&mut session.source, "agent:explore".to_owned());
    let kept = (
        std::mem::take(&mut session.messages),
        session.written.take(),
        session.calls,
    );
    let context = session.chance.words(1_500);
    let mut agents: Vec<Vec<Value>> = (0..2)
        .map(|_| {
            let task = session.chance.words(700);
            let blocks =
                [context.clone(), task].map(|text| json!({ "type": "text", "text": text }));
            vec![json!({ "role": "user", "content": blocks })]
        })
        .collect();
    session.calls = Some(0);
    for round in 0..3 {
        let mut open = Vec::new();
        for (nth, agent) in agents.iter_mut().enumerate() {
            session.messages = std::mem::take(agent);
            if round > 0 {
                session.listen();
            }
            session.written = None;
            let body = session.body();
            let id = session.announce(&body);
            let reply = session.world.messages(&session.call(&body)).unwrap();
            *agent = std::mem::take(&mut session.messages);
            open.push((nth, id, reply));
        }
        if session.chance.percent(50) {
            open.reverse();
        }
        for (nth, id, reply) in open {
            let verdict = session.watch.after(id, &reply.usage, Some(&session.spec));
            assert!(
                verdict.finding().is_none(),
                "sub-agent {nth}, round {round}: {verdict:?}"
            );
            let content = reply.message["content"].clone();
            agents[nth]
                .push(json!({ "role": MessageSpeaker::Assistant.name(), "content": content }));
            let ended = reply.ended.0.saturating_sub(session.world.now().0);
            session.world.advance(ended);
        }
    }
    session.source = main;
    (session.messages, session.written, session.calls) = kept;
}

pub(crate) fn run(seed: u64) {
    let mut session = Session::new(seed ^ 0xC1EA, &MODELS);
    let turns = session.chance.between(6, 9);
    for turn in 0..turns {
        let (name, harmless) = session.chance.pick(&HARMLESS);
        harmless(&mut session);
        let mut compacted = false;
        if session.chance.percent(10) {
            // Many parallel calls: the next request has their results, and a bridge.
            session.calls = Some(12);
        }
        if turn > 3 && session.chance.percent(8) && session.open() == 0 {
            let source = session.source.clone();
            compacted = true;
            session.watch.compacted(&source);
            session.messages.clear();
            session.written = None;
        }
        let outcome = session.step();
        session.calls = None;
        if turn > 0 && !compacted {
            // The simulator agrees that nothing changed; about betas it only says that they differ.
            let changed = outcome.changed.filter(|said| said != "betas_changed");
            assert_eq!(changed, None, "{name}, seed {seed}, turn {turn}");
        }
        let finding = outcome.verdict.finding();
        assert!(
            finding.is_none(),
            "{name}, seed {seed}, turn {turn}: {finding:?}"
        );
    }
}
