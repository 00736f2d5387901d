// The chart of a session: drawn for the available width, usable by mouse, touch and keyboard.

import { failed, outcome } from "./calls.js";
import { el, say, show, svg } from "./dom.js";
import { badge, bang, cross, fills } from "./marks.js";
import { plot } from "./plot.js";
import { clock, count, KINDS, money, percent, prompt, tokens } from "./words.js";

/** An entry of the legend; `needs` says when it is shown. */
const key = (swatch, words, needs) => ({ node: el("li", {}, swatch, words), needs });
const small = (...parts) => svg("svg", { width: 22, height: 16, viewBox: "0 0 22 16", "aria-hidden": "true" }, ...parts);
const line = (kind) => small(svg("line", { class: kind, x1: 0, x2: 22, y1: 8, y2: 8 }));
const block = (kind) => small(svg("rect", { class: `bill ${kind}`, x: 2, y: 2, width: 18, height: 12 }));
const mark = (part) => small(svg("g", { transform: "translate(11 8) scale(0.72)" }, part));

function legend() {
  const kinds = Object.entries(KINDS).map(([kind, { name }]) => key(mark(badge(kind)), name, (data) => data.compactions.some((made) => made.kind === kind)));
  const keys = [key(small(svg("rect", { class: "area", y: 3, width: 22, height: 12 }), svg("line", { class: "curve", x2: 22, y1: 3, y2: 3 })), "window as sent"),
    key(line("whole"), "the client's whole history", (data) => data.calls.some((call) => call.saved_tokens)),
    key(small(svg("path", { class: "bend", d: "M0 10L4 6L8 10L12 6L16 10L20 6" })), "coarser above this line", (data, drawn) => drawn?.bent),
    key(line("limit warning"), "warning"), key(line("limit threshold"), "compacts from"), key(line("limit blocking"), "full"), ...kinds,
    key(block("read"), "read from cache"), key(block("written"), "written to cache"), key(block("plain"), "uncached"),
    key(mark(cross()), "cache break", (data) => data.calls.some((call) => call.finding)), key(mark(bang()), "failed call", (data) => data.calls.some(failed))];
  const node = el("ul", { class: "legend", "aria-label": "legend" }, keys.map((one) => one.node));
  return { node, update: (data, drawn) => keys.forEach((one) => show(one.node, !one.needs || one.needs(data, drawn))) };
}

/** Describes the calls of a column in short texts. */
function detail(column, window) {
  const [first, last] = [column.calls[0], column.calls[column.calls.length - 1]];
  const title = column.calls.length === 1 ? `Call ${count(first.number)}` : `Calls ${count(first.number)} to ${count(last.number)}`;
  const measured = column.calls.findLast((call) => call.usage);
  const facts = [clock(last.at), last.model];
  if (measured) {
    const { read, written, plain, all } = prompt(measured.usage);
    facts.push(`window ${count(column.context)}${window ? ` (${percent(column.context, window.threshold)} of where it compacts)` : ""}`);
    facts.push(`read ${count(read)} (${percent(read, all)}), written ${count(written)}, uncached ${count(plain)}, output ${count(measured.usage.output_tokens)}`);
    if (measured.saved_tokens) facts.push(`${count(measured.saved_tokens)} left out`);
    if (measured.cost_usd !== null) facts.push(money(measured.cost_usd));
  }
  if (column.failed.length) facts.push(`failed: ${outcome(column.failed[0])}${column.failed[0].error ? ` (${column.failed[0].error})` : ""}`);
  return { title, facts, broken: column.broken.map((call) => call.finding) };
}

export function chart(openCompaction) {
  let data = { calls: [], compactions: [], window: null }, drawn = null, picked = null, width = 0;
  const title = el("strong", {}), facts = el("span", {}), broken = el("span", { class: "bad" });
  const panel = el("p", { class: "detail", id: "detail" }, title, " ", facts, " ", broken);
  const stage = el("div", { class: "stage", tabindex: "0", role: "slider", "aria-valuemin": 1 });
  const keys = legend();
  const node = el("section", { class: "card", id: "picture" }, svg("svg", { class: "fills", width: 0, height: 0, "aria-hidden": "true" }, fills()), el("h2", {}, "The window over time"), stage, panel, keys.node,
    el("p", { class: "quiet small" }, "Arrow keys go from call to call. The same ", el("button", { type: "button", class: "plain", onclick: () => document.getElementById("calls").scrollIntoView() }, "as a table"), "."));

  const last = () => (drawn?.columns.length || 0) - 1;
  /** The column of the selected call; the newest unless one was picked. */
  const looked = () => {
    const found = picked === null ? -1 : drawn.columns.findIndex((column) => column.calls.some((call) => call.number === picked));
    return found < 0 ? last() : found;
  };

  function look() {
    const at = looked(), column = drawn.columns[at];
    drawn.point(at);
    if (!column) return;
    const { title: name, facts: list, broken: causes } = detail(column, data.window);
    say(title, name);
    say(facts, list.join(" · "));
    say(broken, causes.join(" "));
    stage.setAttribute("aria-valuenow", String(at + 1));
    stage.setAttribute("aria-valuetext", panel.textContent);
  }

  function draw() {
    if (width < 1) return;
    drawn = plot(data, width);
    stage.replaceChildren(drawn.node);
    keys.update(data, drawn);
    stage.setAttribute("aria-valuemax", String(drawn.columns.length));
    const seen = data.calls.filter((call) => call.usage), most = Math.max(0, ...seen.map((call) => call.usage.context_tokens));
    const breaks = data.calls.filter((call) => call.finding).length;
    stage.setAttribute("aria-label", `The window over ${count(data.calls.length)} calls: at most ${tokens(most)} tokens${data.window ? ` of ${tokens(data.window.size)}` : ""}, ${data.compactions.length} compactions, ${breaks} cache breaks. Arrow keys go from call to call.`);
    look();
  }

  const pick = (at) => {
    const column = drawn?.columns[at];
    if (!column) return;
    picked = at === last() ? null : column.calls[0].number;
    look();
  };
  const pointed = (event) => { if (drawn) pick(drawn.at(event.clientX - stage.getBoundingClientRect().left)); };
  stage.addEventListener("pointermove", pointed);
  stage.addEventListener("pointerdown", (event) => {
    const number = event.target.closest?.("g.compaction")?.dataset.number;
    if (number) openCompaction(Number(number));
    else pointed(event);
  });
  stage.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && drawn) pick(last()); });
  stage.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: looked() - 1, ArrowRight: looked() + 1, Home: 0, End: last() }[event.key];
    if (to === undefined || !drawn) return;
    event.preventDefault();
    pick(Math.max(0, Math.min(last(), to)));
  });
  new ResizeObserver(([entry]) => {
    const next = Math.floor(entry.contentRect.width);
    if (next === width) return;
    width = next;
    draw();
  }).observe(stage);

  return {
    node,
    update(next) { data = next; draw(); },
    /** Selects one call. */
    pick(number) {
      picked = number;
      if (drawn) look();
      node.scrollIntoView({ block: "nearest" });
      stage.focus({ preventScroll: true });
    },
  };
}
