// All sessions.

import { get } from "./api.js";
import { callsTable, failed as callFailed } from "./calls.js";
import { el, say, show, why } from "./dom.js";
import { csvButton } from "./download.js";
import { pager, shareBar, table, tile } from "./table.js";
import { welcome } from "./welcome.js";
import { withheld } from "./withheld.js";
import { clock, count, detailOf, gained, HOW_SAVED, money, nameOf, paidOnly, percent, plural, prompt, share, SIMULATED, since, tokens } from "./words.js";

const FIRST = 200, MOST = 10_000;

const text = (read) => (cell, item) => say(cell, read(item));
const some = (read) => text((item) => (read(item) ? count(read(item)) : ""));

function nameCell(cell, item) {
  if (!cell.firstChild) {
    cell.link = el("a", { href: `#/session/${item.session}`, title: item.session });
    cell.detail = el("span", { class: "quiet small-line" });
    cell.append(cell.link, cell.detail);
  }
  say(cell.link, nameOf(item));
  say(cell.detail, detailOf(item));
  cell.link.classList.toggle("hash", !item.title);
}

/** Names of models are written in one line; only those that are much longer than usual are broken. */
const LONG_NAME = 30;

function modelCell(cell, item) {
  say(cell, item.model);
  cell.classList.toggle("long", item.model.length > LONG_NAME);
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

/** What was billed; null if no price is known. */
const total = (s) => s.cost_usd;
const spent = (s) => `${money(total(s))}${s.simulated && total(s) ? " simulated" : ""}`;
const hasSaved = (s) => s.saved_tokens > 0 || s.compactions > 0;
const saved = (s) => (hasSaved(s) ? `${money(s.saved_usd)}${s.saved_share === null ? "" : ` (${gained(s.saved_share).replace(" saved", "").replace(" ", "\u00a0")})`}` : "");
const counted = (name, read) => ({ name, n: true, sort: read, make: (cell, s) => { some(read)(cell, s); cell.classList.toggle("bad", read(s) > 0); } });

/** What a session did, in two lines, for a narrow screen. */
function narrow(cell, s) {
  if (!cell.firstChild) {
    cell.one = el("span", { class: "line" }), cell.two = el("span", { class: "line" });
    cell.append(cell.one, cell.two);
  }
  const used = prompt(s), left = hasSaved(s) && s.saved_share !== null ? gained(s.saved_share) : null;
  const some = (number, word) => (number ? plural(number, word) : null);
  say(cell.one, [s.model, plural(s.calls, "call"), since(s.last_seen, "narrow")].join(" · "));
  const bad = s.failed ? [el("span", { class: "bad" }, `${count(s.failed)} failed`), " · "] : [];
  // What does not fit into the line is on the session's own page.
  const words = [total(s) === null ? "price unknown" : spent(s), left, used.all ? `${percent(used.read, used.all)} cached` : null, some(s.findings, "break")].filter(Boolean).join(" · ");
  if (cell.words === words + s.failed) return;
  cell.words = words + s.failed;
  cell.two.replaceChildren(...bad, words);
}

const COLUMNS = [
  { name: "Session", sort: (s) => nameOf(s).toLowerCase(), make: nameCell },
  { name: "In two lines", make: narrow },
  { name: "Model", sort: (s) => s.model, make: modelCell },
  { name: "Calls", n: true, sort: (s) => s.calls, make: text((s) => count(s.calls)) },
  { name: "Messages", n: true, sort: (s) => s.messages, make: text((s) => count(s.messages)) },
  { name: "From cache", sort: (s) => { const used = prompt(s); return used.all ? used.read / used.all : null; }, make: cacheCell },
  { name: "Spent", n: true, sort: total, make: text(spent) },
  { name: "Saved", n: true, sort: (s) => (hasSaved(s) ? s.saved_usd : null), make: text(saved) },
  { name: "Compactions", n: true, sort: (s) => s.compactions, make: some((s) => s.compactions) },
  counted("Breaks", (s) => s.findings),
  counted("Failed", (s) => s.failed),
  { name: "Last", n: true, sort: (s) => Date.parse(s.last_seen), make: timeCell },
];

export function listView() {
  let limit = FIRST, sessions = [];
  const tiles = {
    sessions: tile("Sessions"), calls: tile("Calls"), spent: tile("Spent"), saved: tile("Saved, at least", why("How savings are computed", ...HOW_SAVED)),
    cache: tile("Read from cache"), breaks: tile("Cache breaks"),
  };
  const find = el("input", { type: "search", placeholder: "Name, model, client or tenant", "aria-label": "Find sessions by name, id, model, client or tenant", oninput: () => { pages.first(); draw(); } });
  const rows = table({ columns: COLUMNS, caption: "Sessions, the newest first", key: (s) => s.session, link: (s) => `#/session/${s.session}`, kind: "sessions", changed: () => { pages.first(); draw(); } });
  const pages = pager(() => draw());
  const hidden = withheld();
  const others = callsTable(null, "Calls outside of conversations");
  const apart = el("div", { id: "unplaced" }, others.node);
  const nothing = el("p", { class: "quiet" }, "No session matches.");
  const more = el("button", { type: "button", class: "plain", onclick: async () => { limit = Math.min(MOST, limit * 4); await load(); } }, "Older sessions too");
  const shown = el("div", {}, el("h1", { class: "unseen" }, "Sessions"), hidden.node, el("div", { class: "tiles" }, Object.values(tiles).map((part) => part.node)),
    el("section", { class: "card" }, el("div", { class: "bar-top" }, el("h2", {}, "Sessions"), el("span", { class: "tools" }, find, rows.sorter, csvButton(() => "/longhaul/api/sessions?format=csv"))), el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Sessions" }, rows.node), nothing, pages.node, more), apart);
  const empty = welcome();
  const node = el("div", {}, shown, empty);

  function draw() {
    const like = find.value.trim().toLowerCase();
    const found = sessions.filter((s) => !like || [s.session, s.title || "", s.client || "", s.model, s.tenant].some((name) => name.toLowerCase().includes(like)));
    rows.update(pages.cut(rows.order(found)));
    show(nothing, sessions.length > 0 && found.length === 0);
  }

  async function load() {
    const answer = await get(`/longhaul/api/sessions?limit=${limit}`);
    sessions = answer.sessions;
    hidden.update(answer.texts);
    show(empty, sessions.length + (answer.unplaced ?? []).length === 0);
    show(shown, sessions.length + (answer.unplaced ?? []).length > 0);
    show(more, sessions.length >= limit && limit < MOST);
    const sum = (read) => sessions.reduce((all, s) => all + (read(s) || 0), 0);
    const used = sessions.map(prompt), all = used.reduce((sum, part) => sum + part.all, 0), read = used.reduce((sum, part) => sum + part.read, 0);
    const failed = sum((s) => s.failed), breaks = sum((s) => s.findings), compactions = sum((s) => s.compactions);
    const booked = paidOnly(sessions), summed = (read) => booked.rows.reduce((all, s) => all + (read(s) || 0), 0);
    const saved = summed((s) => s.saved_usd), paid = summed(total);
    const unplaced = answer.unplaced ?? [], lost = unplaced.filter(callFailed).length;
    tiles.sessions.set(count(sessions.length), sessions.length >= limit ? "the newest ones" : "");
    const failures = [failed || !lost ? (failed ? `${count(failed)} failed` : "none failed") : "", lost ? `${count(lost)} failed outside of conversations` : ""].filter(Boolean).join("; ");
    tiles.calls.set(count(sum((s) => s.calls)), failures, failed || lost ? "warn" : "");
    tiles.spent.set(money(paid), [booked.simulated ? SIMULATED : "", compactions ? `${money(paid + saved)} without Longhaul, at least` : ""].filter(Boolean).join("; "));
    tiles.saved.set(compactions ? share(saved / (paid + saved || 1)) : money(0), compactions ? `${money(saved)}, ${tokens(summed((s) => s.saved_tokens))} tokens left out` : "nothing left out");
    tiles.cache.set(percent(read, all), `of ${tokens(all)} tokens`);
    tiles.breaks.set(count(breaks), breaks ? "each session names the causes" : "", breaks ? "warn" : "");
    show(apart, unplaced.length > 0);
    others.update(unplaced.map((call, at) => ({ ...call, number: at + 1 })));
    draw();
  }

  return { node, load, tick: draw, title: () => "Longhaul gateway" };
}
