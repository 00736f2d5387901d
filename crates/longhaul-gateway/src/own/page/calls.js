// The calls of a session as a table: the data of the chart, as numbers.

import { el, say } from "./dom.js";
import { pager, table } from "./table.js";
import { clock, count, money, span } from "./words.js";

const text = (read) => (cell, item) => say(cell, read(item) ?? "");
const used = (name) => text((call) => (call.usage ? count(call.usage[name]) : ""));

/** How a call ended, in words. */
export function outcome(call) {
  if (call.ended === "client_gone") return call.status === 499 ? "client left" : `${call.status}, client left`;
  if (call.ended === "upstream_failed") return `${call.status}, upstream failed`;
  return String(call.status);
}

export const failed = (call) => call.status >= 400 || call.ended === "upstream_failed";

const COLUMNS = [
  { name: "Call", n: true, make: text((call) => count(call.number)) },
  { name: "When", make: text((call) => clock(call.at)) },
  { name: "Messages", n: true, make: text((call) => count(call.messages)) },
  { name: "Window", n: true, make: used("context_tokens") },
  { name: "Left out", n: true, make: text((call) => (call.saved_tokens ? count(call.saved_tokens) : "")) },
  { name: "Read", n: true, make: used("cache_read_tokens") },
  { name: "Written", n: true, make: used("cache_write_tokens") },
  { name: "Uncached", n: true, make: used("input_tokens") },
  { name: "Output", n: true, make: used("output_tokens") },
  { name: "Cost", n: true, make: text((call) => (call.cost_usd === null ? "" : money(call.cost_usd))) },
  { name: "Took", n: true, make: text((call) => span(call.milliseconds)) },
  { name: "Status", make: (cell, call) => { say(cell, outcome(call)); cell.classList.toggle("bad", failed(call)); } },
  { name: "Cache break", make: (cell, call) => { say(cell, call.finding || ""); cell.classList.add("finding"); } },
];

export function callsTable() {
  let calls = [];
  const rows = table({ columns: COLUMNS, caption: "Calls, the newest first", key: (call) => `${call.number} ${call.at}` });
  const pages = pager(() => draw(), 20);
  const draw = () => rows.update(pages.cut(calls));
  const node = el("section", { class: "card", id: "calls", tabindex: "-1" }, el("h2", {}, "Calls"), el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Calls" }, rows.node), pages.node);
  return { node, update: (next) => { calls = [...next].reverse(); draw(); } };
}
