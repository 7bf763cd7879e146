// The chart over time: one of four modes, a line for each arm, a marker for every change.
import { el, svg, seriesClass, seriesDash } from "./dom.js";
import { counted, num, pct, time } from "./format.js";
import { numberTicks, timeTicks } from "./ticks.js";

export const MODES = {
  share: { title: "Shares", note: "The share of decisions in each stretch of time that chose the arm.", unit: pct, low: 0, high: 1 },
  p_best: { title: "P(best)", note: "How likely each arm was to be the best, given what was known then.", unit: pct, low: 0, high: 1 },
  believed: { title: "Means", note: "What each arm was believed to pay, with a 95 % interval.", unit: num },
  reward: { title: "Rewards", note: "The mean reward in each time interval.", delayed: "The live mean of each arm at the time: rewards that should still arrive are allowed for.", unit: num },
};

const EDGE = { left: 58, right: 24, top: 14, bottom: 30 }; // pixels around the plot
const MANY = 40; // lines with at least this many points have no markers

export class Chart {
  constructor() {
    this.mode = "share";
    this.hidden = new Set();
    this.data = null;
    this.modes = el("div", { class: "tabs", role: "group", "aria-label": "What the chart shows" });
    for (const [mode, { title }] of Object.entries(MODES)) {
      this.modes.append(el("button", { type: "button", "data-mode": mode, "aria-pressed": mode === this.mode ? "true" : "false", onclick: () => this.show(mode) }, title));
    }
    this.note = el("p", { class: "muted note" });
    this.holder = el("div", { class: "plot", role: "img", tabindex: 0, "aria-label": "Chart over time" });
    this.bubble = el("div", { class: "bubble", hidden: true });
    this.arms = el("div", { class: "legend", role: "group", "aria-label": "Arms in the chart" });
    this.head = el("div", { class: "title-row" }, this.modes, el("span", { class: "spring" }));
    this.element = el("div", { class: "chart" }, this.head, this.note, el("div", { class: "plot-box" }, this.holder, this.bubble), this.arms);
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.holder);
    for (const kind of ["pointermove", "pointerdown"]) this.holder.addEventListener(kind, (event) => this.point(event));
    this.holder.addEventListener("pointerleave", () => this.leave());
    this.holder.addEventListener("blur", () => this.leave());
    this.holder.addEventListener("keydown", (event) => this.press(event));
  }

  close() { this.resized.disconnect(); }

  show(mode) {
    this.mode = mode;
    for (const button of this.modes.children) button.setAttribute("aria-pressed", button.dataset.mode === mode ? "true" : "false");
    this.draw();
  }

  set(data) {
    const labels = data.arms.map((arm) => arm.label).join("\u0000");
    if (!this.data || this.data.arms.map((arm) => arm.label).join("\u0000") !== labels) this.list(data);
    this.data = data;
    this.draw();
  }

  list(data) {
    this.arms.replaceChildren(...data.arms.map((arm) => el("button", {
      type: "button", class: seriesClass(arm.column), "aria-pressed": this.hidden.has(arm.label) ? "false" : "true",
      onclick: (event) => {
        if (this.hidden.has(arm.label)) this.hidden.delete(arm.label); else this.hidden.add(arm.label);
        event.currentTarget.setAttribute("aria-pressed", this.hidden.has(arm.label) ? "false" : "true");
        this.draw();
      },
    }, el("span", { class: "swatch", "aria-hidden": "true" }), el("span", { class: "arm-name" }, arm.label))));
    if (data.others.count) this.arms.append(el("span", { class: "muted" }, `and ${counted(data.others.count, "more arm")} with fewer decisions`));
  }

  draw() {
    const { data, holder } = this;
    const width = holder.clientWidth;
    if (!data || !width) return;
    const mode = MODES[this.mode];
    this.note.textContent = (data.delayed && mode.delayed) || mode.note;
    this.drawn = data.arms.filter((arm) => !this.hidden.has(arm.label));
    this.middles = data.starts.map((start) => Math.min(start + data.stretch / 2, data.now));
    const height = width < 520 ? 240 : 320;
    this.inside = { left: EDGE.left, right: width - EDGE.right, top: EDGE.top, bottom: height - EDGE.bottom };
    const { left, right, top, bottom } = this.inside;
    const [start, end] = this.span();
    const [low, high] = this.limits(mode, ...this.extremes());
    this.x = (value) => left + ((right - left) * (value - start)) / (end - start);
    this.y = (value) => bottom - ((bottom - top) * (value - low)) / (high - low);
    this.cursor = svg("g", { class: "cursor" });
    const picture = svg("svg", { width, height, "aria-hidden": "true" },
      this.axes(timeTicks(start, end, (right - left) / 64), numberTicks(low, high, (bottom - top) / 40, mode.unit === pct)),
      this.drawn.map((arm) => this.line(arm)), this.markers(start, end), this.cursor);
    holder.replaceChildren(picture);
    holder.setAttribute("aria-label", `${mode.title} over time. ${this.words()}`);
    if (this.at !== undefined && !this.bubble.hidden) this.hover(Math.min(this.at, this.middles.length - 1));
  }

  // Return the first and last time on the axis.
  span() {
    const first = this.middles[0] ?? this.data.now, last = this.middles.at(-1) ?? first;
    const air = last > first ? 0 : this.data.stretch / 2 || 1800;
    return [first - air, last + air];
  }

  // Return the value of an arm as {mean, low, high}; null if there is none.
  value(arm, i) {
    const value = arm[this.mode][i];
    const known = typeof value === "number" ? { mean: value, low: value, high: value } : value;
    return known && Number.isFinite(known.mean) ? known : null;
  }

  extremes() {
    const known = this.drawn.flatMap((arm) => this.middles.map((_, i) => this.value(arm, i))).filter((x) => x);
    const ends = known.flatMap((x) => [x.low, x.high]).filter(Number.isFinite);
    return ends.length ? [Math.min(...ends), Math.max(...ends)] : [null, null];
  }

  axes(times, values) {
    const { left, right, top, bottom } = this.inside;
    return svg("g", { class: "ticks" },
      values.map((tick) => [
        svg("line", { class: "grid", x1: left, x2: right, y1: this.y(tick.at), y2: this.y(tick.at) }),
        svg("text", { x: left - 8, y: this.y(tick.at) + 4, "text-anchor": "end" }, tick.text),
      ]).flat(),
      times.map((tick) => [
        svg("line", { class: "grid", x1: this.x(tick.at), x2: this.x(tick.at), y1: top, y2: bottom }),
        svg("text", { x: this.x(tick.at), y: bottom + 20, "text-anchor": "middle" }, tick.text),
      ]).flat());
  }

  // The line of an arm, with a band where there are intervals. Shares and rewards have gaps.
  line(arm) {
    const spans = this.mode === "believed" || this.mode === "p_best" || this.data.delayed;
    const pieces = [[]];
    this.middles.forEach((at, i) => {
      const value = this.value(arm, i);
      if (value) pieces.at(-1).push({ x: this.x(at).toFixed(1), ...value });
      else if (!spans) pieces.push([]);
    });
    const path = (points, end) => points.map((p) => `${p.x} ${this.y(p[end]).toFixed(1)}`).join("L");
    const full = pieces.filter((piece) => piece.length);
    const band = this.mode === "believed" && full.map((piece) => `M${path(piece, "low")}L${path([...piece].reverse(), "high")}Z`).join("");
    return svg("g", { class: `line ${seriesClass(arm.column)}` },
      band ? svg("path", { class: "band", d: band }) : null,
      svg("path", { d: full.map((piece) => `M${path(piece, "mean")}`).join(""), "stroke-dasharray": seriesDash(arm.column).join(" ") || null }),
      (this.middles.length < MANY ? full.flat() : full.filter((piece) => piece.length === 1).flat())
        .map((p) => svg("circle", { cx: p.x, cy: this.y(p.mean).toFixed(1), r: 2.5 })));
  }

  markers(start, end) {
    const { top, bottom } = this.inside;
    return this.data.markers.filter((marker) => marker.at >= start && marker.at <= end).map((marker) => {
      const x = this.x(marker.at);
      const alarm = marker.kind === "alarm";
      return svg("g", { class: alarm ? "marker alarm" : "marker" },
        svg("line", { x1: x, x2: x, y1: top, y2: bottom }),
        alarm ? svg("path", { d: `M${x} ${top - 10}l6 10h-12z` }) : svg("circle", { cx: x, cy: top, r: 4 }));
    });
  }

  limits(mode, low, high) {
    if (mode.low !== undefined) return [mode.low, mode.high];
    if (low === null || high === null) return [0, 1];
    const air = 0.08 * (high - low) || 0.1;
    return [low >= 0 ? Math.max(low - air, 0) : low - air, high + air];
  }

  // What the lines say, for those who do not see them.
  words() {
    return this.drawn.map((arm) => {
      const last = this.middles.map((_, i) => this.value(arm, i)).filter((x) => x).at(-1);
      return `${arm.label} ${last ? MODES[this.mode].unit(last.mean) : "–"}`;
    }).join(", ");
  }

  point(event) {
    if (!this.middles?.length) return;
    const box = this.holder.getBoundingClientRect();
    const x = event.clientX - box.left;
    const away = this.middles.map((at) => Math.abs(this.x(at) - x));
    this.hover(away.indexOf(Math.min(...away)), x, event.clientY - box.top);
  }

  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") this.leave();
    if (!step || !this.middles?.length) return;
    event.preventDefault();
    const last = this.middles.length - 1;
    this.hover(Math.max(0, Math.min(last, (this.at ?? (step > 0 ? -1 : last + 1)) + step)));
  }

  leave() {
    this.at = undefined;
    this.bubble.hidden = true;
    this.cursor?.replaceChildren();
  }

  // Show the values of one time interval; `left` and `top` are the pointer's position.
  hover(at, left = this.x(this.middles[at]), top = 0) {
    this.at = at;
    const x = this.x(this.middles[at]);
    const known = this.drawn.map((arm) => [arm, this.value(arm, at)]);
    this.cursor.replaceChildren(
      svg("line", { x1: x, x2: x, y1: this.inside.top, y2: this.inside.bottom }),
      ...known.filter(([, value]) => value).map(([arm, value]) => svg("circle", { class: seriesClass(arm.column), cx: x, cy: this.y(value.mean), r: 4.5 })),
    );
    const near = this.data.markers.filter((marker) => Math.abs(this.x(marker.at) - left) < 6);
    const unit = MODES[this.mode].unit;
    this.bubble.replaceChildren(
      el("div", { class: "muted" }, time(this.data.starts[at])),
      ...near.map((marker) => el("div", { class: marker.kind === "alarm" ? "alarm-text" : "" }, marker.text)),
      ...known.map(([arm, value]) => {
        const ends = value && this.mode === "believed" ? ` (${num(value.low)} to ${num(value.high)})` : "";
        return el("div", { class: seriesClass(arm.column) }, el("span", { class: "swatch" }), el("span", { class: "arm-name" }, arm.label), el("b", {}, value ? unit(value.mean) + ends : "–"));
      }),
    );
    this.bubble.hidden = false;
    const room = this.holder.clientWidth - this.bubble.offsetWidth;
    this.bubble.style.left = `${Math.max(0, left + 14 <= room ? left + 14 : left - this.bubble.offsetWidth - 14)}px`;
    this.bubble.style.top = `${Math.max(0, Math.min(top + 14, 240))}px`;
  }
}
