//! The list of clients, the version of each that was tested last, and its checks.

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageRegistry {
    /// Python's registry.
    PyPi,
    /// JavaScript's registry.
    Npm,
}

/// A package and the version that was tested last.
#[derive(Debug, Clone, Copy)]
pub(super) struct PinnedPackage {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// The bound for `--latest`, in the registry's own syntax; empty for no bound.
    pub(super) bound: &'static str,
}

/// A client and its checks.
#[derive(Debug)]
pub(super) struct TestedClient {
    /// The client's name here.
    pub(super) name: &'static str,
    pub(super) registry: PackageRegistry,
    /// The first package is the client; the script that drives it needs the others.
    pub(super) packages: &'static [PinnedPackage],
    pub(super) drive: ClientDriver,
}

/// How a client is driven.
#[derive(Debug, Clone, Copy)]
pub(super) enum ClientDriver {
    /// A script in the client's language.
    Script(&'static [CheckStage]),
    /// Prompts on Claude Code's command line, and the files that they leave in its home.
    ClaudeCode,
    /// One prompt on the program's command line.
    Program(PromptProgram),
}

/// A program that takes a prompt on its command line.
#[derive(Debug, Clone, Copy)]
pub(super) enum PromptProgram {
    /// `opencode run`.
    OpenCode,
    /// `aider --message`.
    Aider,
}

/// Checks that share the same servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckStage {
    /// The stage's name in the report.
    pub(super) name: &'static str,
    /// The script, without its extension.
    pub(super) script: &'static str,
    pub(super) checks: &'static [&'static str],
    pub(super) window: WindowSize,
    pub(super) refusals: AllowedRefusals,
}

/// The size of the model's context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowSize {
    /// The model's real window.
    Usual,
    /// A window so small that a short session exceeds it ([`SMALL`]).
    Small,
}

/// The small window, in tokens.
pub(super) const SMALL: u32 = 60_000;

/// Which refusals by the upstream are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AllowedRefusals {
    /// No refusals are allowed.
    Never,
    /// No refusals where the gateway manages; where it only observes, the upstream may refuse a request as too long.
    WhereObserved,
    /// The checks provoke errors.
    Asked,
}

const fn plain(checks: &'static [&'static str]) -> CheckStage {
    CheckStage {
        name: "api",
        script: "clients",
        checks,
        window: WindowSize::Usual,
        refusals: AllowedRefusals::Never,
    }
}

const fn errors(checks: &'static [&'static str]) -> CheckStage {
    CheckStage {
        name: "errors",
        script: "clients",
        checks,
        window: WindowSize::Usual,
        refusals: AllowedRefusals::Asked,
    }
}

const fn long(checks: &'static [&'static str]) -> CheckStage {
    CheckStage {
        name: "long",
        script: "through",
        checks,
        window: WindowSize::Small,
        refusals: AllowedRefusals::WhereObserved,
    }
}

const ANTHROPIC_API: CheckStage = plain(&[
    "anthropic_message",
    "anthropic_stream",
    "anthropic_tools",
    "anthropic_tool_runner",
    "anthropic_count_and_models",
    "anthropic_cache",
]);
const ANTHROPIC_ERRORS: CheckStage = errors(&["anthropic_errors"]);
const ANTHROPIC: &[CheckStage] = &[
    ANTHROPIC_API,
    ANTHROPIC_ERRORS,
    long(&[
        "longhaul_headers",
        "anthropic_long",
        "anthropic_long_runner",
    ]),
];
const ANTHROPIC_0: &[CheckStage] = &[
    ANTHROPIC_API,
    ANTHROPIC_ERRORS,
    long(&[
        "longhaul_headers",
        "anthropic_long",
        "anthropic_long_runner",
        "anthropic_own_compaction",
    ]),
];
const OPENAI: &[CheckStage] = &[
    plain(&[
        "openai_completion",
        "openai_tools",
        "openai_cache_and_models",
    ]),
    errors(&["openai_errors"]),
    long(&["longhaul_headers", "openai_long"]),
];
const LANGCHAIN: &[CheckStage] = &[CheckStage {
    name: "api",
    script: "others",
    checks: &["langchain_message", "langchain_stream", "langchain_tools"],
    window: WindowSize::Usual,
    refusals: AllowedRefusals::Never,
}];
const LITELLM: &[CheckStage] = &[CheckStage {
    name: "api",
    script: "others",
    checks: &["litellm_message", "litellm_stream", "litellm_chat"],
    window: WindowSize::Usual,
    refusals: AllowedRefusals::Never,
}];

const fn package(name: &'static str, version: &'static str) -> PinnedPackage {
    PinnedPackage {
        name,
        version,
        bound: "",
    }
}

const PY_ANTHROPIC: PinnedPackage = package("anthropic", "2.8.0");
const PY_ANTHROPIC_0: PinnedPackage = PinnedPackage {
    bound: "<1",
    ..package("anthropic", "0.125.0")
};
const PY_OPENAI: PinnedPackage = package("openai", "3.49.0");
const JS_ANTHROPIC: PinnedPackage = package("@anthropic-ai/sdk", "1.8.0");
const JS_OPENAI: PinnedPackage = package("openai", "7.53.0");

/// All tested clients.
pub(super) const CLIENTS: &[TestedClient] = &[
    TestedClient {
        name: "anthropic-python",
        registry: PackageRegistry::PyPi,
        packages: &[PY_ANTHROPIC, PY_OPENAI],
        drive: ClientDriver::Script(ANTHROPIC),
    },
    TestedClient {
        name: "anthropic-python-0",
        registry: PackageRegistry::PyPi,
        packages: &[PY_ANTHROPIC_0, PY_OPENAI],
        drive: ClientDriver::Script(ANTHROPIC_0),
    },
    TestedClient {
        name: "anthropic-javascript",
        registry: PackageRegistry::Npm,
        packages: &[JS_ANTHROPIC, JS_OPENAI],
        drive: ClientDriver::Script(ANTHROPIC),
    },
    TestedClient {
        name: "openai-python",
        registry: PackageRegistry::PyPi,
        packages: &[PY_OPENAI, PY_ANTHROPIC],
        drive: ClientDriver::Script(OPENAI),
    },
    TestedClient {
        name: "openai-javascript",
        registry: PackageRegistry::Npm,
        packages: &[JS_OPENAI, JS_ANTHROPIC],
        drive: ClientDriver::Script(OPENAI),
    },
    TestedClient {
        name: "claude-code",
        registry: PackageRegistry::Npm,
        packages: &[package("@anthropic-ai/claude-code", "2.1.325")],
        drive: ClientDriver::ClaudeCode,
    },
    TestedClient {
        name: "opencode",
        registry: PackageRegistry::Npm,
        packages: &[package("opencode-ai", "1.18.33")],
        drive: ClientDriver::Program(PromptProgram::OpenCode),
    },
    TestedClient {
        name: "langchain-anthropic",
        registry: PackageRegistry::PyPi,
        packages: &[package("langchain-anthropic", "1.7.7")],
        drive: ClientDriver::Script(LANGCHAIN),
    },
    TestedClient {
        name: "litellm",
        registry: PackageRegistry::PyPi,
        packages: &[package("litellm", "1.106.2")],
        drive: ClientDriver::Script(LITELLM),
    },
    TestedClient {
        name: "aider",
        registry: PackageRegistry::PyPi,
        packages: &[package("aider-chat", "0.86.2")],
        drive: ClientDriver::Program(PromptProgram::Aider),
    },
];
