//! What changed since an earlier request: the answer to `diagnostics.previous_message_id` (API-FACTS §1.7).

use std::collections::{BTreeMap, VecDeque};

use longhaul_core::xxh3::Xxh3_128;
use serde_json::{Value, json};

use crate::prompt::{LaidOutPrompt, PromptLevel, PromptPosition};

/// The number of requests remembered.
const REMEMBERED: usize = 512;

/// The parts of a request that are kept to compare later ones with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiagnosisFingerprint {
    model: String,
    betas: Vec<String>,
    tools: u128,
    system: u128,
    /// The prefix hashes of the messages; each covers everything before it.
    messages: Vec<u128>,
}

impl DiagnosisFingerprint {
    /// The fingerprint of a prompt. `model` includes the speed.
    pub(crate) fn of(model: String, betas: Vec<String>, prompt: &LaidOutPrompt) -> Self {
        let level = |level: PromptLevel| {
            let mut hash = Xxh3_128::new();
            let head = prompt
                .positions
                .iter()
                .take_while(|p| p.level <= PromptLevel::System);
            for position in head.filter(|position| position.level == level) {
                hash.update(&position.identity.to_le_bytes());
            }
            hash.digest()
        };
        let messages = prompt.positions.iter();
        Self {
            model,
            betas,
            tools: level(PromptLevel::Tools),
            system: level(PromptLevel::System),
            messages: messages
                .filter(|position| position.level == PromptLevel::Messages)
                .map(|position| position.prefix)
                .collect(),
        }
    }
}

/// Fingerprints by message id.
#[derive(Debug, Default)]
pub(crate) struct DiagnosisHistory {
    known: BTreeMap<String, DiagnosisFingerprint>,
    order: VecDeque<String>,
}

impl DiagnosisHistory {
    /// Remembers a request by the id of the message that answered it.
    pub(crate) fn remember(&mut self, message: String, fingerprint: DiagnosisFingerprint) {
        if self.known.insert(message.clone(), fingerprint).is_none() {
            self.order.push_back(message);
        }
        while self.order.len() > REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }

    /// The value of `diagnostics` in the reply: null where there was no cache miss.
    pub(crate) fn compare(
        &self,
        previous: Option<&str>,
        now: &DiagnosisFingerprint,
        prompt: &LaidOutPrompt,
    ) -> Value {
        let Some(previous) = previous else {
            return Value::Null;
        };
        let reason = match self.known.get(previous) {
            None => Some(json!({ "type": "previous_message_not_found" })),
            Some(then) => reason(then, now, prompt),
        };
        reason.map_or(Value::Null, |reason| json!({ "cache_miss_reason": reason }))
    }
}

impl DiagnosisHistory {
    /// Describes what changed since the request remembered by this name; `None` if nothing changed that costs cache.
    pub(crate) fn changed(
        &self,
        name: &str,
        now: &DiagnosisFingerprint,
        prompt: &LaidOutPrompt,
    ) -> Option<String> {
        let reason = reason(self.known.get(name)?, now, prompt)?;
        let kind = reason.get("type")?.as_str()?.to_owned();
        let tokens = reason.get("cache_missed_input_tokens");
        Some(match tokens {
            Some(tokens) => format!("{kind}: {tokens} tokens"),
            None if kind == "unavailable" => "betas_changed".to_owned(),
            None => kind,
        })
    }
}

fn reason(
    then: &DiagnosisFingerprint,
    now: &DiagnosisFingerprint,
    prompt: &LaidOutPrompt,
) -> Option<Value> {
    let head = |level: PromptLevel| {
        let count = |p: &&PromptPosition| p.level < level;
        prompt.positions.iter().take_while(count).count()
    };
    let common = then
        .messages
        .iter()
        .zip(&now.messages)
        .take_while(|(then, now)| then == now)
        .count();
    let both = head(PromptLevel::Messages) + then.messages.len().min(now.messages.len());
    let missed = |from: usize| prompt.up_to(both).saturating_sub(prompt.up_to(from));
    let (kind, from) = match () {
        () if then.model != now.model => ("model_changed", 0),
        () if then.betas != now.betas => return Some(json!({ "type": "unavailable" })),
        () if then.system != now.system => ("system_changed", head(PromptLevel::System)),
        () if then.tools != now.tools => ("tools_changed", 0),
        () if common < then.messages.len() => {
            ("messages_changed", head(PromptLevel::Messages) + common)
        }
        () => return None,
    };
    Some(json!({ "type": kind, "cache_missed_input_tokens": missed(from) }))
}
