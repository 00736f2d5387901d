//! Variables that a command may set without asking.

/// Whether this is a variable of the script itself. Names in capitals may be those that programs read.
pub(crate) fn is_harmless_variable(name: &str) -> bool {
    let is_own = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    // The shell that runs the command has its own variables.
    let is_ours = name.starts_with("longhaul");
    !name.is_empty() && name.bytes().all(is_own) && !name.ends_with("proxy") && !is_ours
}

/// Whether this variable changes only how the output looks, not what a command does.
pub(crate) fn is_harmless_in_env(name: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "CI",
        "COLUMNS",
        "CARGO_TERM_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "FORCE_COLOR",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "NO_COLOR",
        "NODE_ENV",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TERM",
        "TZ",
    ];
    HARMLESS.contains(&name)
}
