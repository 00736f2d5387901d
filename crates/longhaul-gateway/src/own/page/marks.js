// The symbols of the chart: a shape for each kind of compaction, so that nothing depends on color alone.

import { svg } from "./dom.js";

const SHAPES = {
  cleared: "M -9 -8.5 H 9 V 3 L 0 10 L -9 3 Z",
  noted: "M -8 -8 H 8 V 8 H -8 Z",
  summarised: "M 9 0 A 9 9 0 1 1 -9 0 A 9 9 0 1 1 9 0 Z",
  extracted: "M 0 -10 L 9 -5 V 5 L 0 10 L -9 5 V -5 Z",
  settled: "M 0 -10.5 L 10.5 0 L 0 10.5 L -10.5 0 Z",
};

/** A shape with a number, around the origin. */
export function badge(kind, number) {
  const text = number === undefined || number > 99 ? "" : String(number);
  return svg("g", { class: `mark ${kind in SHAPES ? kind : "settled"}` }, svg("path", { d: SHAPES[kind] || SHAPES.settled }),
    svg("text", { "text-anchor": "middle", y: kind === "cleared" ? 2.5 : 3.5 }, text));
}

/** A broken cache. */
export const cross = () => svg("path", { class: "cross", d: "M -4 -4 L 4 4 M 4 -4 L -4 4" });

/** A failed call. */
export const bang = () => svg("g", { class: "bang" }, svg("path", { d: "M 0 -6 L 6 5 H -6 Z" }), svg("path", { class: "stem", d: "M 0 -2 V 1.4 M 0 3 V 3.6" }));

/** The fill patterns of bars, which can be told apart without color. */
export const fills = () => svg("defs", {},
  svg("pattern", { id: "fill-written", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("rect", { class: "ground written", width: 5, height: 5 }), svg("rect", { class: "stripe", width: 1.6, height: 5 })),
  svg("pattern", { id: "fill-plain", width: 4, height: 4, patternUnits: "userSpaceOnUse" }, svg("rect", { class: "ground plain", width: 4, height: 4 }), svg("circle", { class: "stripe", cx: 2, cy: 2, r: 0.9 })),
  svg("linearGradient", { id: "fill-window", x1: 0, y1: 0, x2: 0, y2: 1 }, svg("stop", { class: "high", offset: 0 }), svg("stop", { class: "low", offset: 1 })));
