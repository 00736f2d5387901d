//! Which clients there are, which version was tried last, and what is tried with each.

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registry {
    /// Python's.
    PyPi,
    /// JavaScript's.
    Npm,
}

/// A package and the version that was tried last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// What `--latest` may not go beyond, in the registry's own words; empty for anything.
    pub(super) bound: &'static str,
}

/// A client.
#[derive(Debug)]
pub(super) struct Client {
    /// What it is called here.
    pub(super) name: &'static str,
    pub(super) registry: Registry,
    /// The first is the client; the others are needed by what drives it.
    pub(super) packages: &'static [Package],
    pub(super) drive: Drive,
}

/// How a client is made to do something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Drive {
    /// By a script in its language.
    Script(&'static [Stage]),
    /// By prompts on its command line, and what they leave behind.
    ClaudeCode,
    /// By one prompt on its command line.
    Program(Program),
}

/// A program that takes a prompt.
#[derive(Debug, Clone, Copy)]
pub(super) enum Program {
    /// `opencode run`.
    OpenCode,
    /// `aider --message`.
    Aider,
}

/// Checks that share a world.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    /// What it is called in the report.
    pub(super) name: &'static str,
    /// The script, without its extension.
    pub(super) script: &'static str,
    pub(super) checks: &'static [&'static str],
    pub(super) window: Window,
    pub(super) refusals: Refusals,
}

/// How much the model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Window {
    /// What it really does.
    Usual,
    /// So little that a short session is more ([`SMALL`]).
    Small,
}

/// The small window, in tokens.
pub(super) const SMALL: u32 = 60_000;

/// Whether the upstream may have refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusals {
    /// Nothing at all.
    Never,
    /// Nothing, where the gateway manages; else that something is too long.
    WhereObserved,
    /// The checks provoke errors.
    Asked,
}

const fn plain(checks: &'static [&'static str]) -> Stage {
    Stage {
        name: "api",
        script: "clients",
        checks,
        window: Window::Usual,
        refusals: Refusals::Never,
    }
}

const fn errors(checks: &'static [&'static str]) -> Stage {
    Stage {
        name: "errors",
        script: "clients",
        checks,
        window: Window::Usual,
        refusals: Refusals::Asked,
    }
}

const fn long(checks: &'static [&'static str]) -> Stage {
    Stage {
        name: "long",
        script: "through",
        checks,
        window: Window::Small,
        refusals: Refusals::WhereObserved,
    }
}

const ANTHROPIC_API: Stage = plain(&[
    "anthropic_message",
    "anthropic_stream",
    "anthropic_tools",
    "anthropic_tool_runner",
    "anthropic_count_and_models",
    "anthropic_cache",
]);
const ANTHROPIC_ERRORS: Stage = errors(&["anthropic_errors"]);
const ANTHROPIC: &[Stage] = &[
    ANTHROPIC_API,
    ANTHROPIC_ERRORS,
    long(&[
        "longhaul_headers",
        "anthropic_long",
        "anthropic_long_runner",
    ]),
];
const ANTHROPIC_0: &[Stage] = &[
    ANTHROPIC_API,
    ANTHROPIC_ERRORS,
    long(&[
        "longhaul_headers",
        "anthropic_long",
        "anthropic_long_runner",
        "anthropic_own_compaction",
    ]),
];
const OPENAI: &[Stage] = &[
    plain(&[
        "openai_completion",
        "openai_tools",
        "openai_cache_and_models",
    ]),
    errors(&["openai_errors"]),
    long(&["longhaul_headers", "openai_long"]),
];
const LANGCHAIN: &[Stage] = &[Stage {
    name: "api",
    script: "others",
    checks: &["langchain_message", "langchain_stream", "langchain_tools"],
    window: Window::Usual,
    refusals: Refusals::Never,
}];
const LITELLM: &[Stage] = &[Stage {
    name: "api",
    script: "others",
    checks: &["litellm_message", "litellm_stream", "litellm_chat"],
    window: Window::Usual,
    refusals: Refusals::Never,
}];

const fn package(name: &'static str, version: &'static str) -> Package {
    Package {
        name,
        version,
        bound: "",
    }
}

const PY_ANTHROPIC: Package = package("anthropic", "2.8.0");
const PY_ANTHROPIC_0: Package = Package {
    bound: "<1",
    ..package("anthropic", "0.125.0")
};
const PY_OPENAI: Package = package("openai", "3.49.0");
const JS_ANTHROPIC: Package = package("@anthropic-ai/sdk", "1.8.0");
const JS_OPENAI: Package = package("openai", "7.53.0");

/// All of them.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: "anthropic-python",
        registry: Registry::PyPi,
        packages: &[PY_ANTHROPIC, PY_OPENAI],
        drive: Drive::Script(ANTHROPIC),
    },
    Client {
        name: "anthropic-python-0",
        registry: Registry::PyPi,
        packages: &[PY_ANTHROPIC_0, PY_OPENAI],
        drive: Drive::Script(ANTHROPIC_0),
    },
    Client {
        name: "anthropic-javascript",
        registry: Registry::Npm,
        packages: &[JS_ANTHROPIC, JS_OPENAI],
        drive: Drive::Script(ANTHROPIC),
    },
    Client {
        name: "openai-python",
        registry: Registry::PyPi,
        packages: &[PY_OPENAI, PY_ANTHROPIC],
        drive: Drive::Script(OPENAI),
    },
    Client {
        name: "openai-javascript",
        registry: Registry::Npm,
        packages: &[JS_OPENAI, JS_ANTHROPIC],
        drive: Drive::Script(OPENAI),
    },
    Client {
        name: "claude-code",
        registry: Registry::Npm,
        packages: &[package("@anthropic-ai/claude-code", "2.1.325")],
        drive: Drive::ClaudeCode,
    },
    Client {
        name: "opencode",
        registry: Registry::Npm,
        packages: &[package("opencode-ai", "1.18.33")],
        drive: Drive::Program(Program::OpenCode),
    },
    Client {
        name: "langchain-anthropic",
        registry: Registry::PyPi,
        packages: &[package("langchain-anthropic", "1.7.7")],
        drive: Drive::Script(LANGCHAIN),
    },
    Client {
        name: "litellm",
        registry: Registry::PyPi,
        packages: &[package("litellm", "1.106.2")],
        drive: Drive::Script(LITELLM),
    },
    Client {
        name: "aider",
        registry: Registry::PyPi,
        packages: &[package("aider-chat", "0.86.2")],
        drive: Drive::Program(Program::Aider),
    },
];
