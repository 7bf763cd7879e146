// The chart over time: a line for each arm in one of four modes, and a marker for every change.
import { button, div, el, seriesClass, seriesDash, span, svg, swatch, tabs } from "./dom.js";
import { counted, num, pct, time } from "./format.js";
import { numberTicks, timeTicks } from "./ticks.js";

const MODES = {
  share: {
    title: "Shares",
    note: "The share of decisions in each stretch of time that chose the arm.",
    format: pct,
    limits: [0, 1],
  },
  p_best: {
    title: "P(best)",
    note: "How likely each arm was to be the best, given what was known then.",
    format: pct,
    limits: [0, 1],
  },
  believed: {
    title: "Means",
    note: "What each arm was believed to pay, with a 95 % interval.",
    format: num,
  },
  reward: {
    title: "Rewards",
    note: "The mean reward in each time interval.",
    delayed:
      "The live mean of each arm at the time: rewards that should still arrive are allowed for.",
    format: num,
  },
};

const EDGE = { left: 58, right: 24, top: 14, bottom: 30 }; // pixels around the plot
const MANY = 40; // lines with at least this many points have no markers
const NEAR = 6; // pixels between the pointer and a marker

const labelsOf = (data) => JSON.stringify(data.arms.map((arm) => arm.label));

export class Chart {
  constructor() {
    this.mode = "share";
    this.hidden = new Set();
    this.data = null;
    const titles = Object.entries(MODES).map(([mode, { title }]) => [mode, title]);
    const modes = tabs("What the chart shows", "tabs", titles, this.mode, (mode) => {
      this.mode = mode;
      this.draw();
    });
    this.head = div("title-row", modes, span("spring"));
    this.note = el("p", { class: "muted note" });
    this.plot = el("div", {
      class: "plot",
      role: "img",
      tabindex: 0,
      "aria-label": "Chart over time",
    });
    this.bubble = el("div", { class: "bubble", hidden: true });
    this.legend = el("div", { class: "legend", role: "group", "aria-label": "Arms in the chart" });
    this.element = div(
      "chart",
      this.head,
      this.note,
      div("plot-box", this.plot, this.bubble),
      this.legend,
    );
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.plot);
    const on = (kind, action) => this.plot.addEventListener(kind, action);
    for (const kind of ["pointermove", "pointerdown"]) on(kind, (event) => this.point(event));
    for (const kind of ["pointerleave", "blur"]) on(kind, () => this.leave());
    on("keydown", (event) => this.press(event));
  }

  close() {
    this.resized.disconnect();
  }

  set(data) {
    const changed = !this.data || labelsOf(this.data) !== labelsOf(data);
    this.data = data;
    if (changed) this.list();
    this.draw();
  }

  // Fill the legend; its buttons hide and show arms.
  list() {
    const { arms, others } = this.data;
    this.legend.replaceChildren(
      ...arms.map(({ label, column }) => {
        const state = () => String(!this.hidden.has(label));
        const toggle = (event) => {
          if (!this.hidden.delete(label)) this.hidden.add(label);
          event.currentTarget.setAttribute("aria-pressed", state());
          this.draw();
        };
        const attributes = { class: seriesClass(column), "aria-pressed": state() };
        return button([swatch(), span("arm-name", label)], toggle, attributes);
      }),
    );
    if (others.count) {
      const text = `and ${counted(others.count, "more arm")} with fewer decisions`;
      this.legend.append(span("muted", text));
    }
  }

  draw() {
    const { data, plot } = this;
    const width = plot.clientWidth;
    if (!data || !width) return;
    const mode = MODES[this.mode];
    this.note.textContent = (data.delayed && mode.delayed) || mode.note;
    this.shown = data.arms.filter((arm) => !this.hidden.has(arm.label));
    this.middles = data.starts.map((start) => Math.min(start + data.stretch / 2, data.now));
    const height = width < 520 ? 240 : 320;
    const [left, right, top, bottom] = [
      EDGE.left,
      width - EDGE.right,
      EDGE.top,
      height - EDGE.bottom,
    ];
    this.inside = { left, right, top, bottom };
    const [start, end] = this.times();
    const [low, high] = this.limits();
    this.x = (value) => left + ((right - left) * (value - start)) / (end - start);
    this.y = (value) => bottom - ((bottom - top) * (value - low)) / (high - low);
    this.cursor = svg("g", { class: "cursor" });
    const percent = mode.format === pct;
    plot.replaceChildren(
      svg(
        "svg",
        { width, height, "aria-hidden": "true" },
        this.axes(
          timeTicks(start, end, (right - left) / 64),
          numberTicks(low, high, (bottom - top) / 40, percent),
        ),
        this.shown.map((arm) => this.line(arm)),
        this.markers(start, end),
        this.cursor,
      ),
    );
    plot.setAttribute("aria-label", `${mode.title} over time. ${this.inWords()}`);
    if (this.at !== undefined && !this.bubble.hidden) {
      this.hover(Math.min(this.at, this.middles.length - 1));
    }
  }

  // Return the first and last time on the axis.
  times() {
    const first = this.middles[0] ?? this.data.now;
    const last = this.middles.at(-1) ?? first;
    const margin = last > first ? 0 : this.data.stretch / 2 || 1800;
    return [first - margin, last + margin];
  }

  // Return the smallest and largest value on the axis.
  limits() {
    const { limits } = MODES[this.mode];
    if (limits) return limits;
    const ends = this.shown
      .flatMap((arm) => this.values(arm))
      .filter((x) => x)
      .flatMap((x) => [x.low, x.high])
      .filter(Number.isFinite);
    if (!ends.length) return [0, 1];
    const low = Math.min(...ends);
    const high = Math.max(...ends);
    const margin = 0.08 * (high - low) || 0.1;
    return [low >= 0 ? Math.max(low - margin, 0) : low - margin, high + margin];
  }

  // Return the values of an arm as {mean, low, high}; null where there is none.
  values(arm) {
    return arm[this.mode].map((value) => {
      const interval = typeof value === "number" ? { mean: value, low: value, high: value } : value;
      return interval && Number.isFinite(interval.mean) ? interval : null;
    });
  }

  axes(times, values) {
    const { left, right, top, bottom } = this.inside;
    const grid = (x1, x2, y1, y2) => svg("line", { class: "grid", x1, x2, y1, y2 });
    const label = (x, y, anchor, text) => svg("text", { x, y, "text-anchor": anchor }, text);
    return svg(
      "g",
      { class: "ticks" },
      values
        .map((tick) => [this.y(tick.at), tick.text])
        .flatMap(([y, text]) => [grid(left, right, y, y), label(left - 8, y + 4, "end", text)]),
      times
        .map((tick) => [this.x(tick.at), tick.text])
        .flatMap(([x, text]) => [grid(x, x, top, bottom), label(x, bottom + 20, "middle", text)]),
    );
  }

  // Draw the line of an arm, with a band if there are intervals. Shares and rewards have gaps.
  line(arm) {
    const bridges = this.mode === "believed" || this.mode === "p_best" || this.data.delayed;
    const pieces = [[]];
    this.values(arm).forEach((value, i) => {
      if (value) pieces.at(-1).push({ x: this.x(this.middles[i]).toFixed(1), ...value });
      else if (!bridges) pieces.push([]);
    });
    const path = (points, end) =>
      points.map((p) => `${p.x} ${this.y(p[end]).toFixed(1)}`).join("L");
    const full = pieces.filter((piece) => piece.length);
    const band = full.map((p) => `M${path(p, "low")}L${path([...p].reverse(), "high")}Z`).join("");
    const mean = full.map((piece) => `M${path(piece, "mean")}`).join("");
    const dotted = this.middles.length < MANY ? full : full.filter((piece) => piece.length === 1);
    return svg(
      "g",
      { class: `line ${seriesClass(arm.column)}` },
      this.mode === "believed" && band ? svg("path", { class: "band", d: band }) : null,
      svg("path", { d: mean, "stroke-dasharray": seriesDash(arm.column).join(" ") || null }),
      dotted.flat().map((p) => svg("circle", { cx: p.x, cy: this.y(p.mean).toFixed(1), r: 2.5 })),
    );
  }

  markers(start, end) {
    const { top, bottom } = this.inside;
    return this.data.markers
      .filter(({ at }) => at >= start && at <= end)
      .map((marker) => {
        const x = this.x(marker.at);
        const alarm = marker.kind === "alarm";
        return svg(
          "g",
          { class: alarm ? "marker alarm" : "marker" },
          svg("line", { x1: x, x2: x, y1: top, y2: bottom }),
          alarm
            ? svg("path", { d: `M${x} ${top - 10}l6 10h-12z` })
            : svg("circle", { cx: x, cy: top, r: 4 }),
        );
      });
  }

  // Return the last values as text, for screen readers.
  inWords() {
    const { format } = MODES[this.mode];
    return this.shown
      .map((arm) => {
        const last = this.values(arm)
          .filter((x) => x)
          .at(-1);
        return `${arm.label} ${last ? format(last.mean) : "–"}`;
      })
      .join(", ");
  }

  point(event) {
    if (!this.middles?.length) return;
    const box = this.plot.getBoundingClientRect();
    const x = event.clientX - box.left;
    const distances = this.middles.map((at) => Math.abs(this.x(at) - x));
    this.hover(distances.indexOf(Math.min(...distances)), x, event.clientY - box.top);
  }

  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") this.leave();
    if (!step || !this.middles?.length) return;
    event.preventDefault();
    const last = this.middles.length - 1;
    const from = this.at ?? (step > 0 ? -1 : last + 1);
    this.hover(Math.max(0, Math.min(last, from + step)));
  }

  leave() {
    this.at = undefined;
    this.bubble.hidden = true;
    this.cursor?.replaceChildren();
  }

  // Show the values of one time interval; `left` and `top` are the pointer's position.
  hover(at, left = this.x(this.middles[at]), top = 0) {
    this.at = at;
    const { format } = MODES[this.mode];
    const x = this.x(this.middles[at]);
    const values = this.shown.map((arm) => [arm, this.values(arm)[at]]);
    const dot = ([arm, value]) =>
      svg("circle", { class: seriesClass(arm.column), cx: x, cy: this.y(value.mean), r: 4.5 });
    this.cursor.replaceChildren(
      svg("line", { x1: x, x2: x, y1: this.inside.top, y2: this.inside.bottom }),
      ...values.filter(([, value]) => value).map(dot),
    );
    const near = this.data.markers.filter((marker) => Math.abs(this.x(marker.at) - left) < NEAR);
    const text = (value) => {
      if (!value) return "–";
      const interval = this.mode === "believed" ? ` (${num(value.low)} to ${num(value.high)})` : "";
      return format(value.mean) + interval;
    };
    this.bubble.replaceChildren(
      div("muted", time(this.data.starts[at])),
      ...near.map((marker) => div(marker.kind === "alarm" ? "alarm-text" : "", marker.text)),
      ...values.map(([arm, value]) =>
        div(
          seriesClass(arm.column),
          swatch(),
          span("arm-name", arm.label),
          el("b", {}, text(value)),
        ),
      ),
    );
    this.bubble.hidden = false;
    const own = this.bubble.offsetWidth;
    const fits = left + 14 <= this.plot.clientWidth - own;
    this.bubble.style.left = `${Math.max(0, fits ? left + 14 : left - own - 14)}px`;
    this.bubble.style.top = `${Math.max(0, Math.min(top + 14, 240))}px`;
  }
}
