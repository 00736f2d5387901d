//! Time that passes, and what the server does.

use longhaul_core::cache::CacheMissCause;
use longhaul_core::prompt::Ttl;
use serde_json::json;

use super::{Expected, Kind, kind};
use crate::cache_watch::session::Session;

pub(super) fn kinds() -> Vec<Kind> {
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
