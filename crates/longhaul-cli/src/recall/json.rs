//! Search results for programs. docs/recall.md says what the fields mean.

use std::path::Path;

use longhaul_store::archive::{PathMatch, SearchHit, WordMatch};
use serde_json::{Value, json};

use super::{MatchFit, RecallAnswer};

pub(super) fn object(transcript: &Path, answer: &RecallAnswer) -> Value {
    let file = transcript.display().to_string();
    match answer {
        RecallAnswer::Matches { hits, fit, more } => json!({
            "file": file,
            "fit": fit.name(),
            "more": more,
            "hits": hits.iter().map(hit).collect::<Vec<_>>(),
        }),
        RecallAnswer::Whole(parts) => json!({
            "file": file,
            "fit": "id",
            "more": false,
            "hits": parts.iter().map(whole).collect::<Vec<_>>(),
        }),
    }
}

impl MatchFit {
    fn name(self) -> &'static str {
        match self {
            Self::Words(WordMatch::AllWords) => "all_words",
            Self::Words(WordMatch::SomeWords) => "some_words",
            Self::Path(PathMatch::Exact | PathMatch::ExactInOtherCase) => "path",
            Self::Path(PathMatch::Suffix | PathMatch::SuffixInOtherCase) => "end_of_path",
            Self::Path(PathMatch::SameName) => "file_name",
        }
    }
}

fn hit(hit: &SearchHit) -> Value {
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

fn whole((found, text): &(SearchHit, String)) -> Value {
    let mut object = hit(found);
    object["text"] = json!(text);
    object
}
