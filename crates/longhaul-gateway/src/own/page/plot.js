// Draws the window over time and how each prompt was billed, for a width in pixels.

import { columnsOf, placeOf, scale } from "./columns.js";
import { svg } from "./dom.js";
import { badge, bang, cross } from "./marks.js";
import { clock, kindOf, tokens } from "./words.js";

const LEFT = 44, RIGHT = 10, BADGES = 30, GAP = 24, AXIS = 22;
/** The minimum width of a column, in pixels. */
const NARROW = 3;
/** The width of a badge with a number, in pixels. */
const BADGE = 20;

/** The top of the scale: limits are included if the window comes near them, and the client's whole history as far as it helps. */
function heightOf(columns, window) {
  const sent = Math.max(1, ...columns.map((column) => column.context || 0));
  const whole = Math.max(1, ...columns.map((column) => column.whole || 0));
  const near = window && whole > 0.35 * window.threshold;
  const needed = Math.max(sent, near ? window.blocking * 1.02 : 0);
  return Math.min(Math.max(needed, whole), needed * 1.6) * 1.08;
}

export function plot({ calls, compactions, window }, width) {
  const phone = width < 520, high = phone ? 190 : 240, low = phone ? 70 : 90;
  const room = Math.max(60, width - LEFT - RIGHT);
  const columns = columnsOf(calls, Math.floor(room / NARROW));
  const step = room / Math.max(1, columns.length);
  const top = BADGES, floor = top + high, barTop = floor + GAP, barFloor = barTop + low, all = barFloor + AXIS;
  const most = heightOf(columns, window);
  const x = (at) => LEFT + (at + 0.5) * step;
  const y = (value) => floor - (high * value) / most;
  const frame = svg("svg", { class: "plot", width, height: all, viewBox: `0 0 ${width} ${all}`, "aria-hidden": "true" },
    svg("clipPath", { id: "clip-window" }, svg("rect", { x: LEFT, y: top - 1, width: room, height: high + 2 })));
  const text = (at, height, words, kind, anchor = "start") => svg("text", { x: at, y: height, class: kind, "text-anchor": anchor }, words);

  for (const tick of [0, ...scale(most)]) {
    frame.append(svg("line", { class: "grid", x1: LEFT, x2: LEFT + room, y1: y(tick), y2: y(tick) }), text(LEFT - 6, y(tick) + 4, tokens(tick), "tick", "end"));
  }
  frame.append(...curves(columns, x, y, step, floor, room));
  frame.append(...limits(window, most, y, room, top, text));
  frame.append(...bars(columns, x, step, barTop, barFloor, low, text));
  const between = floor + GAP / 2;
  columns.forEach((column, at) => {
    const put = (mark, words, kind) => frame.append(svg("g", { transform: `translate(${x(at)} ${between})`, class: kind }, svg("title", {}, words), mark));
    if (column.failed.length) put(bang(), `failed: ${column.failed.length}`, "failed");
    if (column.broken.length) {
      frame.append(svg("line", { class: "broken", x1: x(at), x2: x(at), y1: between + 6, y2: barFloor }));
      put(cross(), column.broken[0].finding, "break");
    }
  });
  // The newest come first: if there is no room for an older one's number, it is small and has none.
  let free = Infinity;
  const large = [], small = [];
  for (const made of compactions.toReversed()) {
    const at = LEFT + placeOf(columns, made) * step, fits = free - at >= BADGE;
    if (fits) free = at;
    frame.append(svg("line", { class: `fall ${made.kind}`, x1: at, x2: at, y1: top - 6, y2: floor }));
    (fits ? large : small).unshift(svg("g", { class: "compaction", "data-number": made.number, transform: `translate(${Math.min(at, width - 12)} 14)${fits ? "" : " scale(0.4)"}` },
      svg("title", {}, `${made.number}. ${kindOf(made.kind).name}: ${tokens(made.before_tokens)} → ${tokens(made.after_tokens)} tokens`), badge(made.kind, fits ? made.number : undefined)));
  }
  const cursor = svg("g", { class: "cursor" }, svg("line", { y1: top, y2: barFloor }), svg("circle", { r: 4.5 }));
  frame.append(...times(columns, x, all, room, text), cursor, ...small, ...large);

  /** Shows which column is selected. */
  const point = (at) => {
    const column = columns[at];
    cursor.setAttribute("transform", `translate(${column ? x(at) : 0} 0)`);
    cursor.classList.toggle("off", !column);
    const dot = cursor.lastChild;
    dot.setAttribute("cy", y(column?.context ?? 0));
    dot.classList.toggle("off", column?.context === null);
  };
  return { node: frame, columns, point, at: (pixel) => Math.max(0, Math.min(columns.length - 1, Math.floor((pixel - LEFT) / step))) };
}

