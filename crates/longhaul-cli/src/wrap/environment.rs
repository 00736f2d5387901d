//! What the agent is told: variables, JSON in variables, and arguments, with the addresses of the gateways.

use std::process::Command;

use serde_json::Value;

use super::gateways::GatewaySet;
use super::plan::WrapPlan;
use crate::agents::placeholder;
use crate::failure::CliError;

/// The host that must be reached without a proxy.
const HERE: &str = "127.0.0.1";
/// The variables that name hosts which are reached without a proxy.
const EXCEPTIONS: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// What stands for a key where a simulated model accepts any.
const ANY_KEY: &str = "any-key-for-the-simulated-model";

/// Tells a command about the gateways.
pub(super) fn prepare(
    command: &mut Command,
    plan: &WrapPlan,
    set: &GatewaySet,
) -> Result<(), CliError> {
    for name in EXCEPTIONS {
        command.env(name, with_this_machine(std::env::var(name).ok()));
    }
    let Some(agent) = &plan.profile else {
        command.envs(&set.addresses);
        return Ok(());
    };
    let filled = |text: &str| {
        let mut text = text.to_owned();
        for (api, address) in &set.addresses {
            text = text.replace(&placeholder(api), address);
        }
        text
    };
    for (name, text) in &agent.env {
        command.env(name, filled(text));
    }
    for (name, text) in &agent.merge_json {
        let wrong = |reason: String| CliError::NotMerged {
            name: name.clone(),
            reason,
        };
        let ours = serde_json::from_str(&filled(text)).map_err(|error| wrong(error.to_string()))?;
        let users = std::env::var(name)
            .ok()
            .filter(|text| !text.trim().is_empty());
        let mut merged = match users {
            Some(text) => serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?,
            None => Value::Object(serde_json::Map::new()),
        };
        merge(&mut merged, ours);
        command.env(name, merged.to_string());
    }
    for text in &agent.args {
        command.arg(filled(text));
    }
    for (name, api) in &agent.api {
        let is_simulated = plan.apis.get(name).is_some_and(|api| api.is_simulated());
        if let Some(key) = api.key.as_ref().filter(|_| is_simulated)
            && std::env::var_os(key).is_none_or(|value| value.is_empty())
        {
            command.env(key, ANY_KEY);
        }
    }
    Ok(())
}

/// A list of hosts without a proxy, with this machine in it.
fn with_this_machine(users: Option<String>) -> String {
    match users {
        Some(list)
            if list
                .split(',')
                .any(|host| matches!(host.trim(), HERE | "*")) =>
        {
            list
        }
        Some(list) if !list.trim().is_empty() => format!("{list},{HERE}"),
        _ => HERE.to_owned(),
    }
}

/// Puts one JSON value into another: objects member by member, anything else in place of what was there.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_users_json_stays_where_ours_says_nothing() {
        let mut users = json!({"theme": "x", "provider": {"anthropic": {"options": {"timeout": 5, "baseURL": "theirs"}}}});
        merge(
            &mut users,
            json!({"provider": {"anthropic": {"options": {"baseURL": "ours"}}}}),
        );
        let wanted = json!({"theme": "x", "provider": {"anthropic": {"options": {"timeout": 5, "baseURL": "ours"}}}});
        assert_eq!(users, wanted);
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        assert_eq!(with_this_machine(None), "127.0.0.1");
        assert_eq!(with_this_machine(Some(String::new())), "127.0.0.1");
        assert_eq!(with_this_machine(Some("a.b".to_owned())), "a.b,127.0.0.1");
        assert_eq!(
            with_this_machine(Some("a, 127.0.0.1".to_owned())),
            "a, 127.0.0.1"
        );
        assert_eq!(with_this_machine(Some("*".to_owned())), "*");
    }
}
