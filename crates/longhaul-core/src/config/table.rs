//! The settings, all of them. A new one is a line here and a field of [`Config`](super::Config).
//!
//! Names of the original system stand behind our own, so that ours win where both are set.

use super::setting::{Setting, env, env_off};
use super::slot::Slot;

/// Every setting, in the order of the reference.
pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "compaction.enabled",
        doc: "Whether anything may shorten the conversation, by hand or automatically, the clearing of old tool results included.",
        env: &[
            env("LONGHAUL_COMPACTION_ENABLED"),
            env_off("DISABLE_COMPACT"),
        ],
        flag: None,
        slot: Slot::Switch(|config| &mut config.switches.compaction),
    },
    Setting {
        key: "compaction.automatic",
        doc: "Whether compaction may run without being asked for; by hand it stays possible.",
        env: &[
            env("LONGHAUL_COMPACTION_AUTOMATIC"),
            env_off("DISABLE_AUTO_COMPACT"),
        ],
        flag: None,
        slot: Slot::Switch(|config| &mut config.switches.automatic),
    },
    Setting {
        key: "compaction.auto_compact_enabled",
        doc: "The user's own choice of automatic compaction, asked after the two switches above.",
        env: &[env("LONGHAUL_COMPACTION_AUTO_COMPACT_ENABLED")],
        flag: None,
        slot: Slot::Switch(|config| &mut config.switches.auto_compact_enabled),
    },
    Setting {
        key: "compaction.micro",
        doc: "Whether old tool results may be cleared.",
        env: &[env("LONGHAUL_COMPACTION_MICRO")],
        flag: None,
        slot: Slot::Switch(|config| &mut config.switches.micro),
    },
    Setting {
        key: "compaction.notes",
        doc: "Whether session notes are taken in the background and used in place of a summary.",
        env: &[env("LONGHAUL_COMPACTION_NOTES")],
        flag: None,
        slot: Slot::Switch(|config| &mut config.switches.notes),
    },
    Setting {
        key: "compaction.reactive",
        doc: "Whether a request the provider finds too long is compacted and sent again.",
        env: &[env("LONGHAUL_COMPACTION_REACTIVE")],
        flag: None,
        slot: Slot::Switch(|config| &mut config.switches.reactive),
    },
    Setting {
        key: "compaction.collapse",
        doc: "Whether old rounds are folded span by span instead of compacting the whole at a threshold.",
        env: &[env("LONGHAUL_COMPACTION_COLLAPSE")],
        flag: None,
        slot: Slot::Switch(|config| &mut config.switches.collapse),
    },
    Setting {
        key: "compaction.summariser",
        doc: "Who sums up: `model`, by a request of ours, or `provider`, by its own compaction where it has one (else as `model`).",
        env: &[env("LONGHAUL_COMPACTION_SUMMARISER")],
        flag: None,
        slot: Slot::Summariser(|config| &mut config.summariser),
    },
    Setting {
        key: "compaction.background",
        doc: "Whether a summary is prepared ahead, while the conversation goes on, so that it need not wait for one when the window is full.",
        env: &[env("LONGHAUL_COMPACTION_BACKGROUND")],
        flag: None,
        slot: Slot::Switch(|config| &mut config.background),
    },
    Setting {
        key: "compaction.native_clearing",
        doc: "Whether the provider is asked to clear old tool results by itself when the window fills up, in place of our clearing them.",
        env: &[env("LONGHAUL_COMPACTION_NATIVE_CLEARING")],
        flag: None,
        slot: Slot::Switch(|config| &mut config.native_clearing),
    },
    Setting {
        key: "window.cap",
        doc: "The most the context window may hold; it only makes the model's window smaller. Under 4,000 is refused.",
        env: &[
            env("LONGHAUL_WINDOW_CAP"),
            env("CLAUDE_CODE_AUTO_COMPACT_WINDOW"),
        ],
        flag: Some("--window"),
        slot: Slot::Tokens(|config| &mut config.window_cap),
    },
    Setting {
        key: "window.auto_compact_percent",
        doc: "Where automatic compaction begins, as a share of the effective window; it only makes it begin earlier.",
        env: &[
            env("LONGHAUL_WINDOW_AUTO_COMPACT_PERCENT"),
            env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"),
        ],
        flag: Some("--auto-compact-percent"),
        slot: Slot::Percent(|config| &mut config.auto_compact_percent),
    },
    Setting {
        key: "window.blocking_limit",
        doc: "Where input is refused if no compaction can act. Meant for tests.",
        env: &[
            env("LONGHAUL_WINDOW_BLOCKING_LIMIT"),
            env("CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE"),
        ],
        flag: Some("--blocking-limit"),
        slot: Slot::Tokens(|config| &mut config.blocking_limit),
    },
    Setting {
        key: "window.max_output",
        doc: "The most a reply may hold; it only makes the model's maximum smaller.",
        env: &[
            env("LONGHAUL_WINDOW_MAX_OUTPUT"),
            env("CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        ],
        flag: Some("--max-output"),
        slot: Slot::Tokens(|config| &mut config.max_output),
    },
    Setting {
        key: "cache.enabled",
        doc: "Whether requests carry cache markers. Without them every request is billed as if it were the first.",
        env: &[
            env("LONGHAUL_CACHE_ENABLED"),
            env_off("DISABLE_PROMPT_CACHING"),
        ],
        flag: None,
        slot: Slot::Switch(|config| &mut config.cache.enabled),
    },
    Setting {
        key: "cache.one_hour",
        doc: "Whether conversations may keep their cache for an hour instead of five minutes; writing it then costs more.",
        env: &[
            env("LONGHAUL_CACHE_ONE_HOUR"),
            env("ENABLE_PROMPT_CACHING_1H"),
        ],
        flag: None,
        slot: Slot::Switch(|config| &mut config.cache.one_hour),
    },
    Setting {
        key: "cache.five_minutes_only",
        doc: "Keeps every cache at five minutes, whatever the settings above say.",
        env: &[
            env("LONGHAUL_CACHE_FIVE_MINUTES_ONLY"),
            env("FORCE_PROMPT_CACHING_5M"),
        ],
        flag: None,
        slot: Slot::Switch(|config| &mut config.cache.five_minutes_only),
    },
    Setting {
        key: "cache.diff_dir",
        doc: "The folder for diffs of what broke the cache; unset: the folder of chat's session.",
        env: &[env("LONGHAUL_CACHE_DIFF_DIR")],
        flag: None,
        slot: Slot::Text(|config| &mut config.cache_diff_dir),
    },
    Setting {
        key: "cache.watch_small_models",
        doc: "Whether cache breaks of small models are told, too (haiku, mini, nano): their cache is seldom worth a word.",
        env: &[env("LONGHAUL_CACHE_WATCH_SMALL_MODELS")],
        flag: None,
        slot: Slot::Switch(|config| &mut config.watch_small_models),
    },
    Setting {
        key: "notes.start_tokens",
        doc: "How many tokens the window holds when session notes are first taken. Smaller windows scale it down.",
        env: &[env("LONGHAUL_NOTES_START_TOKENS")],
        flag: None,
        slot: Slot::Amount(|config| &mut config.notes.start_tokens),
    },
    Setting {
        key: "notes.growth_tokens",
        doc: "By how many tokens the window must have grown before notes are taken again. Smaller windows scale it down.",
        env: &[env("LONGHAUL_NOTES_GROWTH_TOKENS")],
        flag: None,
        slot: Slot::Amount(|config| &mut config.notes.growth_tokens),
    },
    Setting {
        key: "notes.tool_calls",
        doc: "After how many tool calls notes are taken again; sooner if the model made none in its last response.",
        env: &[env("LONGHAUL_NOTES_TOOL_CALLS")],
        flag: None,
        slot: Slot::Count(|config| &mut config.notes.tool_calls),
    },
    Setting {
        key: "model",
        doc: "The model to use where none is named.",
        env: &[env("LONGHAUL_MODEL")],
        flag: Some("--model"),
        slot: Slot::Text(|config| &mut config.model),
    },
    Setting {
        key: "models.file",
        doc: "A TOML file that adds models to the built-in table or overrides its fields.",
        env: &[env("LONGHAUL_MODELS_FILE")],
        flag: Some("--models"),
        slot: Slot::Text(|config| &mut config.models_file),
    },
    Setting {
        key: "retention.days",
        doc: "How many days own data is kept before `longhaul purge` deletes it; unset keeps it for ever.",
        env: &[env("LONGHAUL_RETENTION_DAYS")],
        flag: None,
        slot: Slot::Days(|config| &mut config.retention_days),
    },
    Setting {
        key: "log",
        doc: "Which log lines are shown on stderr, as a tracing filter: `warn`, `debug`, `longhaul_core=trace`.",
        env: &[env("LONGHAUL_LOG")],
        flag: Some("--log"),
        slot: Slot::Filter(|config| &mut config.log),
    },
];
