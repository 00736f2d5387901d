//! How much of the results in recorded sessions is not sent with each setting (V8). A session is long if its results take
//! 50,000 tokens or more. Clearings are not replayed: a result stays in view until the next compaction.

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use longhaul_core::config::ResultReduction;
use longhaul_core::json;
use longhaul_core::message::{BlockKind, Entry, Id, ReductionStanding, Subtype};
use longhaul_core::reduce::{ReductionCandidate, ReductionKind, ResultText, reduce};
use longhaul_core::tokens::RoughEstimator;

const LONG: u64 = 50_000;

#[derive(Debug, Default, Clone, Copy)]
struct Tokens {
    all: u64,
    same: u64,
    changed: u64,
    excerpt: u64,
}

impl Tokens {
    fn saved(self) -> u64 {
        self.same + self.changed + self.excerpt
    }

    fn percent(self, part: u64) -> f64 {
        part as f64 * 100.0 / self.all.max(1) as f64
    }
}

fn size(text: &str) -> u64 {
    RoughEstimator::text(text).unpadded()
}

/// What a session's results take, and what each way saves.
fn measured(path: &Path, setting: ResultReduction) -> Tokens {
    let mut tokens = Tokens::default();
    let mut standing = ReductionStanding::default();
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
    let mut by_file: HashMap<String, Vec<usize>> = HashMap::new();
    let mut reads: HashMap<Id, String> = HashMap::new();
    let lines = std::fs::read(path).unwrap();
    for line in lines.split(|byte| *byte == b'\n') {
        let Ok(entry) = Entry::read(Bytes::copy_from_slice(line)) else {
            continue;
        };
        let view = entry.view();
        if view.facets.flags.sidechain {
            continue;
        }
        if view.facets.subtype == Subtype::CompactBoundary {
            standing = ReductionStanding::default();
        }
        for block in view.facets.blocks.iter().filter(|block| !block.inner) {
            let Some(id) = view.block_id(block) else {
                continue;
            };
            if block.kind == BlockKind::ToolUse && view.text(block.name) == "Read" {
                let path = view.object(block.body).string("file_path");
                reads.extend(path.map(|path| (id, path.into_owned())));
            }
            let text = json::text(block.body.of(view.line));
            let (BlockKind::ToolResult, Some(text)) = (block.kind, text) else {
                continue;
            };
            tokens.all += size(&text);
            let call = view.text(block.id).into_owned();
            let is_whole = |at: &&usize| standing.is_whole(Id::of(&texts[**at].0));
            let same = by_text
                .get(&*text)
                .and_then(|all| all.iter().rev().find(is_whole));
            let file = reads.get(&id);
            let earlier = file
                .and_then(|file| by_file.get(file))
                .into_iter()
                .flatten();
            let earlier: Vec<ResultText<'_>> = (earlier.rev().filter(is_whole))
                .map(|at| ResultText {
                    call: &texts[*at].0,
                    text: &texts[*at].1,
                })
                .collect();
            let candidate = ReductionCandidate {
                result: ResultText {
                    call: &call,
                    text: &text,
                },
                same: same.map(|at| texts[*at].0.as_str()),
                earlier: &earlier,
            };
            let reduced = reduce(&candidate, setting).filter(|_| !block.is_error);
            match &reduced {
                None => standing.whole(id),
                Some(reduced) => standing.reduced(id, reduced.base.as_deref().map(Id::of)),
            };
            if let Some(reduced) = reduced {
                let saved = size(&text) - size(&reduced.text);
                match reduced.kind {
                    ReductionKind::Same => tokens.same += saved,
                    ReductionKind::Changed => tokens.changed += saved,
                    _ => tokens.excerpt += saved,
                }
            }
            if !block.is_error {
                by_text
                    .entry(text.to_string())
                    .or_default()
                    .push(texts.len());
                if let Some(file) = file {
                    by_file.entry(file.clone()).or_default().push(texts.len());
                }
                texts.push((call, text.into_owned()));
            }
        }
    }
    tokens
}

#[test]
fn v8_how_much_of_the_results_of_recorded_sessions_is_not_sent() {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return;
    };
    for setting in [ResultReduction::Exact, ResultReduction::Recallable] {
        let mut total = Tokens::default();
        let mut shares: Vec<f64> = Vec::new();
        for file in &files {
            let tokens = measured(file, setting);
            assert!(tokens.saved() <= tokens.all);
            if tokens.all < LONG {
                continue;
            }
            shares.push(tokens.percent(tokens.saved()));
            total.all += tokens.all;
            total.same += tokens.same;
            total.changed += tokens.changed;
            total.excerpt += tokens.excerpt;
        }
        shares.sort_by(f64::total_cmp);
        let middle = shares.get(shares.len() / 2).copied().unwrap_or_default();
        println!(
            "{}: {} long sessions, {} tokens of results; saved {:.1} % (same {:.1} %, changed {:.1} %, excerpt {:.1} %); median of sessions {middle:.1} %, most {:.1} %",
            setting.name(),
            shares.len(),
            total.all,
            total.percent(total.saved()),
            total.percent(total.same),
            total.percent(total.changed),
            total.percent(total.excerpt),
            shares.last().copied().unwrap_or_default(),
        );
    }
}
