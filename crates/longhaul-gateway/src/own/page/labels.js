// Places texts in a drawing so that no two of them overlap: a text has several places, the best first, and is left out if
// something is in the way at each of them.

import { svg } from "./dom.js";

/** Must be that of `.plot text`. */
const FONT = "11px system-ui, sans-serif";
const ASCENT = 9, DESCENT = 3, GAP = 3;

let pen = null;

/** The width of a text in pixels. */
function width(words) {
  pen ||= document.createElement("canvas").getContext("2d");
  pen.font = FONT;
  return pen.measureText(words).width;
}

export function labels(limits) {
  const taken = [];
  const overlaps = (a, b) => a.left < b.right + GAP && b.left < a.right + GAP && a.top < b.bottom + 1 && b.top < a.bottom + 1;
  return {
    /** Nothing may be written here. */
    block(left, top, right, bottom) { taken.push({ left, top, right, bottom }); },
    /** The text at the first of its places `[x, y, anchor]` that is free; null if none is. */
    put(words, kind, places) {
      const size = width(words);
      for (const [x, y, anchor = "start"] of places) {
        const left = anchor === "end" ? x - size : anchor === "middle" ? x - size / 2 : x;
        const box = { left, right: left + size, top: y - ASCENT, bottom: y + DESCENT };
        if (box.left < limits.left || box.right > limits.right || taken.some((one) => overlaps(one, box))) continue;
        taken.push(box);
        return svg("text", { x, y, class: kind, "text-anchor": anchor }, words);
      }
      return null;
    },
  };
}
