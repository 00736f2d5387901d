// What was spent and saved over time, by model, key, client or session, and how long calls took.

import { get } from "./api.js";
import { daysChart, daysLegend, FILLS } from "./days.js";
import { el, say, show, why } from "./dom.js";
import { csvButton } from "./download.js";
import { pager, table, tile } from "./table.js";
import { count, HOW_SAVED, money, nameOf, percent, plural, prompt, share, short, SIMULATED, span, tokens } from "./words.js";

const DAY = 86_400_000;
const GROUPS = { model: "model", key: "key", agent: "client", session: "session", day: "day" };
const RANGES = [[7, "7 days"], [30, "30 days"], [90, "90 days"], [365, "a year"]];

const text = (read) => (cell, item) => say(cell, read(item) ?? "");
const iso = (at) => new Date(at).toISOString().slice(0, 10);
const start = (text) => { const at = Date.parse(`${text}T00:00:00Z`); return Number.isFinite(at) ? at : null; };

/** The address of this view with other choices. */
export const spendHash = (chosen) => `#/spend?${new URLSearchParams(Object.entries(chosen).filter(([, value]) => value))}`;

export function spendView(query) {
  const asked = new URLSearchParams(query);
  const by = asked.get("by") in GROUPS ? asked.get("by") : "model";
  const chosen = { from: asked.get("from") || iso(Date.now() - 29 * DAY), to: asked.get("to") || "", by };
  const from = start(chosen.from), to = start(chosen.to);
  const period = new URLSearchParams({ ...(from === null ? {} : { since: from }), ...(to === null ? {} : { until: to + DAY }) });
  const address = (more) => `/longhaul/api/savings?${period}&by=${by}${more}`;
  let found = null, width = 0;

  const called = (key) => {
    if (key === null) return "everything else";
    if (!key) return by === "day" ? "all" : `no ${GROUPS[by]} known`;
    if (by === "session") return nameOf({ ...found?.rows.find((row) => row.key === key), session: key });
    return by === "key" ? short(key) : key;
  };
  const columns = [
    { name: GROUPS[by].replace(/^./, (letter) => letter.toUpperCase()), sort: (row) => called(row.key), make: (cell, row) => {
      const words = `${row.key} ${row.title ?? ""}`;
      if (cell.words === words) return;
      cell.words = words;
      cell.replaceChildren(by === "session" && row.key ? el("a", { href: `#/session/${row.key}`, class: row.title ? undefined : "hash" }, called(row.key)) : el("span", { title: row.key }, called(row.key)));
    } },
    { name: "Calls", n: true, sort: (row) => row.calls, make: text((row) => count(row.calls)) },
    { name: "Failed", n: true, sort: (row) => row.failed, make: (cell, row) => { say(cell, row.failed ? count(row.failed) : ""); cell.classList.toggle("bad", row.failed > 0); } },
    { name: "Input", n: true, sort: (row) => prompt(row).all, make: text((row) => tokens(prompt(row).all)) },
    { name: "From cache", n: true, sort: (row) => { const used = prompt(row); return used.all ? used.read / used.all : null; }, make: text((row) => percent(prompt(row).read, prompt(row).all)) },
    { name: "Output", n: true, sort: (row) => row.output_tokens, make: text((row) => tokens(row.output_tokens)) },
    { name: "Spent", n: true, sort: (row) => row.cost_usd, make: text((row) => `${money(row.cost_usd)}${row.simulated && row.cost_usd ? " simulated" : ""}`) },
    { name: "Without", n: true, sort: (row) => row.without_usd, make: text((row) => money(row.without_usd)) },
    { name: "Saved", n: true, sort: (row) => row.saved_usd, make: text((row) => money(row.saved_usd)) },
    { name: "Share", n: true, sort: (row) => row.saved_share, make: text((row) => share(row.saved_share)) },
  ];
  const pages = pager(() => draw(), 25);
  const rows = table({ columns, caption: `What was spent, by ${GROUPS[by]}`, key: (row) => `${row.key} ${row.simulated}`, kind: "spend", changed: () => { pages.first(); draw(); } });
  const spans = (name, read) => [["p50", "median"], ["p90", "p90"], ["p99", "p99"]].map(([part, words]) => ({ name: `${name} ${words}`, n: true, sort: (row) => read(row)[part], make: text((row) => span(read(row)[part])) }));
  const latency = table({
    columns: [{ name: "Model", sort: (row) => row.model, make: text((row) => row.model) }, { name: "Calls", n: true, sort: (row) => row.whole.calls, make: text((row) => count(row.whole.calls)) },
      ...spans("First byte,", (row) => row.beginning), ...spans("Last byte,", (row) => row.whole)],
    caption: "How long calls took", key: (row) => row.model, kind: "latency", changed: () => drawLatency(),
  });
  const tiles = {
    spent: tile("Spent"), without: tile("Without Longhaul"), saved: tile("Saved, at least", why("How savings are computed", ...HOW_SAVED)),
    calls: tile("Calls"), cache: tile("Read from cache"), time: tile("Median time"),
  };
  const stage = el("div", { class: "stage-days" }), legend = el("div", {}), nothing = el("p", { class: "quiet" }, "Nothing was called in these days."), cut = el("p", { class: "quiet small" });
  const shown = el("div", {}, el("div", { class: "tiles" }, Object.values(tiles).map((part) => part.node)),
    el("section", { class: "card", id: "days" }, el("h2", {}, "Spent by day"), stage, legend),
    el("section", { class: "card", id: "groups" }, el("div", { class: "bar-top" }, el("h2", {}, `By ${GROUPS[by]}`), el("span", { class: "tools" }, rows.sorter, csvButton(() => address("&format=csv")), by === "day" ? null : csvButton(() => address("&over=day&format=csv"), "CSV by day"))),
      el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `By ${GROUPS[by]}` }, rows.node), pages.node, cut),
    el("section", { class: "card", id: "latency" }, el("div", { class: "bar-top" }, el("h2", {}, "How long calls took"), el("span", { class: "tools" }, latency.sorter)),
      el("p", { class: "quiet small" }, "Time from the request to the first and to the last byte of the answer, of calls that were answered well. Half of them took no longer than the median, nine out of ten no longer than p90."),
      el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "How long calls took" }, latency.node)));
  const go = (more) => { location.hash = spendHash({ ...chosen, ...more }); };
  const input = (name, words, value) => el("label", {}, `${words} `, el("input", { type: "date", name, value, max: "9999-12-31", onchange: (event) => go({ [name]: event.target.value }) }));
  const quick = RANGES.map(([days, words]) => {
    const at = iso(Date.now() - (days - 1) * DAY), on = chosen.from === at && !chosen.to;
    return el("button", { type: "button", "aria-pressed": String(on), onclick: () => go({ from: at, to: "" }) }, words);
  });
  const choice = el("select", { id: "by", onchange: () => go({ by: choice.value }) }, Object.entries(GROUPS).map(([name, words]) => el("option", { value: name, selected: name === by }, words)));
  const node = el("div", {}, el("h1", { class: "view-title" }, "What it costs"),
    el("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, el("span", { class: "quick", role: "group", "aria-label": "Range" }, quick), input("from", "From", chosen.from), input("to", "to", chosen.to),
      el("label", {}, "by ", choice), el("span", { class: "quiet small" }, "Days are in UTC.")), nothing, shown);

  function draw() {
    rows.update(pages.cut(rows.order(found.rows)));
  }
  function drawLatency() {
    latency.update(latency.order(found.latency.models));
  }
  function drawDays() {
    if (!found?.days?.length || width < 1) return stage.replaceChildren();
    const names = by === "day" ? [""] : found.rows.map((row) => row.key).filter((key) => found.days.some((part) => part.key === key)).slice(0, FILLS);
    const last = to ?? Math.floor(Date.now() / DAY) * DAY;
    stage.replaceChildren(daysChart(found.days, { names, name: called, from, until: last }, width));
    legend.replaceChildren(by === "day" ? "" : daysLegend(names, called, found.days.some((part) => part.key === null)));
  }
  new ResizeObserver(([entry]) => {
    const next = Math.floor(entry.contentRect.width);
    if (next === width) return;
    width = next;
    drawDays();
  }).observe(stage);

  async function load() {
    const [spent, times] = await Promise.all([get(address("&over=day")), get(`/longhaul/api/latency?${period}`)]);
    found = { ...spent, latency: times };
    const sum = spent.total, used = prompt(sum), all = times.all.whole, paid = sum.cost_usd;
    show(nothing, sum.calls === 0 && paid === 0);
    show(shown, sum.calls > 0 || paid > 0);
    const apart = sum.simulated ? SIMULATED : spent.simulated ? `${money(spent.simulated.cost_usd)} more was simulated` : "";
    tiles.spent.set(money(paid), [apart, sum.summaries_cost_usd ? `${money(sum.summaries_cost_usd)} of it to make room` : ""].filter(Boolean).join("; "));
    tiles.without.set(money(sum.without_usd), sum.unpriced ? `at least; unknown for ${plural(sum.unpriced, "call")}` : "at least, had everything been sent");
    tiles.saved.set(share(sum.saved_share), `${money(sum.saved_usd)}, ${tokens(sum.saved_tokens)} tokens left out`);
    const own = sum.own_calls ? `; the gateway made ${count(sum.own_calls)} more` : "";
    tiles.calls.set(count(sum.calls), `${sum.failed ? `${count(sum.failed)} failed` : "none failed"}${own}`, sum.failed ? "warn" : "");
    tiles.cache.set(percent(used.read, used.all), `of ${tokens(used.all)} tokens`);
    tiles.time.set(span(all.p50), all.calls ? `p90 ${span(all.p90)}, p99 ${span(all.p99)}` : "");
    const missing = [];
    if (spent.more_rows) missing.push(`${count(spent.more_rows)} more are in the CSV`);
    if (spent.incomplete) missing.push("there are too many to read at once: choose fewer days");
    say(cut, missing.join("; "));
    draw();
    drawLatency();
    drawDays();
  }

  return { node, load, title: () => "What it costs · Longhaul" };
}
