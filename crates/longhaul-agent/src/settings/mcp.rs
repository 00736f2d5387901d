//! Servers of the Model Context Protocol: `.mcp.json` of the project and `mcpServers` of the user. They are started
//! elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::admission::{FileAdmission, FileLookup};
use super::layer::MergedSettings;
use super::reader::{self, SettingsDocument};
use super::settings_folders::{SettingsFolders, SettingsOwner};
use super::trust_requirement::fingerprint;
use super::variables::{expand, settle};

/// A server that is started as a process and communicates through its standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The server's name: its tools are called `mcp__name__tool`.
    pub name: String,
    /// The program to run.
    pub command: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Variables for the program.
    pub env: BTreeMap<String, String>,
    /// The folder that it runs in, if it is set.
    pub cwd: Option<PathBuf>,
    /// The server as its settings file defines it.
    pub written: WrittenServer,
    /// Whether it may be started: a project's server only after the user has agreed.
    pub approved: bool,
    /// Where the server is defined.
    pub origin: ServerOrigin,
}

/// A server as it is written down: values from the project are filled in, the user's own variables stay as `${NAME}`.
/// The user is shown this, and an answer applies to exactly this.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WrittenServer {
    /// The program to run.
    pub command: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Variables for the program.
    pub env: BTreeMap<String, String>,
    /// The folder that it runs in, if it is set.
    pub cwd: Option<String>,
}

impl McpServer {
    /// The key for remembering the user's answer: the name, the command, arguments, variables and folder.
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(&(&self.name, &self.written))
    }
}

/// Where a server is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerOrigin {
    /// By the user, for all projects.
    User,
    /// By the user, for this project.
    Local,
    /// In the project's `.mcp.json`.
    Project,
}

const NO_SERVERS: &str = "none of its servers are started until it is corrected";

/// Loads all servers, sorted by name; the user's own for this project win over the project's, and those over the user's
/// for all projects.
pub(super) fn load(
    places: &SettingsFolders,
    settings: &MergedSettings,
    lookup: &dyn Fn(&str) -> Option<String>,
    admission: &mut FileAdmission,
    notices: &mut Vec<String>,
) -> Vec<McpServer> {
    let variables = ServerVariables {
        lookup,
        set: &settings.project_env,
    };
    let mut servers: BTreeMap<String, McpServer> = BTreeMap::new();
    let mut disabled = settings.disabled_servers.clone();
    let mut enabled = settings.enabled_servers.clone();
    let user = places.claude_json().and_then(|path| {
        let real = longhaul_store::real_path(path).ok()?;
        reader::read(path, &real, NO_SERVERS, notices)
            .ok()
            .flatten()
    });
    let mut own: Vec<McpServer> = Vec::new();
    if let Some(document) = &user {
        if let Some(all) = document.fields.get("mcpServers").and_then(Value::as_object) {
            let read = read_all(document, all, ServerOrigin::User, variables, notices);
            servers.extend(read.into_iter().map(|server| (server.name.clone(), server)));
        }
        let projects = [&places.root, &places.cwd];
        for project in projects
            .into_iter()
            .filter_map(|folder| of_project(document, folder))
        {
            if let Some(all) = project.get("mcpServers").and_then(Value::as_object) {
                own.extend(read_all(
                    document,
                    all,
                    ServerOrigin::Local,
                    variables,
                    notices,
                ));
            }
            enabled.extend(texts(project, "enabledMcpjsonServers"));
            disabled.extend(texts(project, "disabledMcpjsonServers"));
        }
    }
    let path = places.mcp_file();
    if let FileLookup::At(real) = admission.find(&path, SettingsOwner::Project)
        && let Ok(Some(document)) = reader::read(&path, &real, NO_SERVERS, notices)
        && let Some(all) = document.object("mcpServers", notices)
    {
        for mut server in read_all(&document, all, ServerOrigin::Project, variables, notices) {
            server.approved = settings.all_servers || enabled.contains(&server.name);
            servers.insert(server.name.clone(), server);
        }
    }
    servers.extend(own.into_iter().map(|server| (server.name.clone(), server)));
    servers
        .retain(|name, server| server.origin != ServerOrigin::Project || !disabled.contains(name));
    servers.into_values().collect()
}

