//! Compactions as the real files record them: a boundary without parent, a summary, and lines that are kept verbatim.
//!
//! Kept lines are not written again. The boundary names them, and a reader puts them after the anchor: children of the
//! anchor then become children of the last kept line.

use super::generator::Generator;
use super::meter;
use super::spec::{Feature, KeptRounds};
use super::transcript_builder::WrittenLine;
use super::truth::{ExpectedBoundary, ExpectedClearing};
use crate::ids;
use crate::json::{ObjectBuilder, array, quote};
use crate::words;

impl Generator {
    /// Writes a boundary and a summary, and begins a new live view.
    pub(super) fn compact(&mut self) {
        let wait = self.rng.between(20_000, 110_000);
        self.tape.wait(wait);
        let kept = self.choose_kept_rounds();
        let (boundary_uuid, summary_uuid) = (ids::uuid(&mut self.rng), ids::uuid(&mut self.rng));
        let anchor = if self.spec.kept == KeptRounds::AfterBoundary {
            &boundary_uuid
        } else {
            &summary_uuid
        };
        let metadata = self.metadata(&kept, anchor);
        let line = self
            .tape
            .open_boundary(&self.thread, self.thread.last.as_deref())
            .text("type", "system")
            .text("subtype", "compact_boundary")
            .text("content", "Conversation compacted")
            .flag("isMeta", false)
            .text("timestamp", &self.tape.stamp())
            .text("uuid", &boundary_uuid)
            .text("level", "info")
            .raw("compactMetadata", &metadata)
            .end();
        let offset = self.tape.out.len();
        let boundary = self.tape.link(&mut self.thread, &line, boundary_uuid);

        self.live.clear();
        self.cuts.clear();
        self.results.clear();
        self.truth.anchor = None;
        self.rounds_since_boundary = 0;
        self.context = 0;
        let before_summary = self.spec.has(Feature::Attachments) && self.rng.percent(30);
        if before_summary {
            self.attachment();
        }
        let summary = self.summary(summary_uuid);
        let summary_line = summary.line;
        self.live.push(summary);
        match self.spec.kept {
            KeptRounds::AfterBoundary => {
                self.live.splice(0..0, kept.iter().cloned());
                // Fresh lines begin with the summary itself: the next segment may start with it.
                self.fresh = kept.len();
            }
            _ => {
                self.live.extend(kept.iter().cloned());
                self.fresh = self.live.len();
            }
        }
        if self.spec.has(Feature::Attachments) && self.rng.percent(40) {
            self.attachment();
        }
        self.truth.boundaries.push(ExpectedBoundary {
            line: boundary.line,
            offset,
            uuid: boundary.uuid,
            summary_line,
            pre_tokens: self.pre_tokens,
            kept: kept.iter().map(|seen| seen.line).collect(),
        });
    }

    fn summary(&mut self, uuid: String) -> WrittenLine {
        let letters = self.letters;
        let mut text = String::from(
            "This conversation goes on from an earlier one that filled the window. What it held, in short:\n",
        );
        for at in 1..=9 {
            let sentences = self.rng.skewed(2, 30);
            text.push_str(&format!(
                "\n{at}. {}\n",
                words::sentence(&mut self.rng, letters)
            ));
            text.push_str(&words::prose(&mut self.rng, sentences, letters));
            if at == 3 {
                let lines = self.rng.between(10, 120);
                text.push_str(&format!(
                    "\n```\n{}\n```\n",
                    words::code(&mut self.rng, lines, letters)
                ));
            }
        }
        self.meter.compact(meter::tokens(text.len()));
        let line = self
            .tape
            .open(&self.thread, self.thread.last.as_deref())
            .text("type", "user")
            .raw(
                "message",
                &ObjectBuilder::new()
                    .text("role", "user")
                    .raw("content", &quote(&text))
                    .end(),
            )
            .flag("isVisibleInTranscriptOnly", true)
            .flag("isCompactSummary", true)
            .text("uuid", &uuid)
            .text("timestamp", &self.tape.stamp())
            .end();
        self.tape.link(&mut self.thread, &line, uuid)
    }

