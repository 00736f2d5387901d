// Tables that become cards on a narrow screen, and their pages.

import { el, keyed, say, show } from "./dom.js";

/**
 * A table of columns `{ name, n, make(cell, item) }`, where `make` is called again whenever an item changed. Roles are given
 * explicitly, because a table that is laid out as cards loses its own.
 */
export function table({ columns, caption, key, link }) {
  const head = columns.map(({ name, n }) => el("th", { scope: "col", role: "columnheader", class: n ? "n" : undefined }, name));
  const body = el("tbody", { role: "rowgroup" });
  const node = el("table", { role: "table", class: link ? "linked" : undefined }, el("caption", { class: "unseen" }, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, head)), body);
  const row = () => {
    const cells = columns.map(({ name, n }) => el("td", { role: "cell", "data-name": name, class: n ? "n" : undefined }));
    const line = el("tr", { role: "row" }, cells);
    let now;
    if (link) line.addEventListener("click", (event) => { if (!event.target.closest("a")) location.hash = link(now); });
    const update = (item) => {
      now = item;
      columns.forEach(({ make }, at) => make(cells[at], item));
      // Empty cells take no space on a narrow screen.
      cells.forEach((cell) => cell.classList.toggle("empty", cell.textContent === ""));
      line.dataset.key = key(item);
    };
    return { node: line, update };
  };
  return { node, update: (items) => keyed(body, items, key, row) };
}

/** The buttons under a long list. `turn` is called when another page is wanted. */
export function pager(turn, size = 50) {
  let page = 0, pages = 1;
  const back = el("button", { type: "button", onclick: () => go(page - 1) }, "Newer");
  const on = el("button", { type: "button", onclick: () => go(page + 1) }, "Older");
  const where = el("span", { class: "quiet", "aria-live": "polite" });
  const node = el("nav", { class: "pager", "aria-label": "pages" }, back, where, on);
  const go = (to) => {
    page = Math.max(0, Math.min(pages - 1, to));
    turn();
  };
  /** The part of a list that is on the current page. */
  const cut = (items) => {
    pages = Math.max(1, Math.ceil(items.length / size));
    page = Math.min(page, pages - 1);
    show(node, pages > 1);
    back.disabled = page === 0;
    on.disabled = page === pages - 1;
    say(where, `page ${page + 1} of ${pages}`);
    return items.slice(page * size, (page + 1) * size);
  };
  return { node, cut, first: () => { page = 0; } };
}

/** A figure with its name under it. */
export function tile(name, extra) {
  const figure = el("span", { class: "figure" }), more = el("span", { class: "more" });
  const node = el("div", { class: "tile" }, el("span", { class: "name" }, name, extra), figure, more);
  return {
    node,
    set: (value, text = "", kind = "") => {
      say(figure, value);
      say(more, text);
      if (node.dataset.kind !== kind) node.dataset.kind = kind;
    },
  };
}

/** How a prompt was billed, as a bar with a description. */
export function shareBar() {
  const parts = ["read", "written", "plain"].map((kind) => el("span", { class: `part ${kind}` }));
  const words = el("span", { class: "words" });
  const node = el("span", { class: "share" }, el("span", { class: "bar", "aria-hidden": "true" }, parts), words);
  return {
    node,
    set: ({ read, written, plain, all }) => {
      [read, written, plain].forEach((tokens, at) => { parts[at].style.flexGrow = String(all ? tokens / all : 0); });
      say(words, all ? `${Math.round((100 * read) / all)}\u00a0%` : "–");
    },
  };
}
