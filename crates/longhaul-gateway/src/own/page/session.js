// One session: its figures, the chart, compactions, cache breaks, calls.

import { get } from "./api.js";
import { breakList } from "./breaks.js";
import { callsTable } from "./calls.js";
import { chart } from "./chart.js";
import { compactionList } from "./compactions.js";
import { el, say, show, why } from "./dom.js";
import { tile } from "./table.js";
import { count, HOW_SAVED, money, percent, plural, prompt, since, tokens } from "./words.js";

const LIMIT = 2_000;

/** The branches of a session: the one with the most calls first. */
function linesOf(calls) {
  const lines = new Map();
  for (const call of calls) {
    const line = lines.get(call.line) || { id: call.line, calls: 0, model: "" };
    lines.set(call.line, { ...line, calls: line.calls + 1, model: call.model });
  }
  return [...lines.values()].sort((a, b) => b.calls - a.calls);
}

export function sessionView(session, asked) {
  let line = asked, answer = null;
  const name = el("code", { class: "id" }, session), model = el("span", { class: "model" }), seen = el("span", { class: "quiet" });
  const tiles = {
    window: tile("Window now"), calls: tile("Calls"), spent: tile("Spent"), saved: tile("Saved, at least", why("How savings are reckoned", ...HOW_SAVED)),
    cache: tile("Read from cache"), compactions: tile("Compactions"), breaks: tile("Cache breaks"),
  };
  const choice = el("select", { id: "line", onchange: () => { location.hash = `#/session/${session}/${choice.value}`; } });
  const lines = el("p", { class: "lines" }, el("label", { for: "line" }, "Line "), choice,
    why("Lines of a session", "A branch, an edited history and a sub-agent's conversation are lines of their own. The picture shows one of them; figures and lists are of the whole session."));
  const compactions = compactionList();
  const picture = chart((number) => compactions.open(number));
  const breaks = breakList((number) => {
    const call = answer.calls.find((call) => call.number === number);
    if (call && call.line !== line) choose(call.line);
    picture.pick(number);
  });
  const calls = callsTable();
  const cut = el("p", { class: "quiet" });
  const node = el("div", {}, el("p", { class: "back" }, el("a", { href: "#/" }, "← All sessions")),
    el("div", { class: "session-head" }, el("h1", {}, "Session ", name), model, seen), el("div", { class: "tiles" }, Object.values(tiles).map((part) => part.node)), cut, lines,
    picture.node, el("div", { class: "two" }, compactions.node, breaks.node), calls.node);

  function choose(next) {
    line = next;
    if (answer) draw();
  }

  function draw() {
    const known = linesOf(answer.calls);
    const chosen = known.find((one) => one.id === line) || known[0];
    line = chosen?.id ?? null;
    show(lines, known.length > 1);
    const options = known.map((one) => `${one.id.slice(0, 8)} · ${one.model} · ${plural(one.calls, "call")}`);
    if (options.join() !== [...choice.options].map((option) => option.text).join()) choice.replaceChildren(...known.map((one, at) => el("option", { value: one.id }, options[at])));
    choice.value = line ?? "";
    const window = answer.windows?.[chosen?.model] ?? answer.window;
    const ofLine = answer.calls.filter((call) => call.line === line);
    picture.update({ calls: ofLine, compactions: answer.compactions.filter((made) => made.line === line), window });
    figures(ofLine, window);
  }

  function figures(ofLine, window) {
    const newest = ofLine.findLast((call) => call.usage), all = answer.calls;
    const used = all.map((call) => prompt(call.usage)), sum = (of, from = all) => from.reduce((total, part) => total + (of(part) || 0), 0);
    const billed = sum((part) => part.all, used), read = sum((part) => part.read, used);
    const failed = all.filter((call) => call.status >= 400 || call.ended === "upstream_failed").length;
    const found = all.filter((call) => call.finding).length, made = answer.compactions, smaller = made.filter((one) => one.kind !== "settled");
    const summaries = sum((one) => one.cost_usd, made), left = sum((call) => call.saved_tokens);
    say(model, all[all.length - 1]?.model ?? "");
    say(seen, since(all[all.length - 1]?.at));
    const now = newest?.usage.context_tokens ?? 0;
    const kind = window && now >= window.warning ? "warn" : "";
    tiles.window.set(tokens(now), window ? `${percent(now, window.threshold)} of ${tokens(window.threshold)}, where it compacts` : "", kind);
    tiles.calls.set(count(all.length), failed ? `${count(failed)} failed` : "none failed", failed ? "warn" : "");
    tiles.spent.set(money(sum((call) => call.cost_usd) + summaries), summaries ? `${money(summaries)} of it on summaries` : "");
    tiles.saved.set(money(answer.saved_usd), left ? `${tokens(left)} tokens left out` : "nothing left out");
    tiles.cache.set(percent(read, billed), `of ${tokens(billed)} tokens`);
    tiles.compactions.set(count(smaller.length), smaller.length ? `${count(smaller.filter((one) => one.waited_milliseconds > 0).length)} waited for` : "");
    tiles.breaks.set(count(found), found ? "causes below" : "", found ? "warn" : "");
    show(cut, all.length >= LIMIT);
    say(cut, `The newest ${count(LIMIT)} calls; earlier ones are in the books.`);
  }

  async function load() {
    const next = await get(`/longhaul/api/sessions/${session}?limit=${LIMIT}`);
    next.calls.forEach((call, at) => { call.number = at + 1; });
    next.compactions.forEach((made, at) => { made.number = at + 1; });
    answer = next;
    draw();
    compactions.update(answer.compactions);
    breaks.update(answer.calls);
    calls.update(answer.calls);
  }

  return { node, session, load, choose, tick: () => answer && figures(answer.calls.filter((call) => call.line === line), answer.windows?.[answer.calls.findLast((call) => call.line === line)?.model] ?? answer.window), title: () => `Session ${session.slice(0, 8)} · Longhaul` };
}
