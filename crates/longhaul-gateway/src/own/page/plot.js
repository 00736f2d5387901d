// Draws the window over time and how each prompt was billed, for a width in pixels.

import { axisOf } from "./axis.js";
import { columnsOf, placeOf } from "./columns.js";
import { svg } from "./dom.js";
import { labels } from "./labels.js";
import { badge, bang, cross } from "./marks.js";
import { clock, kindOf, tokens } from "./words.js";

const LEFT = 44, RIGHT = 10, BADGES = 30, GAP = 24, AXIS = 22;
/** The minimum width of a column, in pixels. */
const NARROW = 3;
/** The width of a badge with a number, in pixels. */
const BADGE = 20;

export function plot({ calls, compactions, window }, width) {
  const phone = width < 520, high = phone ? 200 : 250, low = phone ? 70 : 90;
  const room = Math.max(60, width - LEFT - RIGHT);
  const columns = columnsOf(calls, Math.floor(room / NARROW));
  const step = room / Math.max(1, columns.length);
  const top = BADGES, floor = top + high, barTop = floor + GAP, barFloor = barTop + low, all = barFloor + AXIS;
  const axis = axisOf(columns, window, top, floor);
  const x = (at) => LEFT + (at + 0.5) * step;
  const frame = svg("svg", { class: "plot", width, height: all, viewBox: `0 0 ${width} ${all}`, "aria-hidden": "true" });
  const words = labels({ left: 0, right: width });
  const write = (...label) => { const text = words.put(...label); if (text) written.push(text); };
  const written = [];

  for (const value of axis.lines) {
    frame.append(svg("line", { class: "grid", x1: LEFT, x2: LEFT + room, y1: axis.y(value), y2: axis.y(value) }));
    write(tokens(value), "tick", [[LEFT - 6, axis.y(value) + 4, "end"]]);
  }
  frame.append(...curves(columns, x, axis.y, step, floor, room), ...bend(axis, room));
  const marks = badges(compactions, columns, step, width, top, floor, words);
  inTheWay(columns, x, axis.y, step, words.block);
  frame.append(...marks.falls, ...limits(window, axis, room, top, write, words.block), ...bars(columns, x, step, barTop, barFloor, low, write));
  const between = floor + GAP / 2;
  columns.forEach((column, at) => {
    const put = (mark, said, kind) => frame.append(svg("g", { transform: `translate(${x(at)} ${between})`, class: kind }, svg("title", {}, said), mark));
    if (column.failed.length) put(bang(), `failed: ${column.failed.length}`, "failed");
    if (column.broken.length) {
      frame.append(svg("line", { class: "broken", x1: x(at), x2: x(at), y1: between + 6, y2: barFloor }));
      put(cross(), column.broken[0].finding, "break");
    }
  });
  const cursor = svg("g", { class: "cursor" }, svg("line", { y1: top, y2: barFloor }), svg("circle", { r: 4.5 }));
  times(columns, x, all, room, write);
  frame.append(...written, cursor, ...marks.shown);

  /** Shows which column is selected. */
  const point = (at) => {
    const column = columns[at];
    cursor.setAttribute("transform", `translate(${column ? x(at) : 0} 0)`);
    cursor.classList.toggle("off", !column);
    const dot = cursor.lastChild;
    dot.setAttribute("cy", axis.y(column?.context ?? 0));
    dot.classList.toggle("off", column?.context === null);
  };
  return { node: frame, columns, point, bent: axis.bend !== null, at: (pixel) => Math.max(0, Math.min(columns.length - 1, Math.floor((pixel - LEFT) / step))) };
}

function curves(columns, x, y, step, floor, room) {
  const points = columns.map((column, at) => [x(at), column]).filter(([, column]) => column.context !== null);
  if (!points.length) return [];
  const path = (of) => points.map(([at, column], index) => `${index ? "L" : "M"}${at.toFixed(1)} ${y(of(column)).toFixed(1)}`).join("");
  const from = points[0][0] - step / 2, to = Math.min(LEFT + room, points[points.length - 1][0] + step / 2);
  const ends = (of) => `M${from.toFixed(1)} ${y(of(points[0][1])).toFixed(1)}L${path(of).slice(1)}L${to.toFixed(1)} ${y(of(points[points.length - 1][1])).toFixed(1)}`;
  const sent = ends((column) => column.context);
  const lines = [svg("path", { class: "area", d: `${sent}L${to.toFixed(1)} ${floor}L${from.toFixed(1)} ${floor}Z` }), svg("path", { class: "curve", d: sent })];
  if (points.some(([, column]) => column.whole > column.context)) lines.push(svg("path", { class: "whole", d: ends((column) => column.whole) }));
  return lines;
}

/** No label is written on a curve. */
function inTheWay(columns, x, y, step, block) {
  for (const of of [(column) => column.context, (column) => column.whole]) {
    let before = null;
    columns.forEach((column, at) => {
      const value = column.context === null ? null : of(column);
      if (value === null || value === undefined) return;
      const now = y(value), from = before ?? now;
      block(x(at) - (before === null ? step / 2 : step), Math.min(now, from) - 2, x(at) + step / 2, Math.max(now, from) + 2);
      before = now;
    });
  }
}

