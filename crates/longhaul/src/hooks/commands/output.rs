//! The JSON that a hook may print, field by field. What a field does for which event is in `interpret.rs`.

use serde_json::{Map, Value};

use super::name::HookEventName;
use super::outcome::{HookFailure, HookPermission};

/// What was found in the JSON. Fields of the wrong type count as absent, and are noted.
#[derive(Debug, Default)]
pub(super) struct HookOutput {
    /// `continue: false`.
    pub(super) stop: bool,
    pub(super) stop_reason: Option<String>,
    pub(super) system_message: Option<String>,
    /// `decision: "block"`.
    pub(super) block: bool,
    /// `decision: "approve"`, the old way to allow a tool call.
    pub(super) approve: bool,
    pub(super) reason: Option<String>,
    pub(super) context: Option<String>,
    pub(super) permission: Option<HookPermission>,
    pub(super) permission_reason: Option<String>,
    pub(super) updated_input: Option<Value>,
    pub(super) updated_output: Option<Value>,
    pub(super) initial_user_message: Option<String>,
    pub(super) session_title: Option<String>,
    pub(super) failures: Vec<HookFailure>,
}

impl HookOutput {
    /// Reads an object. `suppressOutput` and `terminalSequence` have no effect and are not looked for.
    pub(super) fn read(event: HookEventName, json: &Value) -> HookOutput {
        let mut output = HookOutput::default();
        let Some(fields) = json.as_object() else {
            return output;
        };
        output.universal(fields);
        match fields.get("hookSpecificOutput") {
            None | Some(Value::Null) => {}
            Some(Value::Object(specific)) => output.specific(event, specific),
            Some(_) => output.unused("`hookSpecificOutput` should be an object; not used"),
        }
        output
    }

    fn universal(&mut self, fields: &Map<String, Value>) {
        match fields.get("continue") {
            None | Some(Value::Null | Value::Bool(true)) => {}
            Some(Value::Bool(false)) => self.stop = true,
            Some(_) => self.unused("`continue` should be true or false; not used"),
        }
        self.stop_reason = self.text(
            fields,
            "stopReason",
            "`stopReason` should be a text; not used",
        );
        self.system_message = self.text(
            fields,
            "systemMessage",
            "`systemMessage` should be a text; not used",
        );
        self.reason = self.text(fields, "reason", "`reason` should be a text; not used");
        match fields.get("decision").map(Value::as_str) {
            None => {}
            Some(Some("block")) => self.block = true,
            Some(Some("approve")) => self.approve = true,
            Some(_) if fields.get("decision") == Some(&Value::Null) => {}
            Some(_) => self.unused("`decision` should be \"block\" or absent; not used"),
        }
    }

    fn specific(&mut self, event: HookEventName, fields: &Map<String, Value>) {
        let named = fields.get("hookEventName").and_then(Value::as_str);
        if named != Some(event.as_str()) {
            return self.unused("`hookSpecificOutput.hookEventName` is not this event; not used");
        }
        self.context = self.text(
            fields,
            "additionalContext",
            "`additionalContext` should be a text; not used",
        );
        self.permission = match fields.get("permissionDecision").map(Value::as_str) {
            None => None,
            Some(Some("allow")) => Some(HookPermission::Allow),
            Some(Some("ask")) => Some(HookPermission::Ask),
            Some(Some("defer")) => Some(HookPermission::Defer),
            Some(Some("deny")) => Some(HookPermission::Deny),
            Some(_) => {
                self.unused("`permissionDecision` should be allow, ask, defer or deny; not used");
                None
            }
        };
        self.permission_reason = self.text(
            fields,
            "permissionDecisionReason",
            "`permissionDecisionReason` should be a text; not used",
        );
        self.updated_input = match fields.get("updatedInput") {
            None | Some(Value::Null) => None,
            Some(input @ Value::Object(_)) => Some(input.clone()),
            Some(_) => {
                self.unused("`updatedInput` should be an object; not used");
                None
            }
        };
        if event == HookEventName::PermissionRequest {
            self.answer(fields);
        }
        self.updated_output = fields.get("updatedToolOutput").cloned();
        self.initial_user_message = self.text(
            fields,
            "initialUserMessage",
            "`initialUserMessage` should be a text; not used",
        );
        self.session_title = self.text(
            fields,
            "sessionTitle",
            "`sessionTitle` should be a text; not used",
        );
    }

    /// The answer given in the user's place: `decision: {behavior, message, updatedInput}`.
    fn answer(&mut self, fields: &Map<String, Value>) {
        let decision = match fields.get("decision") {
            None | Some(Value::Null) => return,
            Some(Value::Object(decision)) => decision,
            Some(_) => return self.unused("`decision` should be an object; not used"),
        };
        self.permission = match decision.get("behavior").and_then(Value::as_str) {
            Some("allow") => Some(HookPermission::Allow),
            Some("deny") => Some(HookPermission::Deny),
            _ => {
                self.unused("`decision.behavior` should be allow or deny; not used");
                None
            }
        };
        self.permission_reason = self.text(
            decision,
            "message",
            "`decision.message` should be a text; not used",
        );
        if let Some(input @ Value::Object(_)) = decision.get("updatedInput") {
            self.updated_input = Some(input.clone());
        }
    }

    /// A text that is not blank.
    fn text(
        &mut self,
        fields: &Map<String, Value>,
        name: &str,
        otherwise: &'static str,
    ) -> Option<String> {
        match fields.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            Some(_) => {
                self.unused(otherwise);
                None
            }
        }
    }

    fn unused(&mut self, what: &'static str) {
        self.failures.push(HookFailure::Unused(what));
    }
}