function curves(columns, x, y, step, floor, room) {
  const points = columns.map((column, at) => [x(at), column]).filter(([, column]) => column.context !== null);
  if (!points.length) return [];
  const path = (of) => points.map(([at, column], index) => `${index ? "L" : "M"}${at.toFixed(1)} ${y(of(column)).toFixed(1)}`).join("");
  const ends = (of) => {
    const [first, last] = [points[0], points[points.length - 1]], half = step / 2;
    return `M${(first[0] - half).toFixed(1)} ${y(of(first[1])).toFixed(1)}L${path(of).slice(1)}L${Math.min(44 + room, last[0] + half).toFixed(1)} ${y(of(last[1])).toFixed(1)}`;
  };
  const sent = ends((column) => column.context);
  const [from, to] = [points[0][0] - step / 2, Math.min(44 + room, points[points.length - 1][0] + step / 2)];
  const lines = [svg("path", { class: "area", d: `${sent}L${to.toFixed(1)} ${floor}L${from.toFixed(1)} ${floor}Z` }), svg("path", { class: "curve", d: sent })];
  if (points.some(([, column]) => column.whole > column.context)) {
    lines.push(svg("path", { class: "whole", d: ends((column) => column.whole), "clip-path": "url(#clip-window)" }));
  }
  return lines;
}

function limits(window, most, y, room, top, text) {
  if (!window) return [];
  const shown = [["warning", "warning", LEFT + 4, "start"], ["threshold", "compacts from", LEFT + 4, "start"], ["blocking", "full at", LEFT + room - 4, "end"]];
  if (window.threshold > most) return [text(LEFT + room, top - 18 + 4, `compacts from ${tokens(window.threshold)} ↑`, "limit-label threshold", "end")];
  return shown.filter(([name]) => window[name] <= most).flatMap(([name, words, at, anchor]) => [
    svg("line", { class: `limit ${name}`, x1: LEFT, x2: LEFT + room, y1: y(window[name]), y2: y(window[name]) }),
    // If two would overlap, the legend has to do.
    name === "warning" && y(window.warning) - y(window.threshold) < 15 ? "" : text(at, y(window[name]) + (name === "blocking" ? -5 : 12), `${words} ${tokens(window[name])}`, `limit-label ${name}`, anchor)]);
}

function bars(columns, x, step, top, floor, low, text) {
  const most = Math.max(1, ...columns.map((column) => column.read + column.written + column.plain));
  const wide = Math.max(1, Math.min(26, step > 4 ? step - Math.max(1, step * 0.18) : step));
  const parts = [text(LEFT - 6, top + 8, tokens(most), "tick", "end"), text(LEFT - 6, floor, "0", "tick", "end"), svg("line", { class: "grid", x1: LEFT, x2: LEFT + columns.length * step, y1: floor, y2: floor })];
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

function times(columns, x, height, room, text) {
  const count = Math.max(1, Math.min(columns.length, Math.floor(room / 110)));
  const every = Math.max(1, Math.ceil(columns.length / count));
  const labels = [];
  for (let at = 0; at < columns.length; at += every) {
    if (at > 0 && columns.length - at < every * 0.7) break;
    const first = columns[at].calls[0], place = x(at);
    const anchor = place < LEFT + 50 ? "start" : place > LEFT + room - 60 ? "end" : "middle";
    labels.push(text(anchor === "start" ? LEFT : place, height - 6, `${first.number} · ${clock(first.at, "short")}`, "tick", anchor));
  }
  return labels;
}
