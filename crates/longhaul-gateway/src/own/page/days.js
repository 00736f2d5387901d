// What was spent on each day, as a stack of what it was spent on.

import { el, svg } from "./dom.js";
import { labels } from "./labels.js";
import { ticks } from "./axis.js";
import { day as dayName, money } from "./words.js";

const LEFT = 56, TOP = 14, HIGH = 180, AXIS = 22;
/** How many groups have a fill of their own. */
export const FILLS = 8;
const DAY = 86_400_000;

/** The days from the first to the last, without gaps. */
function daysOf(parts, from, until) {
  const known = parts.map((part) => Date.parse(`${part.day}T00:00:00Z`));
  const first = from ?? Math.min(...known), last = until ?? Math.max(...known);
  const days = [];
  for (let at = first; at <= last && days.length < 4_000; at += DAY) days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

/** `names` are the groups in the order of the stack, `name` what a group is called. */
export function daysChart(parts, { names, name, from, until }, width) {
  const spent = (part) => part.cost_usd ?? 0;
  const days = daysOf(parts, from, until);
  const of = new Map(days.map((day) => [day, []]));
  for (const part of parts) of.get(part.day)?.push(part);
  const sums = days.map((day) => of.get(day).reduce((sum, part) => sum + spent(part), 0));
  const most = Math.max(1e-6, ...sums), room = Math.max(60, width - LEFT - 6), step = room / Math.max(1, days.length);
  const floor = TOP + HIGH, y = (value) => floor - (HIGH * value) / (most * 1.05);
  const words = labels({ left: 0, right: width });
  const best = days[sums.indexOf(Math.max(...sums))];
  const frame = svg("svg", { class: "plot days", width, height: floor + AXIS, viewBox: `0 0 ${width} ${floor + AXIS}`, role: "img",
    "aria-label": `Spent on each of ${days.length} days: ${money(sums.reduce((a, b) => a + b, 0))} in all, at most ${money(most)} on ${dayName(best)}. The table below has the figures.` });
  const texts = [];
  const write = (...label) => { const text = words.put(...label); if (text) texts.push(text); };
  for (const value of [0, ...ticks(most * 1e6).map((tick) => tick / 1e6)]) {
    frame.append(svg("line", { class: "grid", x1: LEFT, x2: LEFT + room, y1: y(value), y2: y(value) }));
    write(money(value).replace(/\.00$/, ""), "tick", [[LEFT - 6, y(value) + 4, "end"]]);
  }
  const wide = Math.max(1, Math.min(42, step > 4 ? step - Math.max(1, step * 0.2) : step));
  days.forEach((day, at) => {
    let under = floor;
    const x = LEFT + (at + 0.5) * step;
    const stack = of.get(day).map((part) => [names.indexOf(part.key), part]).sort(([a], [b]) => (a < 0) - (b < 0) || a - b);
    const group = svg("g", { class: "day" }, svg("title", {}, [dayName(day), money(sums[at]), ...stack.map(([, part]) => `${name(part.key)}: ${money(spent(part))}`)].join("\n")),
      svg("rect", { class: "touch", x: (x - step / 2).toFixed(1), y: TOP, width: step.toFixed(1), height: HIGH }));
    for (const [index, part] of stack) {
      const height = floor - y(spent(part));
      if (!(height > 0)) continue;
      under -= height;
      group.append(svg("rect", { class: `group-${index < 0 ? "rest" : index % FILLS}`, x: (x - wide / 2).toFixed(1), y: under.toFixed(1), width: wide.toFixed(1), height: height.toFixed(1) }));
    }
    frame.append(group);
  });
  const every = Math.max(1, Math.ceil(days.length / Math.max(1, Math.floor(room / 72))));
  for (let at = 0; at < days.length; at += every) {
    const x = LEFT + (at + 0.5) * step;
    write(dayName(days[at]), "tick", [[x, floor + 16, "middle"], [Math.max(LEFT, x), floor + 16], [LEFT + room, floor + 16, "end"]]);
  }
  frame.append(...texts);
  return frame;
}

/** What the fills stand for. */
export function daysLegend(names, name, hasRest) {
  const one = (kind, words) => el("li", {}, svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("rect", { class: kind, width: 14, height: 14, rx: 3 })), words);
  return el("ul", { class: "legend", "aria-label": "legend" }, names.map((key, at) => one(`group-${at % FILLS}`, name(key))), hasRest ? one("group-rest", "everything else") : null);
}
