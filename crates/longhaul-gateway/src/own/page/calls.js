// The calls of a session as a table: the data of the chart, as numbers. On a narrow screen each call has two lines.

import { el, say } from "./dom.js";
import { csvButton } from "./download.js";
import { pager, table } from "./table.js";
import { clock, count, money, prompt, share, span, tokens } from "./words.js";

const text = (read) => (cell, item) => say(cell, read(item) ?? "");
const used = (name) => (call) => call.usage?.[name] ?? null;
const shown = (read, words = count) => text((call) => (read(call) === null ? "" : words(read(call))));

/** How a call ended, in words. */
export function outcome(call) {
  if (call.ended === "client_gone") return call.status === 499 ? "client left" : `${call.status}, client left`;
  if (call.ended === "upstream_failed") return `${call.status}, upstream failed`;
  return String(call.status);
}

export const failed = (call) => call.status >= 400 || call.ended === "upstream_failed";

/** What is to be said of a call besides its figures: why it failed, why the cache broke, why nothing is cached. */
export function remarks(call) {
  const said = [];
  if (call.error) said.push({ kind: "bad", text: call.error });
  if (call.finding) said.push({ kind: "bad", text: call.finding });
  if (call.uncached) said.push({ kind: "quiet", text: call.uncached });
  return said;
}

function remarkCell(cell, call) {
  const said = remarks(call), words = said.map(({ text }) => text).join("\n");
  if (cell.words === words) return;
  cell.words = words;
  cell.replaceChildren(...said.map(({ kind, text }) => el("span", { class: `remark ${kind}` }, text)));
}

const cached = (call) => { const billed = prompt(call.usage); return billed.all ? billed.read / billed.all : null; };
const number = (name, read, words) => ({ name, n: true, sort: read, make: shown(read, words) });

const COLUMNS = [
  { name: "Call", n: true, sort: (call) => call.number, make: text((call) => count(call.number)) },
  { name: "When", make: text((call) => clock(call.at)) },
  number("Messages", (call) => call.messages),
  number("Window", used("context_tokens")),
  number("Left out", (call) => call.saved_tokens || null),
  number("Read", used("cache_read_tokens")),
  number("Written", used("cache_write_tokens")),
  number("Uncached", used("input_tokens")),
  number("Output", used("output_tokens")),
  number("Cost", (call) => call.cost_usd, money),
  number("Began", (call) => call.began_milliseconds, span),
  number("Took", (call) => call.milliseconds, span),
  { name: "Status", make: (cell, call) => { say(cell, outcome(call)); cell.classList.toggle("bad", failed(call)); } },
  { name: "Remarks", make: remarkCell },
];

const named = (name, read) => ({ name, sort: read, make: text(read) });

/** Calls outside of conversations are of any client and model, and have nothing that was left out or broke. */
const UNPLACED = [
  ...COLUMNS.slice(0, 2),
  named("Client", (call) => call.client),
  named("Model", (call) => call.model),
  ...COLUMNS.slice(2).filter(({ name }) => !["Window", "Left out", "Read", "Written", "Uncached"].includes(name)),
];

/** The two lines of a call on a narrow screen. */
function lines(call) {
  const first = [clock(call.at, "short"), call.cost_usd === null ? null : money(call.cost_usd), span(call.milliseconds)];
  const second = call.usage
    ? [`${tokens(call.usage.context_tokens)} in the window`, `${share(cached(call))} cached`, `${tokens(call.usage.output_tokens)} out`]
    : [call.model];
  return [first.filter(Boolean).join(" · "), second.join(" · ")];
}

function narrow(cell, call) {
  if (!cell.firstChild) {
    cell.head = el("strong", {}), cell.one = el("span", { class: "line" }), cell.state = el("span", { class: "state" }), cell.two = el("span", { class: "line quiet" });
    cell.append(el("span", { class: "line-one" }, cell.head, cell.one, cell.state), cell.two);
  }
  const [one, two] = lines(call);
  say(cell.head, `#${count(call.number)}`);
  say(cell.one, one);
  say(cell.two, two);
  say(cell.state, outcome(call));
  cell.state.classList.toggle("bad", failed(call));
}

/** The line for narrow screens; wide ones do not show it, and narrow ones show nothing else but the remarks. */
const NARROW = { name: "In two lines", make: narrow };

/** The calls of a session, or of none: then there is no file of them. */
export function callsTable(session, title = "Calls") {
  let calls = [];
  const rows = table({ columns: [NARROW, ...(session ? COLUMNS : UNPLACED)], caption: "Calls, the newest first", key: (call) => `${call.number} ${call.at}`, kind: "calls", changed: () => { pages.first(); draw(); } });
  const pages = pager(() => draw(), 20);
  const draw = () => rows.update(pages.cut(rows.order(calls)));
  const node = el("section", { class: "card", id: session ? "calls" : "unplaced-calls", tabindex: "-1" },
    el("div", { class: "bar-top" }, el("h2", {}, title), session ? null : el("p", { class: "quiet small apart" }, "Calls that would have begun a conversation and failed, and calls that were not recognized."),
      el("span", { class: "tools" }, rows.sorter, session ? csvButton(() => `/longhaul/api/sessions/${session}?format=csv`) : null)),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, rows.node), pages.node);
  return { node, update: (next) => { calls = [...next].reverse(); draw(); } };
}
