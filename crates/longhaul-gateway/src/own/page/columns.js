// The calls of a branch as columns of the chart: one call per column if there is room, otherwise several.

import { failed } from "./calls.js";
import { prompt } from "./words.js";

/** As many columns as fit, each with the largest window and the mean prompt of its calls. */
export function columnsOf(calls, most) {
  const size = Math.max(1, Math.ceil(calls.length / Math.max(1, most)));
  const columns = [];
  for (let at = 0; at < calls.length; at += size) columns.push(column(calls.slice(at, at + size)));
  return columns;
}

function column(calls) {
  const measured = calls.filter((call) => call.usage);
  const billed = measured.map((call) => prompt(call.usage));
  const mean = (of) => (billed.length ? billed.reduce((sum, part) => sum + of(part), 0) / billed.length : 0);
  const largest = (of) => (measured.length ? Math.max(...measured.map(of)) : null);
  return {
    calls,
    context: largest((call) => call.usage.context_tokens),
    whole: largest((call) => call.usage.context_tokens + (call.saved_tokens || 0)),
    read: mean((part) => part.read),
    written: mean((part) => part.written),
    plain: mean((part) => part.plain),
    broken: calls.filter((call) => call.finding),
    failed: calls.filter(failed),
  };
}

/**
 * The column before which a compaction came into use: if a request waited for it, before that request; so, too, if results
 * were cleared for a request while it was prepared, after which it left out more than the one before.
 */
export function placeOf(columns, made) {
  const at = Date.parse(made.at), awaited = made.waited_milliseconds > 0 || made.kind === "settled";
  let before = 0;
  const uses = (call) => {
    const begun = Date.parse(call.at), left = call.saved_tokens || 0;
    const isFor = awaited || (made.kind === "cleared" && left > before);
    before = left;
    return begun + (isFor ? call.milliseconds : 0) >= at;
  };
  const found = columns.findIndex((column) => column.calls.some(uses));
  return found < 0 ? columns.length : found;
}
