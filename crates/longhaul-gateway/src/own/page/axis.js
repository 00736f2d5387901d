// The scale of the window: from zero to the client's whole history, however much longer that is than what is sent.
//
// If the history is much longer than the window, one scale would press everything that happens in the window into the
// lowest pixels. Then the axis has two parts: up to the window's limits it is drawn as usual, and above that coarser.

/** A history that is longer than what else must be seen by this factor gets a part of the axis for itself. */
const FAR = 1.6;
/** The part of the height that the window keeps. */
const LOWER = 0.7;

/** Round numbers up to a value, about four of them. */
export function ticks(most, from = 0) {
  const rough = Math.max(1, most - from) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) || 10);
  const found = [];
  for (let at = Math.ceil((from + step / 2) / step) * step; at <= most; at += step) found.push(at);
  return found;
}

/**
 * The axis for columns in a band from `top` to `floor`: `y(value)`, the values of its lines, and `bend`, where it becomes
 * coarser (null if it does not).
 */
export function axisOf(columns, window, top, floor) {
  const sent = Math.max(1, ...columns.map((column) => column.context || 0));
  const whole = Math.max(sent, ...columns.map((column) => column.whole || 0));
  const near = window && whole > 0.35 * window.threshold;
  const held = Math.max(sent, near ? window.blocking * 1.02 : 0);
  const high = floor - top;
  if (whole <= held * FAR) {
    const most = Math.max(held * 1.08, whole * 1.04);
    return { most, bend: null, lines: [0, ...ticks(most)], y: (value) => floor - (high * value) / most };
  }
  // Between the highest limit and the coarse part there is room for a label.
  const needed = held * 1.16, most = whole * 1.04, low = high * LOWER;
  const y = (value) => (value <= needed ? floor - (low * value) / needed : floor - low - ((high - low) * (value - needed)) / (most - needed));
  const upper = ticks(most, needed).filter((value) => value > needed * 1.05);
  // Two lines are enough for the coarse part.
  const kept = upper.length > 2 ? [upper[Math.floor((upper.length - 1) / 2)], upper.at(-1)] : upper;
  return { most, bend: needed, lines: [0, ...ticks(needed), ...kept], y };
}
