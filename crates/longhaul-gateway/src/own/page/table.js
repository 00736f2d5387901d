// Tables that become cards on a narrow screen, and their pages.

import { el, keyed, say, show } from "./dom.js";

/**
 * A table of columns `{ name, n, make(cell, item), sort(item) }`, where `make` is called again whenever an item changed, and
 * a column with `sort` sorts the table. Roles are given explicitly, because a table that is laid out as cards loses its own.
 * `changed` is called when another order is chosen; `order` then puts items into it.
 */
export function table({ columns, caption, key, link, kind, changed }) {
  let by = null, down = true;
  const heads = columns.map(({ name, n, sort }) => el("th", { scope: "col", role: "columnheader", "data-name": name, class: n ? "n" : undefined },
    sort ? el("button", { type: "button", class: "sort", onclick: () => choose(name) }, name) : name));
  const body = el("tbody", { role: "rowgroup" });
  const node = el("table", { role: "table", class: [link && "linked", kind].filter(Boolean).join(" ") || undefined }, el("caption", { class: "unseen" }, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads)), body);
  // On a narrow screen there are no heads to press.
  const sorted = columns.filter(({ sort }) => sort);
  const list = el("select", { "aria-label": "Sort by", onchange: () => choose(list.value, true) }, el("option", { value: "" }, "Sort: as listed"), sorted.map(({ name }) => el("option", { value: name }, `Sort: ${name}`)));
  const sorter = el("span", { class: "sorter" }, list);

  function choose(name, only) {
    if (name === by && !only) {
      if (down) down = false;
      else by = null;
    } else {
      by = name || null;
      down = true;
    }
    heads.forEach((head, at) => {
      if (columns[at].name === by) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    list.value = by ?? "";
    changed?.();
  }

  /** Items in the chosen order; what has no value comes last. */
  function order(items) {
    const of = columns.find(({ name }) => name === by)?.sort;
    if (!of) return items;
    const missing = (value) => value === null || value === undefined || value === "";
    return items.map((item) => [of(item), item]).sort(([a], [b]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      const less = typeof a === "string" ? a.localeCompare(b) : a - b;
      return down && typeof a !== "string" ? -less : down ? less : typeof a === "string" ? -less : less;
    }).map(([, item]) => item);
  }

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
  return { node, sorter, order, update: (items) => keyed(body, items, key, row) };
}

/** The buttons under a long list. `turn` is called when another page is wanted. */
export function pager(turn, size = 50) {
  let page = 0, pages = 1;
  const back = el("button", { type: "button", onclick: () => go(page - 1) }, "Back");
  const on = el("button", { type: "button", onclick: () => go(page + 1) }, "More");
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
  return { node, cut, first: () => { page = 0; }, to: (at) => go(Math.floor(at / size)) };
}

/** A figure with its name over it. */
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
      say(words, all ? `${Math.round((100 * read) / all)}%` : "–");
    },
  };
}
