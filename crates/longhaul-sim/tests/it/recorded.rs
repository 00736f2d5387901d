//! Recorded traffic: we accept what the API accepted, and refuse what it refused.

use longhaul_sim::call::ApiError;
use longhaul_sim::request::{Endpoint, MessagesRequest};
use longhaul_sim::validate::{model_not_found, validate};
use longhaul_testkit::corpora::corpora;
use serde_json::Value;

use crate::support::{BETAS, OLD, call, spec};

struct Pair {
    id: String,
    url: String,
    status: u64,
    body: String,
    answer: String,
}

fn pairs() -> Option<Vec<Pair>> {
    let path = corpora()?.join("api-pairs/anthropic_pairs.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let pairs = text.lines().map(|line| {
        let pair: Value = serde_json::from_str(line).unwrap();
        let string = |name: &str| pair[name].as_str().unwrap_or_default().to_owned();
        Pair {
            id: string("id"),
            url: string("url"),
            status: pair["status"].as_u64().unwrap(),
            body: string("request"),
            answer: string("response"),
        }
    });
    Some(pairs.collect())
}

/// The endpoint of a recording; `None` for those that we do not serve: batches, files, the old text completions.
fn endpoint(pair: &Pair) -> Option<Endpoint> {
    let path = pair.url.split('?').next().unwrap();
    match path.strip_prefix("https://api.anthropic.com/v1/")? {
        "messages" => Some(Endpoint::Messages),
        "messages/count_tokens" => Some(Endpoint::CountTokens),
        _ => None,
    }
}

/// Headers were not recorded, so every beta is granted, with the version of that time.
fn verdict(pair: &Pair, endpoint: Endpoint) -> Result<(), ApiError> {
    let call = call(OLD, &BETAS);
    let request =
        MessagesRequest::read(pair.body.as_bytes(), endpoint, &call.betas, &call.version)?;
    validate(&request, &spec(&request.model), &call)
}

/// Recordings that were accepted then and are refused here, with the reason.
const REFUSED_HERE: [(&str, &str); 3] = [
    (
        "5fe0c57416f209d6",
        "Haiku 4.5: a blank text beside calls, no other text; refused by ruling 23, as reported of the API elsewhere",
    ),
    (
        "1181b06af53b08d5",
        "Claude 3 Opus, 2024: the result names another call than the one before it",
    ),
    (
        "17a2ca49dee8210b",
        "Claude 3 Opus, 2024: the result names another call than the one before it",
    ),
];

#[test]
fn n5_every_recorded_request_that_was_taken_is_taken() {
    let Some(pairs) = pairs() else { return };
    let mut checked = 0;
    let mut wrong = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.status == 200) {
        let Some(endpoint) = endpoint(pair) else {
            continue;
        };
        checked += 1;
        let excused = REFUSED_HERE.iter().any(|(id, _)| *id == pair.id);
        match verdict(pair, endpoint) {
            Err(error) if !excused => wrong.push(format!("{}: {}", pair.id, error.message)),
            Ok(()) if excused => wrong.push(format!("{}: taken after all", pair.id)),
            _ => {}
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(checked > 700, "{checked}");
}

/// Recordings whose refusal is worded differently today, with the current wording.
const REWORDED: [(&str, &str); 1] = [(
    "messages.0: all messages must have non-empty content except for the optional final assistant message",
    "messages.0: user messages must have non-empty content",
)];

#[test]
fn n5_every_recorded_refusal_that_the_request_explains_is_repeated_word_for_word() {
    let Some(pairs) = pairs() else { return };
    let mut checked = 0;
    for pair in pairs.iter().filter(|pair| pair.status == 400) {
        let Some(endpoint) = endpoint(pair) else {
            continue;
        };
        let answer: Value = serde_json::from_str(&pair.answer).unwrap();
        let message = answer["error"]["message"].as_str().unwrap();
        // This depends on the tokens, not on the request, whose texts were cut out of the recording.
        if message.starts_with("prompt is too long") {
            continue;
        }
        let now = REWORDED
            .iter()
            .find(|(then, _)| *then == message)
            .map_or(message, |(_, now)| now);
        assert_eq!(
            verdict(pair, endpoint).unwrap_err().message,
            now,
            "{}",
            pair.id
        );
        checked += 1;
    }
    assert_eq!(checked, 3);
}

#[test]
fn n5_a_model_that_is_not_served_is_not_found_in_the_recorded_words() {
    let Some(pairs) = pairs() else { return };
    for pair in pairs.iter().filter(|pair| pair.status == 404) {
        let body: Value = serde_json::from_str(&pair.body).unwrap();
        let answer: Value = serde_json::from_str(&pair.answer).unwrap();
        let error = model_not_found(body["model"].as_str().unwrap());
        assert_eq!((error.status, error.kind), (404, "not_found_error"));
        assert_eq!(answer["error"]["message"], error.message.as_str());
    }
}
