// The chart over time: one of four modes, a line for each arm, a marker for every change.
import { el, colour, seriesColour, seriesClass, seriesDash } from "./dom.js";
import { counted, num, pct, time } from "./format.js";
import uPlot from "./uplot.js";

export const MODES = {
  share: { title: "Shares", note: "The share of decisions in each stretch of time that chose the arm.", unit: pct, low: 0, high: 1 },
  p_best: { title: "P(best)", note: "How likely each arm was to be the best, given what was known then.", unit: pct, low: 0, high: 1 },
  believed: { title: "Means", note: "What each arm was believed to pay, with a 95 % interval.", unit: num },
  reward: { title: "Rewards", note: "The mean reward in each stretch of time.", unit: num },
};

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const HOUR = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
const tick = (x, step) => (step >= 86400 || x % 86400 === 0 ? DAY : HOUR).format(new Date(x * 1000));

export class Chart {
  constructor() {
    this.mode = "share";
    this.hidden = new Set();
    this.data = null;
    this.plot = null;
    this.modes = el("div", { class: "tabs", role: "group", "aria-label": "What the chart shows" });
    for (const [mode, { title }] of Object.entries(MODES)) {
      this.modes.append(el("button", { type: "button", "data-mode": mode, "aria-pressed": mode === this.mode ? "true" : "false", onclick: () => this.show(mode) }, title));
    }
    this.note = el("p", { class: "muted note" });
    this.holder = el("div", { class: "plot", role: "img", "aria-label": "Chart over time" });
    this.bubble = el("div", { class: "bubble", hidden: true });
    this.arms = el("div", { class: "legend", role: "group", "aria-label": "Arms in the chart" });
    this.head = el("div", { class: "title-row" }, this.modes, el("span", { class: "spring" }));
    this.element = el("div", { class: "chart" }, this.head, this.note, el("div", { class: "plot-box" }, this.holder, this.bubble), this.arms);
    this.redraw = () => this.draw();
    new ResizeObserver(this.redraw).observe(this.holder);
    addEventListener("themechange", this.redraw);
  }

  close() { removeEventListener("themechange", this.redraw); this.plot?.destroy(); }

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
    this.note.textContent = mode.note;
    const arms = data.arms.filter((arm) => !this.hidden.has(arm.label));
    const middle = data.starts.map((start) => Math.min(start + data.stretch / 2, data.now));
    const rows = [middle];
    const series = [{}];
    const bands = [];
    for (const arm of arms) {
      const stroke = seriesColour(arm.column);
      const points = { show: middle.length < 40, size: 5 };
      const look = { stroke, width: 2, dash: seriesDash(arm.column), spanGaps: this.mode === "believed" || this.mode === "p_best", points };
      if (this.mode === "believed") {
        rows.push(arm.believed.map((x) => x?.mean ?? null), arm.believed.map((x) => x?.high ?? null), arm.believed.map((x) => x?.low ?? null));
        const edge = { stroke: "transparent", width: 0, spanGaps: true, points: { show: false } };
        series.push(look, edge, edge);
        bands.push({ series: [series.length - 2, series.length - 1], fill: `${stroke}22` });
      } else {
        rows.push(arm[this.mode]);
        series.push(look);
      }
    }
    const grid = { stroke: colour("--grid"), width: 1 };
    const text = { stroke: colour("--muted"), font: "12px system-ui, sans-serif", grid, ticks: { stroke: colour("--line") } };
    this.plot?.destroy();
    this.drawn = arms;
    this.plot = new uPlot(
      {
        width, height: width < 520 ? 240 : 320, legend: { show: false }, padding: [12, 24, 0, 0],
        cursor: { y: false, points: { size: 7 } }, tzDate: (ts) => uPlot.tzDate(new Date(ts * 1e3), "Etc/UTC"),
        scales: { x: { time: true }, y: { range: (_, low, high) => this.limits(mode, low, high) } },
        axes: [{ ...text, space: 64, values: (_, ticks, __, ___, step) => ticks.map((x) => tick(x, step)) }, { ...text, size: 58, values: (_, ticks) => ticks.map((x) => mode.unit(x)) }],
        series, bands,
        hooks: { draw: [(u) => this.mark(u)], setCursor: [(u) => this.hover(u)] },
      },
      rows,
      holder,
    );
    holder.setAttribute("aria-label", `${mode.title} over time. ${this.words()}`);
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
      const values = this.mode === "believed" ? arm.believed.map((x) => x?.mean ?? null) : arm[this.mode];
      const last = values.filter((x) => x !== null).at(-1);
      return `${arm.label} ${last === undefined ? "–" : MODES[this.mode].unit(last)}`;
    }).join(", ");
  }

  mark(u) {
    const { ctx, bbox } = u;
    ctx.save();
    for (const marker of this.data.markers) {
      const x = Math.round(u.valToPos(marker.at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      const alarm = marker.kind === "alarm";
      ctx.strokeStyle = ctx.fillStyle = colour(alarm ? "--alarm" : "--muted");
      ctx.lineWidth = devicePixelRatio * (alarm ? 2 : 1);
      ctx.setLineDash(alarm ? [] : [4 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const s = 5 * devicePixelRatio;
      ctx.beginPath();
      if (alarm) { ctx.moveTo(x, bbox.top - 2 * s); ctx.lineTo(x + 1.2 * s, bbox.top); ctx.lineTo(x - 1.2 * s, bbox.top); } else ctx.arc(x, bbox.top, 0.8 * s, 0, 7);
      ctx.fill();
    }
    ctx.restore();
  }

  hover(u) {
    const { idx, left, top } = u.cursor;
    const near = left < 0 ? [] : this.data.markers.filter((x) => Math.abs(u.valToPos(x.at, "x") - left) < 6);
    if (left < 0 || idx === null || idx === undefined) { this.bubble.hidden = true; return; }
    const lines = this.drawn.map((arm) => {
      const value = this.mode === "believed" ? arm.believed[idx] : arm[this.mode][idx];
      const shown = this.mode === "believed" ? (value ? `${num(value.mean)} (${num(value.low)} to ${num(value.high)})` : "–") : MODES[this.mode].unit(value);
      return el("div", { class: seriesClass(arm.column) }, el("span", { class: "swatch" }), el("span", { class: "arm-name" }, arm.label), el("b", {}, shown));
    });
    this.bubble.replaceChildren(
      el("div", { class: "muted" }, time(this.data.starts[idx])),
      ...near.map((x) => el("div", { class: x.kind === "alarm" ? "alarm-text" : "" }, x.text)),
      ...lines,
    );
    this.bubble.hidden = false;
    const room = this.holder.clientWidth - this.bubble.offsetWidth;
    this.bubble.style.left = `${Math.max(0, Math.min(left + 70, room))}px`;
    this.bubble.style.top = `${Math.max(0, Math.min((top || 0) + 14, 240))}px`;
  }
}
