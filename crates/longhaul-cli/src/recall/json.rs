//! What was found, for programs. docs/recall.md says what the fields mean.

use std::path::Path;

use longhaul_store::archive::{Hit, Matched, PathMatch};
use serde_json::{Value, json};

use super::{Answer, Fit};

pub(super) fn object(transcript: &Path, answer: &Answer) -> Value {
    let file = transcript.display().to_string();
    match answer {
        Answer::Matches { hits, fit, more } => json!({
            "file": file,
            "fit": fit.name(),
            "more": more,
            "hits": hits.iter().map(hit).collect::<Vec<_>>(),
        }),
        Answer::Whole(parts) => json!({
            "file": file,
            "fit": "id",
            "more": false,
            "hits": parts.iter().map(whole).collect::<Vec<_>>(),
        }),
    }
}

impl Fit {
    fn name(self) -> &'static str {
        match self {
            Self::Words(Matched::AllWords) => "all_words",
            Self::Words(Matched::SomeWords) => "some_words",
            Self::Path(PathMatch::Exact | PathMatch::ExactInOtherCase) => "path",
            Self::Path(PathMatch::Suffix | PathMatch::SuffixInOtherCase) => "end_of_path",
            Self::Path(PathMatch::SameName) => "file_name",
        }
    }
}

fn hit(hit: &Hit) -> Value {
    let record = &hit.record;
    json!({
        "id": record.id(),
        "uuid": record.uuid,
        "kind": record.kind.name(),
        "presence": record.presence.name(),
        "tool": record.tool,
        "path": record.path,
        "session_id": record.session,
        "timestamp": record.timestamp,
        "tokens": record.tokens.unpadded(),
        "snippet": hit.snippet.with_marks("", ""),
    })
}

fn whole((found, text): &(Hit, String)) -> Value {
    let mut object = hit(found);
    object["text"] = json!(text);
    object
}
