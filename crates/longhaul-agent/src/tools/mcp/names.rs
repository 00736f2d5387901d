//! Names of tools in the form that requests accept: `mcp__server__tool`.

use longhaul_core::xxh3::xxh3_64;

/// The maximum length of a name.
const LONGEST: usize = 64;

/// The name of a server's tool. Rules in settings use it.
pub(crate) fn tool_name(server: &str, tool: &str) -> String {
    let name = format!("mcp__{}__{}", clean(server), clean(tool));
    if name.len() > LONGEST {
        marked(&name, server, tool)
    } else {
        name
    }
}

/// The name of a server's tool, or another one if that is taken: several tools may get the same name.
pub(super) fn free_name(server: &str, tool: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let name = tool_name(server, tool);
    if is_taken(&name) {
        marked(&name, server, tool)
    } else {
        name
    }
}

/// Whether a tool's name begins as those of this server do.
pub(super) fn is_of(server: &str, tool: &str) -> bool {
    let rest = tool.strip_prefix("mcp__");
    rest.and_then(|rest| rest.strip_prefix(&*clean(server)))
        .is_some_and(|rest| rest.starts_with("__"))
}

/// A name with only the allowed characters, as Claude Code does it.
pub(super) fn clean(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

/// A name of limited length with a hash of what it was made from. All of it is ASCII.
fn marked(name: &str, server: &str, tool: &str) -> String {
    let mark = xxh3_64(format!("{server}\0{tool}").as_bytes());
    let mark = format!("_{:08x}", mark >> 32);
    let room = LONGEST - mark.len();
    format!("{}{mark}", &name[..name.len().min(room)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q1_names_hold_only_what_requests_allow() {
        assert_eq!(
            tool_name("my server.v2", "get/thing"),
            "mcp__my_server_v2__get_thing"
        );
        assert_eq!(tool_name("größe", "a-b_c"), "mcp__gr__e__a-b_c");
        let long = tool_name("server", &"x".repeat(100));
        assert_eq!(long.len(), 64);
        assert_ne!(long, tool_name("server", &"x".repeat(101)));
        assert!(is_of("my server.v2", "mcp__my_server_v2__get_thing"));
        assert!(!is_of("my", "mcp__my_server_v2__get_thing"));
        let other = free_name("a b", "c", |name| name == "mcp__a_b__c");
        assert!(other.starts_with("mcp__a_b__c_"), "{other}");
    }
}
