// One session: its figures, the chart, compactions, cache breaks, calls.

import { get } from "./api.js";
import { breakList } from "./breaks.js";
import { callsTable, failed } from "./calls.js";
import { chart } from "./chart.js";
import { compactionList } from "./compactions.js";
import { el, say, show, why } from "./dom.js";
import { tile } from "./table.js";
import { count, HOW_SAVED, money, nameOf, percent, percentile, plural, prompt, share, short, SIMULATED, since, span, tokens } from "./words.js";
import { withheld } from "./withheld.js";

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

/** Why nothing at all was read from the cache; empty if something was. */
function whyUncached(calls) {
  const measured = calls.filter((call) => call.usage);
  if (!measured.length || measured.some((call) => call.usage.cache_read_tokens > 0)) return "";
  const said = measured.findLast((call) => call.uncached);
  if (said) return said.uncached;
  if (measured.length === 1) return "There was one call: what it wrote to the cache is read by the next one.";
  return "Every call wrote to the cache and none read from it: the beginning of the prompt, or where the breakpoints are, changes with each call, or too much time passes between them.";
}

export function sessionView(session, asked) {
  let line = asked, answer = null;
  const name = el("span", { class: "name" }, short(session)), facts = el("p", { class: "quiet session-facts" });
  const id = el("code", { class: "id", title: session }, session);
  const tiles = {
    window: tile("Window now"), calls: tile("Calls"), spent: tile("Spent"), saved: tile("Saved, at least", why("How savings are computed", ...HOW_SAVED)),
    cache: tile("Read from cache"), compactions: tile("Compactions"), breaks: tile("Cache breaks"),
    time: tile("Median time", why("How long calls took", "The time from the request to the end of its answer, and to its beginning, of calls that were answered well.", "Half of the calls took no longer than the median, nine out of ten no longer than p90.")),
  };
  const choice = el("select", { id: "line", onchange: () => { location.hash = `#/session/${session}/${choice.value}`; } });
  const lines = el("p", { class: "lines" }, el("label", { for: "line" }, "Branch "), choice,
    why("Branches of a session", "A history that was continued in two ways, an edited history and a sub-agent's conversation are branches of their own. The picture shows one of them; figures and lists are of the whole session."));
  const compactions = compactionList(session);
  const picture = chart((number) => compactions.open(number));
  const breaks = breakList((number) => {
    const call = answer.calls.find((call) => call.number === number);
    if (call && call.line !== line) choose(call.line);
    picture.pick(number);
  });
  const calls = callsTable(session);
  const cut = el("p", { class: "quiet" }), hidden = withheld();
  const node = el("div", {}, el("p", { class: "back" }, el("a", { href: "#/" }, "← All sessions")),
    el("div", { class: "session-head" }, el("h1", {}, name), facts), hidden.node, el("div", { class: "tiles" }, Object.values(tiles).map((part) => part.node)), cut, lines,
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
    const options = known.map((one) => `${short(one.id)} · ${one.model} · ${plural(one.calls, "call")}`);
    if (options.join() !== [...choice.options].map((option) => option.text).join()) choice.replaceChildren(...known.map((one, at) => el("option", { value: one.id }, options[at])));
    choice.value = line ?? "";
    const window = windowOf(chosen?.model);
    const ofLine = answer.calls.filter((call) => call.line === line);
    picture.update({ calls: ofLine, compactions: answer.compactions.filter((made) => made.line === line), window });
    figures(ofLine, window);
  }

  const windowOf = (model) => answer.windows?.[model] ?? answer.window;

  function figures(ofLine, window) {
    const newest = ofLine.findLast((call) => call.usage), all = answer.calls;
    const used = all.map((call) => prompt(call.usage)), sum = (of, from = all) => from.reduce((total, part) => total + (of(part) || 0), 0);
    const billed = sum((part) => part.all, used), read = sum((part) => part.read, used);
    const broke = all.filter(failed).length;
    const found = all.filter((call) => call.finding).length, made = answer.compactions;
    const summaries = answer.summaries_cost_usd ?? 0, left = sum((call) => call.saved_tokens);
    const tooLong = all.filter((call) => call.usage && call.usage.context_tokens + (call.saved_tokens || 0) > (windowOf(call.model)?.size ?? Infinity)).length;
    const last = all[all.length - 1];
    say(name, nameOf({ ...answer, session }));
    facts.replaceChildren(...[answer.client, last?.model, answer.tenant ? `tenant ${short(answer.tenant)}` : null, since(last?.at)].filter(Boolean).flatMap((fact) => [el("span", {}, fact), " · "]), id);
    const now = newest?.usage.context_tokens ?? 0;
    const kind = window && now >= window.warning ? "warn" : "";
    tiles.window.set(tokens(now), window ? `${percent(now, window.threshold)} of ${tokens(window.threshold)}, where it compacts` : "", kind);
    tiles.calls.set(count(all.length), broke ? `${count(broke)} failed` : "none failed", broke ? "warn" : "");
    const without = left ? `${money(answer.without_usd)} without Longhaul, at least` : "";
    const own = answer.own_calls ? ` (${plural(answer.own_calls, "request")} of the gateway's own)` : "";
    tiles.spent.set(money(answer.cost_usd), [answer.simulated ? SIMULATED : "", without, summaries ? `${money(summaries)} of it to make room${own}` : ""].filter(Boolean).join("; "));
    const fit = tooLong ? `; ${plural(tooLong, "call")} would not have fit` : "";
    tiles.saved.set(left ? share(answer.saved_share) : money(0), left ? `${money(answer.saved_usd)}, ${tokens(left)} tokens left out${fit}` : "nothing left out");
    const reason = whyUncached(all);
    tiles.cache.set(percent(read, billed), reason || `of ${tokens(billed)} tokens${answer.own_calls ? ", clients' calls" : ""}`, reason ? "warn" : "");
    const waited = made.filter((one) => one.waited_milliseconds >= 10).length;
    tiles.compactions.set(count(made.length), made.length ? (waited ? `${count(waited)} waited for` : "none waited for") : "");
    tiles.breaks.set(count(found), found ? "causes below" : "", found ? "warn" : "");
    const good = all.filter((call) => !failed(call) && call.ended === "whole"), took = good.map((call) => call.milliseconds);
    const began = good.map((call) => call.began_milliseconds).filter((time) => time !== null);
    tiles.time.set(span(percentile(took, 0.5)), took.length ? `p90 ${span(percentile(took, 0.9))}, p99 ${span(percentile(took, 0.99))}${began.length ? `; began after ${span(percentile(began, 0.5))}` : ""}` : "");
    show(cut, all.length >= LIMIT);
    say(cut, `The newest ${count(LIMIT)} calls; earlier ones are in the usage log.`);
    return reason;
  }

  async function load() {
    const next = await get(`/longhaul/api/sessions/${session}?limit=${LIMIT}`);
    next.calls.forEach((call, at) => { call.number = at + 1; });
    next.compactions.forEach((made, at) => { made.number = at + 1; });
    answer = next;
    hidden.update(answer.texts);
    draw();
    compactions.update(answer.compactions);
    breaks.update(answer.calls, whyUncached(answer.calls));
    calls.update(answer.calls);
  }

  const again = () => {
    const ofLine = answer.calls.filter((call) => call.line === line);
    figures(ofLine, windowOf(ofLine[ofLine.length - 1]?.model));
  };
  return { node, session, load, choose, tick: () => answer && again(), title: () => `${answer ? nameOf({ ...answer, session }) : short(session)} · Longhaul` };
}
