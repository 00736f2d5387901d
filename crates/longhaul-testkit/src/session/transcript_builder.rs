//! The lines written so far, and the chain they form.
//!
//! A line's parent is the previous line of its thread, whatever its kind; only the parent of a tool result is the line
//! of its own call. Both are as in the real files.

use crate::ids;
use crate::json::ObjectBuilder;
use crate::rng::Rng;
use crate::timestamp::{self, Millis};

/// A line that was just written.
#[derive(Clone, Debug)]
pub(super) struct WrittenLine {
    /// The number of the line, from 1.
    pub(super) line: usize,
    /// The uuid of the line.
    pub(super) uuid: String,
}

/// The file under construction.
#[derive(Debug)]
pub(crate) struct TranscriptBuilder {
    pub(super) out: Vec<u8>,
    pub(super) lines: usize,
    pub(super) now: Millis,
    pub(super) session_id: String,
    pub(super) cwd: &'static str,
    branch: String,
    slug: String,
}

/// The speaker, which is the main thread or a sub-agent, and the end of its chain.
#[derive(Clone, Debug, Default)]
pub(super) struct SpeakerThread {
    /// A sub-agent's id; its lines are sidechain lines.
    pub(super) agent: Option<String>,
    /// The uuid of the next line's parent.
    pub(super) last: Option<String>,
}

const VERSION: &str = "2.1.39";

impl TranscriptBuilder {
    pub(super) fn new(rng: &mut Rng) -> Self {
        Self {
            out: Vec::new(),
            lines: 0,
            now: timestamp::START,
            session_id: ids::uuid(rng),
            cwd: "/srv/projects/harbor",
            branch: format!("{}-{}", crate::words::noun(rng), rng.below(400)),
            slug: format!(
                "{}-{}-{}",
                crate::words::noun(rng),
                crate::words::noun(rng),
                crate::words::noun(rng)
            ),
        }
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, ms: usize) {
        self.now += ms as Millis;
    }

    /// The current timestamp.
    pub(super) fn stamp(&self) -> String {
        timestamp::iso(self.now)
    }

    /// The members at the beginning of every line of the conversation.
    pub(super) fn open(&self, thread: &SpeakerThread, parent: Option<&str>) -> ObjectBuilder {
        self.envelope(
            ObjectBuilder::new().text_or_null("parentUuid", parent),
            thread,
        )
    }

    /// The members at the beginning of a compact boundary, which has no parent but remembers what came before it.
    pub(super) fn open_boundary(
        &self,
        thread: &SpeakerThread,
        logical_parent: Option<&str>,
    ) -> ObjectBuilder {
        let line = ObjectBuilder::new()
            .raw("parentUuid", "null")
            .text_or_null("logicalParentUuid", logical_parent);
        self.envelope(line, thread)
    }

    fn envelope(&self, line: ObjectBuilder, thread: &SpeakerThread) -> ObjectBuilder {
        let line = line
            .flag("isSidechain", thread.agent.is_some())
            .text("userType", "external")
            .text("cwd", self.cwd)
            .text("sessionId", &self.session_id)
            .text("version", VERSION)
            .text("gitBranch", &self.branch);
        let line = match &thread.agent {
            Some(agent) => line.text("agentId", agent),
            None => line,
        };
        line.text("slug", &self.slug)
    }

    /// Writes an attachment line; these carry their envelope after the payload.
    pub(super) fn attachment(
        &self,
        thread: &SpeakerThread,
        parent: Option<&str>,
        attachment: &str,
        uuid: &str,
    ) -> String {
        ObjectBuilder::new()
            .text_or_null("parentUuid", parent)
            .flag("isSidechain", thread.agent.is_some())
            .raw("attachment", attachment)
            .text("type", "attachment")
            .text("uuid", uuid)
            .text("timestamp", &self.stamp())
            .text("userType", "external")
            .text("cwd", self.cwd)
            .text("sessionId", &self.session_id)
            .text("version", VERSION)
            .text("gitBranch", &self.branch)
            .end()
    }

    /// Writes a line outside the chain and returns its number.
    pub(super) fn push(&mut self, json: &str) -> usize {
        self.out.extend_from_slice(json.as_bytes());
        self.out.push(b'\n');
        self.lines += 1;
        self.lines
    }

    /// Writes a line and makes it the end of the thread's chain.
    pub(super) fn link(
        &mut self,
        thread: &mut SpeakerThread,
        json: &str,
        uuid: String,
    ) -> WrittenLine {
        let line = self.push(json);
        thread.last = Some(uuid.clone());
        WrittenLine { line, uuid }
    }
}
