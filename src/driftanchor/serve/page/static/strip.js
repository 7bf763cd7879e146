// Intervals of many arms on one axis. Positions are in per cent, so they fit any width.
import { el, svg } from "./dom.js";
import { numberTicks } from "./ticks.js";

// The range of an axis that holds all numbers, with a margin, within the limits.
export function domain(numbers, limits = [null, null]) {
  const known = numbers.filter((x) => typeof x === "number" && Number.isFinite(x));
  if (!known.length) return [0, 1];
  let low = Math.min(...known);
  let high = Math.max(...known);
  if (high - low < 1e-9) {
    const extra = Math.abs(high) * 0.1 || 0.5;
    low -= extra;
    high += extra;
  }
  const margin = 0.06 * (high - low);
  low = limits[0] === null ? low - margin : Math.max(low - margin, limits[0]);
  high = limits[1] === null ? high + margin : Math.min(high + margin, limits[1]);
  return [low, high];
}

export function position(x, [low, high]) {
  const share = Math.min(Math.max((x - low) / (high - low), 0), 1);
  return `${(100 * share).toFixed(2)}%`;
}

// A bar from low to high with a sign at the mean. Signs differ in shape as well as in colour.
export function mark(kind, value, ends, y) {
  const parts = [];
  if (value.low !== undefined && value.low !== null && value.high !== null) {
    parts.push(
      svg("line", {
        x1: position(value.low, ends),
        x2: position(value.high, ends),
        y1: y,
        y2: y,
        class: `bar ${kind}`,
      }),
    );
  }
  if (value.mean !== undefined && value.mean !== null)
    parts.push(sign(kind, position(value.mean, ends), y));
  return parts;
}

const SIGNS = {
  online: "circle",
  anchor: "circle",
  guess: "circle",
  hybrid: "square",
  hybrid_sample: "square",
  hybrid_bound: "square",
  rule: "tall",
  offline: "diamond",
  online_sample: "ring",
  online_bound: "ring",
  audit_bound: "diamond",
  move: "circle",
};

export function sign(kind, x, y) {
  // A nested svg can be placed in per cent; inside it, units are pixels around its centre.
  const box = svg("svg", { x, y, class: `sign ${kind}`, overflow: "visible" });
  switch (SIGNS[kind] || "circle") {
    case "square":
      box.append(svg("rect", { x: -4.5, y: -4.5, width: 9, height: 9 }));
      break;
    case "tall":
      box.append(svg("rect", { x: -2.5, y: -7, width: 5, height: 14, rx: 1 }));
      break;
    case "diamond":
      box.append(svg("path", { d: "M0-6 6 0 0 6-6 0Z" }));
      break;
    case "ring":
      box.append(svg("circle", { r: 4.6, class: "hollow" }));
      break;
    default:
      box.append(svg("circle", { r: 5 }));
  }
  return box;
}

export function line(x, ends, kind, height) {
  return svg("line", {
    x1: position(x, ends),
    x2: position(x, ends),
    y1: 0,
    y2: height,
    class: kind,
  });
}

export function zone(low, high, ends, height) {
  const a = position(low === null ? ends[0] : low, ends);
  const b = position(high === null ? ends[1] : high, ends);
  const width = Math.max(parseFloat(b) - parseFloat(a), 0);
  return svg("rect", { x: a, y: 0, width: `${width}%`, height, class: "zone" });
}

export function strip(height, label, ...parts) {
  const size = { width: "100%", height };
  const text = { role: "img", "aria-label": label, "data-tip": label, tabindex: 0 };
  return svg("svg", { class: "strip", ...size, ...text }, ...parts);
}

// An entry of a key.
export const key = (shape, size = 16) =>
  svg(
    "svg",
    {
      width: size,
      height: size,
      viewBox: `${-size / 2} ${-size / 2} ${size} ${size}`,
      class: "key",
      "aria-hidden": "true",
    },
    shape,
  );

const EDGE = 16; // pixels: room for the first and the last label

// The axis below the strips.
export function axis(ends) {
  const holder = el("div", { class: "axis", "aria-hidden": "true" });
  const draw = () => {
    const width = holder.clientWidth - 2 * EDGE;
    if (width <= 0) return;
    const at = (x) => EDGE + (width * (x - ends[0])) / (ends[1] - ends[0]);
    const ticks = numberTicks(...ends, width / 64);
    holder.replaceChildren(
      svg(
        "svg",
        { class: "ticks", width: "100%", height: 34 },
        ticks
          .map((tick) => [
            svg("line", { x1: at(tick.at), x2: at(tick.at), y1: 4, y2: 9 }),
            svg("text", { x: at(tick.at), y: 24, "text-anchor": "middle" }, tick.text),
          ])
          .flat(),
      ),
    );
  };
  holder.redraw = (range) => {
    ends = range;
    draw();
  };
  new ResizeObserver(draw).observe(holder);
  return holder;
}
