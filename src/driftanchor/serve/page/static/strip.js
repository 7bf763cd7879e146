// Strips: intervals of many arms on one axis. Places are in per cent, so a strip fits any width.
import { el, svg } from "./dom.js";
import { numberTicks } from "./ticks.js";

// The ends of an axis that holds all numbers, with some air, inside the range that is possible.
export function domain(numbers, limits = [null, null]) {
  const known = numbers.filter((x) => typeof x === "number" && Number.isFinite(x));
  if (!known.length) return [0, 1];
  let low = Math.min(...known);
  let high = Math.max(...known);
  if (high - low < 1e-9) { const air = Math.abs(high) * 0.1 || 0.5; low -= air; high += air; }
  const air = 0.06 * (high - low);
  low = limits[0] === null ? low - air : Math.max(low - air, limits[0]);
  high = limits[1] === null ? high + air : Math.min(high + air, limits[1]);
  return [low, high];
}

const place = (x, [low, high]) => `${(100 * Math.min(Math.max((x - low) / (high - low), 0), 1)).toFixed(2)}%`;

// One mark: a bar from low to high with a sign at its value. Signs differ, not only colours.
export function mark(kind, value, ends, y) {
  const parts = [];
  if (value.low !== undefined && value.low !== null && value.high !== null) {
    parts.push(svg("line", { x1: place(value.low, ends), x2: place(value.high, ends), y1: y, y2: y, class: `bar ${kind}` }));
  }
  if (value.mean !== undefined && value.mean !== null) parts.push(sign(kind, place(value.mean, ends), y));
  return parts;
}

const SIGNS = {
  online: "circle", anchor: "circle", guess: "circle", hybrid: "square", hybrid_sample: "square",
  hybrid_bound: "square", rule: "tall", offline: "diamond", online_sample: "ring",
  online_bound: "ring", audit_bound: "diamond", move: "circle",
};

export function sign(kind, x, y, extra = "") {
  // A nested svg can sit at a per cent; what is in it is in pixels around its middle.
  const box = svg("svg", { x, y, class: `sign ${kind} ${extra}`, overflow: "visible" });
  switch (SIGNS[kind] || "circle") {
    case "square": box.append(svg("rect", { x: -4.5, y: -4.5, width: 9, height: 9 })); break;
    case "tall": box.append(svg("rect", { x: -2.5, y: -7, width: 5, height: 14, rx: 1 })); break;
    case "diamond": box.append(svg("path", { d: "M0-6 6 0 0 6-6 0Z" })); break;
    case "ring": box.append(svg("circle", { r: 4.6, class: "hollow" })); break;
    default: box.append(svg("circle", { r: 5 }));
  }
  return box;
}

export function line(x, ends, kind, height) {
  return svg("line", { x1: place(x, ends), x2: place(x, ends), y1: 0, y2: height, class: kind });
}

export function zone(low, high, ends, height) {
  const a = place(low === null ? ends[0] : low, ends);
  const b = place(high === null ? ends[1] : high, ends);
  const width = Math.max(parseFloat(b) - parseFloat(a), 0);
  return svg("rect", { x: a, y: 0, width: `${width}%`, height, class: "zone" });
}

export function strip(height, label, ...parts) {
  return svg(
    "svg",
    { class: "strip", width: "100%", height, role: "img", "aria-label": label, tabindex: 0, "data-tip": label },
    ...parts,
  );
}

export const key = (kind) =>
  svg("svg", { width: 16, height: 16, viewBox: "-8 -8 16 16", class: "key", "aria-hidden": "true" }, sign(kind, 0, 0));

const EDGE = 16; // pixels, so that the first and the last number have room

// The axis below strips.
export function axis(ends) {
  const holder = el("div", { class: "axis", "aria-hidden": "true" });
  const draw = () => {
    const width = holder.clientWidth - 2 * EDGE;
    if (width <= 0) return;
    const at = (x) => EDGE + (width * (x - ends[0])) / (ends[1] - ends[0]);
    const ticks = numberTicks(...ends, width / 64);
    holder.replaceChildren(svg("svg", { class: "ticks", width: "100%", height: 34 }, ticks.map((tick) => [
      svg("line", { x1: at(tick.at), x2: at(tick.at), y1: 4, y2: 9 }),
      svg("text", { x: at(tick.at), y: 24, "text-anchor": "middle" }, tick.text),
    ]).flat()));
  };
  holder.redraw = (now) => { ends = now; draw(); };
  new ResizeObserver(draw).observe(holder);
  return holder;
}