/** Where a label may be along a line: from the left, and if that is taken, further on. */
function along(left, right, y) {
  const steps = Array.from({ length: 12 }, (_, at) => [left + ((right - left) * at) / 12, y]);
  return [...steps, [right, y, "end"]];
}

/** A zigzag where the axis becomes coarser. */
function bend(axis, room) {
  if (axis.bend === null) return [];
  const y = axis.y(axis.bend), teeth = Math.floor(room / 8);
  const line = Array.from({ length: teeth + 1 }, (_, at) => `${at ? "L" : "M"}${(LEFT + (at * room) / teeth).toFixed(1)} ${(y + (at % 2 ? -3 : 3)).toFixed(1)}`).join("");
  return [svg("path", { class: "bend", d: line })];
}

/** The compactions: a line and a badge each. */
function badges(compactions, columns, step, width, top, floor, words) {
  // The newest come first: if there is no room for an older one's number, it is small and has none.
  let free = Infinity;
  const large = [], small = [], falls = [];
  for (const made of compactions.toReversed()) {
    const at = LEFT + placeOf(columns, made) * step, fits = free - at >= BADGE, place = Math.min(at, width - 12);
    if (fits) free = at;
    if (fits) words.block(place - 11, 3, place + 11, 25);
    else words.block(place - 5, top - 4, place + 5, top + 6);
    falls.push(svg("line", { class: `fall ${made.kind}`, x1: at, x2: at, y1: top - 6, y2: floor }));
    (fits ? large : small).unshift(svg("g", { class: "compaction", "data-number": made.number, transform: fits ? `translate(${place} 14)` : `translate(${place} ${top + 1}) scale(0.4)` },
      svg("title", {}, `${made.number}. ${kindOf(made.kind).name}: ${tokens(made.before_tokens)} → ${tokens(made.after_tokens)} tokens`), badge(made.kind, fits ? made.number : undefined)));
  }
  return { falls, shown: [...small, ...large] };
}

/** The limits of the window, each with a label that lies on none of the lines; if there is no room, the legend has to do. */
function limits(window, axis, room, top, write, block) {
  if (!window) return [];
  const [left, right] = [LEFT + 4, LEFT + room - 4];
  if (window.threshold > axis.most) {
    write(`compacts from ${tokens(window.threshold)} ↑`, "limit-label threshold", [[right, top + 12, "end"], [left, top + 12], [right, top + 26, "end"]]);
    return [];
  }
  if (axis.bend !== null) block(LEFT, axis.y(axis.bend) - 4, LEFT + room, axis.y(axis.bend) + 4);
  for (const name of ["threshold", "blocking", "warning"]) if (window[name] <= axis.most) block(LEFT, axis.y(window[name]) - 1, LEFT + room, axis.y(window[name]) + 1);
  const shown = [["threshold", "compacts from"], ["blocking", "full at"], ["warning", "warning"]].filter(([name]) => window[name] <= axis.most);
  return shown.map(([name, said]) => {
    const y = axis.y(window[name]), above = y - 5, below = y + 12;
    const [over, under] = [along(left, right, above), along(left, right, below)];
    write(`${said} ${tokens(window[name])}`, `limit-label ${name}`, name === "threshold" ? [...over, ...under] : name === "blocking" ? [...over.toReversed(), ...under] : [...under, ...over]);
    return svg("line", { class: `limit ${name}`, x1: LEFT, x2: LEFT + room, y1: y, y2: y });
  });
}

function bars(columns, x, step, top, floor, low, write) {
  const most = Math.max(1, ...columns.map((column) => column.read + column.written + column.plain));
  const wide = Math.max(1, Math.min(26, step > 4 ? step - Math.max(1, step * 0.18) : step));
  write(tokens(most), "tick", [[LEFT - 6, top + 8, "end"]]);
  write("0", "tick", [[LEFT - 6, floor, "end"]]);
  const parts = [svg("line", { class: "grid", x1: LEFT, x2: LEFT + columns.length * step, y1: floor, y2: floor })];
  columns.forEach((column, at) => {
    let under = floor;
    for (const kind of ["read", "written", "plain"]) {
      const height = (low * column[kind]) / most;
      if (height <= 0) continue;
      under -= height;
      parts.push(svg("rect", { class: `bill ${kind}`, x: (x(at) - wide / 2).toFixed(1), y: under.toFixed(1), width: wide.toFixed(1), height: height.toFixed(1) }));
    }
  });
  return parts;
}

/** As many times as fit beside each other. */
function times(columns, x, height, room, write) {
  const every = Math.max(1, Math.ceil(columns.length / Math.max(1, Math.floor(room / 110))));
  for (let at = 0; at < columns.length; at += every) {
    const first = columns[at].calls[0], place = x(at);
    write(`${first.number} · ${clock(first.at, "short")}`, "tick", [[place, height - 6, "middle"], [Math.max(LEFT, place), height - 6], [Math.min(LEFT + room, place), height - 6, "end"]]);
  }
}
