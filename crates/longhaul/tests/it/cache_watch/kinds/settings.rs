//! Changes of settings.

use longhaul_core::cache::RequestChange;
use serde_json::json;

use super::{ADAPTIVE, BUDGETED, Kind, MESSAGES, MODEL, MODELS, is, kind};
use crate::cache_watch::session::Marking;

pub(super) fn kinds() -> Vec<Kind> {
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
