//! Events as tracing: readable on stderr, in a log file, or by any subscriber that the host installs.

use longhaul_core::engine::{Event, Summarizer};

/// Records an event.
pub(super) fn record(event: &Event) {
    match event {
        Event::Compacted(done) => tracing::info!(
            event = match done.by {
                Summarizer::Notes => "notes_compact",
                _ => "compact",
            },
            trigger = done.trigger.as_str(),
            by = ?done.by,
            pre_tokens = done.pre_tokens,
            view_tokens = done.before,
            post_tokens = done.after,
            input_tokens = done.usage.as_ref().map(|usage| usage.input),
            output_tokens = done.usage.as_ref().map(|usage| usage.output),
            cache_read_tokens = done.usage.as_ref().map(|usage| usage.cache_read),
            cache_write_tokens = done.usage.as_ref().map(|usage| usage.cache_write()),
            duration_ms = done.milliseconds,
            waited_ms = done.waited,
            cost = done.cost.map(|cost| cost.to_string()),
            in_chain = done.recompaction.in_chain,
            turns_since = done.recompaction.turns_since,
            turn_id = done.recompaction.turn,
            previous_turn_id = done.recompaction.previous_turn,
            threshold = done.recompaction.threshold,
            source = done.recompaction.source,
            "conversation compacted"
        ),
        Event::CompactFailed { kind, message } => {
            // The caller who asked for it gets the event itself.
            tracing::info!(event = "compact_failed", ?kind, "{message}");
        }
        Event::TooLongRetry { attempt, rounds } => {
            tracing::info!(
                event = "ptl_retry",
                attempt,
                rounds,
                "summary request too long"
            );
        }
        Event::SummaryCutOff => tracing::info!(
            event = "summary_cut_off",
            "the summary was cut off at the limit on its output; extracts stand for the sections that it lacks"
        ),
        Event::MicroCompacted {
            reason,
            results,
            saved,
            ..
        } => tracing::info!(
            event = "microcompact",
            ?reason,
            results,
            saved,
            "results cleared"
        ),
        Event::NativeCleared {
            tool_uses,
            thinking_turns,
            tokens,
        } => tracing::info!(
            event = "native_clearing",
            tool_uses,
            thinking_turns,
            saved = tokens,
            "results cleared by the provider"
        ),
        Event::NotesTaken(notes) => tracing::info!(
            event = "notes_extracted",
            changed = notes.taken.changed,
            refused = notes.taken.refused,
            requests = notes.taken.requests,
            input_tokens = notes.taken.usage.input,
            output_tokens = notes.taken.usage.output,
            cache_read_tokens = notes.taken.usage.cache_read,
            cache_write_tokens = notes.taken.usage.cache_write(),
            duration_ms = notes.milliseconds,
            cost = notes.cost.map(|cost| cost.to_string()),
            failed = notes.taken.failed,
            "notes taken"
        ),
        Event::NotesNotUsed { reason } => {
            tracing::info!(event = "notes_not_used", "{reason}");
        }
        Event::PrefixChanged { what, from } => tracing::info!(
            event = "prefix_changed",
            what = what.as_str(),
            ?from,
            "requests begin otherwise than before"
        ),
        Event::Ahead(ahead) => tracing::debug!(event = "summary_ahead", ?ahead),
        Event::ThresholdExceededAfter { tokens, threshold } => tracing::warn!(
            event = "threshold_exceeded_after",
            tokens,
            threshold,
            "still over the threshold after compacting"
        ),
        // The log gets it from `cache_breaks`, which knows where the diff is.
        Event::CacheBreak(_) => {}
        Event::BreakerTripped => tracing::warn!(
            event = "breaker_tripped",
            "automatic compaction failed three times; it will not ask a model again in this session"
        ),
        Event::Withheld { usage, cost } => tracing::info!(
            event = "reply_withheld",
            input_tokens = usage.input,
            output_tokens = usage.output,
            cache_read_tokens = usage.cache_read,
            cache_write_tokens = usage.cache_write(),
            cost = cost.map(|cost| cost.to_string()),
            "a reply ran out of room; the turn is tried again in a smaller window"
        ),
        Event::ReplyLost {
            source,
            usage,
            cost,
        } => tracing::info!(
            event = "reply_lost",
            source = source.as_str(),
            input_tokens = usage.input,
            output_tokens = usage.output,
            cache_read_tokens = usage.cache_read,
            cache_write_tokens = usage.cache_write(),
            cost = cost.map(|cost| cost.to_string()),
            "a reply broke off or was stopped; it is billed as far as it came"
        ),
        Event::TurnFailed { message } | Event::Refused { message } => {
            tracing::debug!("{message}");
        }
        Event::FileRestore { path, failed } => match failed {
            None => tracing::debug!(event = "file_restore", path, "file restored"),
            Some(why) => tracing::info!(event = "file_restore", path, why, "file not restored"),
        },
        Event::HookMessage { event, text } => tracing::debug!(hook = event, "{text}"),
        Event::Phase(_)
        | Event::StillCompacting { .. }
        | Event::Replied { .. }
        | Event::Preview(_)
        | Event::NotPersisted { .. } => {}
        _ => tracing::debug!("an event that has no log line of its own"),
    }
}