    /// Chooses the lines to keep, whole responses only, among those written since the last boundary.
    fn choose_kept_rounds(&mut self) -> Vec<WrittenLine> {
        let cuts: Vec<usize> = self
            .cuts
            .iter()
            .copied()
            .filter(|cut| *cut >= self.fresh)
            .collect();
        match self.spec.kept {
            KeptRounds::Nothing => Vec::new(),
            KeptRounds::AfterSummary => match cuts.get(cuts.len().saturating_sub(3)) {
                Some(from) => self.live[*from..].to_vec(),
                None => Vec::new(),
            },
            KeptRounds::AfterBoundary => match cuts.get(3).or(cuts.last()) {
                Some(to) => self.live[self.fresh..*to].to_vec(),
                None => Vec::new(),
            },
            KeptRounds::Listed => self.listed(&cuts),
        }
    }

    /// The first and the last of the last three parts; the one between is left to the summary.
    fn listed(&self, cuts: &[usize]) -> Vec<WrittenLine> {
        let &[.., first, second, third] = cuts else {
            return Vec::new();
        };
        let (first, last) = (&self.live[first..second], &self.live[third..]);
        first.iter().chain(last).cloned().collect()
    }

    fn metadata(&mut self, kept: &[WrittenLine], anchor: &str) -> String {
        self.pre_tokens = self.context.max(1);
        let metadata = ObjectBuilder::new()
            .text("trigger", "auto")
            .number("preTokens", self.pre_tokens)
            .number("messagesSummarized", (self.live.len() - kept.len()) as u64);
        let (Some(head), Some(tail)) = (kept.first(), kept.last()) else {
            return metadata.end();
        };
        let segment = ObjectBuilder::new()
            .text("headUuid", &head.uuid)
            .text("anchorUuid", anchor)
            .text("tailUuid", &tail.uuid)
            .end();
        let metadata = metadata.raw("preservedSegment", &segment);
        if self.spec.kept != KeptRounds::Listed {
            return metadata.end();
        }
        let uuids = array(kept.iter().map(|seen| quote(&seen.uuid)));
        let listed = ObjectBuilder::new()
            .text("anchorUuid", anchor)
            .raw("uuids", &uuids)
            .raw("allUuids", &uuids)
            .end();
        metadata.raw("preservedMessages", &listed).end()
    }

    /// Clears all clearable results except the newest five.
    pub(super) fn microcompact(&mut self) {
        let keep = self.results.split_off(self.results.len().saturating_sub(5));
        let cleared = std::mem::replace(&mut self.results, keep);
        let saved: u64 = cleared.iter().map(|(_, tokens)| tokens).sum();
        let tool_ids: Vec<String> = cleared.into_iter().map(|(id, _)| id).collect();
        let metadata = ObjectBuilder::new()
            .text("trigger", "auto")
            .number("preTokens", self.context)
            .number("tokensSaved", saved)
            .raw(
                "compactedToolIds",
                &array(tool_ids.iter().map(|id| quote(id))),
            )
            .raw("clearedAttachmentUUIDs", "[]")
            .end();
        let uuid = ids::uuid(&mut self.rng);
        let line = self
            .tape
            .open(&self.thread, self.thread.last.as_deref())
            .text("type", "system")
            .text("subtype", "microcompact_boundary")
            .text("content", "Context microcompacted")
            .flag("isMeta", false)
            .text("timestamp", &self.tape.stamp())
            .text("uuid", &uuid)
            .text("level", "info")
            .raw("microcompactMetadata", &metadata)
            .end();
        let written = self.tape.link(&mut self.thread, &line, uuid);
        self.meter.clear(saved);
        self.truth.clearings.push(ExpectedClearing {
            line: written.line,
            tool_ids,
        });
    }
}