/// The servers in a file that the user names (`--mcp-config`), in the form of `.mcp.json`. They count as the user's own.
pub(crate) fn of_file(
    path: &Path,
    lookup: &dyn Fn(&str) -> Option<String>,
    notices: &mut Vec<String>,
) -> Vec<McpServer> {
    let none = BTreeMap::new();
    let variables = ServerVariables { lookup, set: &none };
    let real = longhaul_store::real_path(path).unwrap_or_else(|_| path.to_owned());
    match reader::read(path, &real, NO_SERVERS, notices) {
        Ok(Some(document)) => match document.object("mcpServers", notices) {
            Some(all) => read_all(&document, all, ServerOrigin::User, variables, notices),
            None => Vec::new(),
        },
        Ok(None) => {
            notices.push(format!(
                "{} does not exist: no server is started from it",
                path.display()
            ));
            Vec::new()
        }
        // The reason is among the notices.
        Err(_) => Vec::new(),
    }
}

fn of_project<'a>(
    document: &'a SettingsDocument<'_>,
    folder: &std::path::Path,
) -> Option<&'a Map<String, Value>> {
    let projects = document.fields.get("projects")?.as_object()?;
    projects.get(folder.to_str()?)?.as_object()
}

fn texts(object: &Map<String, Value>, key: &str) -> Vec<String> {
    let list = object.get(key).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The values of variables in the settings of servers.
#[derive(Clone, Copy)]
struct ServerVariables<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    /// The variables that the project has set.
    set: &'a BTreeMap<String, String>,
}

fn read_all(
    document: &SettingsDocument<'_>,
    all: &Map<String, Value>,
    origin: ServerOrigin,
    variables: ServerVariables<'_>,
    notices: &mut Vec<String>,
) -> Vec<McpServer> {
    let mut servers = Vec::new();
    for (name, value) in all {
        match read_one(name, value, origin, variables) {
            Ok(server) => servers.push(server),
            Err(why) => notices
                .push(document.notice(&["mcpServers", name], &format!("is not started: {why}"))),
        }
    }
    servers
}

fn read_one(
    name: &str,
    value: &Value,
    origin: ServerOrigin,
    variables: ServerVariables<'_>,
) -> Result<McpServer, String> {
    let value = value
        .as_object()
        .ok_or("it should be an object with a `command`")?;
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("stdio");
    if kind != "stdio" || value.contains_key("url") {
        let kind = if kind == "stdio" { "http" } else { kind };
        return Err(format!(
            "servers of type `{kind}` are not supported, only `stdio`; use a local bridge, or remove it"
        ));
    }
    let is_name = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if name.is_empty() || !name.chars().all(is_name) || name.contains("__") {
        return Err("its name should be letters, digits, `-` and single `_`".to_owned());
    }
    let fill = |text: &str| {
        expand(text, variables.lookup).map_err(|missing| {
            format!("the variable {missing} is not set; set it, or write ${{{missing}:-default}}")
        })
    };
    let command = value
        .get("command")
        .and_then(Value::as_str)
        .filter(|command| !command.is_empty());
    let settled = |text: &str| settle(text, variables.set);
    let mut written = WrittenServer::default();
    let command = command.ok_or("its `command` should be a text in quotes")?;
    written.command = settled(command);
    let command = fill(command)?;
    let mut args = Vec::new();
    match value.get("args") {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) => {
            for argument in list {
                let argument = argument
                    .as_str()
                    .ok_or("its `args` should be a list of texts")?;
                written.args.push(settled(argument));
                args.push(fill(argument)?);
            }
        }
        Some(_) => return Err("its `args` should be a list of texts".to_owned()),
    }
    let mut env = BTreeMap::new();
    match value.get("env") {
        None | Some(Value::Null) => {}
        Some(Value::Object(object)) => {
            for (name, text) in object {
                let text = text.as_str().ok_or("its `env` should hold texts only")?;
                written.env.insert(name.clone(), settled(text));
                env.insert(name.clone(), fill(text)?);
            }
        }
        Some(_) => return Err("its `env` should be an object".to_owned()),
    }
    let cwd = value.get("cwd").and_then(Value::as_str);
    written.cwd = cwd.map(settled);
    let cwd = cwd.map(fill).transpose()?;
    Ok(McpServer {
        name: name.to_owned(),
        command,
        args,
        env,
        cwd: cwd.map(PathBuf::from),
        written,
        approved: origin != ServerOrigin::Project,
        origin,
    })
}
