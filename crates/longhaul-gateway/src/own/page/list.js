// All sessions.

import { get } from "./api.js";
import { el, say, show, why } from "./dom.js";
import { pager, shareBar, table, tile } from "./table.js";
import { welcome } from "./welcome.js";
import { clock, count, HOW_SAVED, money, percent, prompt, since, tokens } from "./words.js";

const FIRST = 200, MOST = 10_000;

const text = (read) => (cell, item) => say(cell, read(item));
const some = (read) => text((item) => (read(item) ? count(read(item)) : ""));

function idCell(cell, item) {
  if (cell.firstChild) return;
  cell.append(el("a", { href: `#/session/${item.session}`, title: item.session }, item.session.slice(0, 8)));
}

function cacheCell(cell, item) {
  cell.bar ||= shareBar();
  if (!cell.firstChild) cell.append(cell.bar.node);
  cell.bar.set(prompt(item));
}

function timeCell(cell, item) {
  cell.time ||= el("time", {});
  if (!cell.firstChild) cell.append(cell.time);
  cell.time.dateTime = item.last_seen || "";
  cell.time.title = clock(item.last_seen);
  say(cell.time, since(item.last_seen));
}

/** Shows nothing if no price is known. */
const spent = (s) => (s.saved_usd === null && s.cost_usd === 0 ? "–" : money(s.cost_usd + s.summaries_cost_usd));

const COLUMNS = [
  { name: "Session", make: idCell },
  { name: "Model", make: text((s) => s.model) },
  { name: "Calls", n: true, make: text((s) => count(s.calls)) },
  { name: "Messages", n: true, make: text((s) => count(s.messages)) },
  { name: "From cache", make: cacheCell },
  { name: "Spent", n: true, make: text(spent) },
  { name: "Saved", n: true, make: text((s) => (s.saved_tokens || s.compactions ? money(s.saved_usd) : "")) },
  { name: "Compactions", n: true, make: some((s) => s.compactions) },
  { name: "Breaks", n: true, make: (cell, s) => { some((s) => s.findings)(cell, s); cell.classList.toggle("bad", s.findings > 0); } },
  { name: "Failed", n: true, make: (cell, s) => { some((s) => s.failed)(cell, s); cell.classList.toggle("bad", s.failed > 0); } },
  { name: "Last", n: true, make: timeCell },
];

export function listView() {
  let limit = FIRST, sessions = [];
  const tiles = {
    sessions: tile("Sessions"), calls: tile("Calls"), spent: tile("Spent"), saved: tile("Saved, at least", why("How savings are reckoned", ...HOW_SAVED)),
    cache: tile("Read from cache"), breaks: tile("Cache breaks"),
  };
  const find = el("input", { type: "search", placeholder: "Session, model or key", "aria-label": "Find sessions by id, model or key", oninput: () => { pages.first(); draw(); } });
  const rows = table({ columns: COLUMNS, caption: "Sessions, the newest first", key: (s) => s.session, link: (s) => `#/session/${s.session}` });
  const pages = pager(() => draw());
  const nothing = el("p", { class: "quiet" }, "No session is like that.");
  const more = el("button", { type: "button", class: "plain", onclick: async () => { limit = Math.min(MOST, limit * 4); await load(); } }, "Older sessions too");
  const shown = el("div", {}, el("h1", { class: "unseen" }, "Sessions"), el("div", { class: "tiles" }, Object.values(tiles).map((part) => part.node)),
    el("section", { class: "card" }, el("div", { class: "bar-top" }, el("h2", {}, "Sessions"), find), rows.node, nothing, pages.node, more));
  const empty = welcome();
  const node = el("div", {}, shown, empty);

  function draw() {
    const like = find.value.trim().toLowerCase();
    const found = sessions.filter((s) => !like || [s.session, s.model, s.tenant].some((name) => name.toLowerCase().includes(like)));
    rows.update(pages.cut(found));
    show(nothing, sessions.length > 0 && found.length === 0);
  }

  async function load() {
    ({ sessions } = await get(`/longhaul/api/sessions?limit=${limit}`));
    show(empty, sessions.length === 0);
    show(shown, sessions.length > 0);
    show(more, sessions.length >= limit && limit < MOST);
    const sum = (read) => sessions.reduce((all, s) => all + (read(s) || 0), 0);
    const used = sessions.map(prompt), all = used.reduce((sum, part) => sum + part.all, 0), read = used.reduce((sum, part) => sum + part.read, 0);
    const failed = sum((s) => s.failed), breaks = sum((s) => s.findings), compactions = sum((s) => s.compactions);
    tiles.sessions.set(count(sessions.length));
    tiles.calls.set(count(sum((s) => s.calls)), failed ? `${count(failed)} failed` : "none failed", failed ? "warn" : "");
    tiles.spent.set(money(sum((s) => s.cost_usd + s.summaries_cost_usd)));
    tiles.saved.set(money(sum((s) => s.saved_usd)), compactions ? `${tokens(sum((s) => s.saved_tokens))} tokens left out` : "nothing left out");
    tiles.cache.set(percent(read, all), `of ${tokens(all)} tokens`);
    tiles.breaks.set(count(breaks), breaks ? "with their causes" : "", breaks ? "warn" : "");
    draw();
  }

  return { node, load, tick: draw, title: () => "Longhaul gateway" };
}
