//! Which settings take effect in the gateway, and why the others do not. A setting that is given to `longhaul serve`
//! and would have no effect is refused. Every new setting needs an entry here, which a test checks.

/// The effect of a setting in the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewaySupport {
    /// The setting takes effect.
    Acts,
    /// The setting has no effect, for this reason.
    Idle(&'static str),
}

use GatewaySupport::{Acts, Idle};

const CLIENTS_BREAKPOINTS: &str =
    "cache breakpoints are the client's, or the gateway's with `--marks manage`";

/// The effect of each setting, by its key.
static IN_SERVE: &[(&str, GatewaySupport)] = &[
    ("compaction.enabled", Acts),
    ("compaction.automatic", Acts),
    ("compaction.auto_compact_enabled", Acts),
    ("compaction.micro", Acts),
    ("compaction.notes", Acts),
    ("compaction.reactive", Acts),
    (
        "compaction.collapse",
        Idle("the gateway summarizes a conversation as a whole and folds no spans"),
    ),
    (
        "compaction.summariser",
        Idle("the gateway asks for summaries itself and never has the provider compact"),
    ),
    ("compaction.background", Acts),
    (
        "compaction.native_clearing",
        Idle("requests are the client's: only the client can ask the provider to clear"),
    ),
    (
        "compaction.reactive_only",
        Idle("the gateway makes a conversation smaller before the provider refuses it"),
    ),
    (
        "compaction.summary_model",
        Idle("the gateway asks the conversation's own model, which the client's key is good for"),
    ),
    ("economy", Acts),
    ("reduce", Acts),
    ("gateway.recall", Acts),
    ("gateway.hashes", Acts),
    (
        "micro.tools",
        Idle("the gateway knows the tools of many agents; `micro.more_tools` adds to them"),
    ),
    ("micro.more_tools", Acts),
    ("micro.keep_recent", Acts),
    (
        "micro.trigger",
        Idle("the gateway deletes nothing from the provider's cache by reference"),
    ),
    ("micro.idle_minutes", Acts),
    ("rules.words", Acts),
    ("rules.builtin_words", Acts),
    ("called_off.words", Acts),
    ("called_off.builtin_words", Acts),
    ("window.cap", Acts),
    ("window.auto_compact_percent", Acts),
    ("window.blocking_limit", Acts),
    ("window.max_output", Acts),
    ("cache.enabled", Idle(CLIENTS_BREAKPOINTS)),
    ("cache.one_hour", Idle(CLIENTS_BREAKPOINTS)),
    ("cache.five_minutes_only", Idle(CLIENTS_BREAKPOINTS)),
    (
        "cache.diff_dir",
        Idle("the gateway keeps no texts that a diff could be made of"),
    ),
    (
        "cache.watch_small_models",
        Idle("the gateway watches the cache of every model"),
    ),
    ("notes.start_tokens", Acts),
    ("notes.growth_tokens", Acts),
    ("notes.tool_calls", Acts),
    ("model", Idle("each request names its own model")),
    ("models.file", Acts),
    ("retention.days", Acts),
    (
        "retry.patience",
        Idle("a client of the gateway sees each failure and decides by itself whether to retry"),
    ),
    ("log", Acts),
];

/// The effect of a setting in the gateway. A setting that is not in the table is accepted.
pub fn in_serve(key: &str) -> GatewaySupport {
    let found = IN_SERVE.iter().find(|(known, _)| *known == key);
    found.map_or(Acts, |(_, acts)| *acts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SETTINGS;

    #[test]
    fn g1_every_setting_says_whether_it_acts_in_the_gateway() {
        let declared: Vec<&str> = IN_SERVE.iter().map(|(key, _)| *key).collect();
        let settings: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
        assert_eq!(declared, settings);
    }
}
