// The shift tests: how far each arm moved since the logs, and where the alarm rings.
import { el } from "./dom.js";
import { counted, num, pct } from "./format.js";
import { word } from "./tips.js";
import { axis, domain, line, mark, strip, zone } from "./strip.js";

const HEIGHT = 30;
const FEW = 12;

export class ShiftTable {
  constructor() {
    this.all = false;
    this.axis = axis([-1, 1]);
    this.body = el("tbody", {});
    this.common = el("p", {});
    this.more = el("button", { type: "button", class: "quiet", hidden: true, onclick: () => { this.all = !this.all; this.set(this.data); } });
    this.table = el("table", { class: "arms shift" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, word("arm", "Arm")), el("th", { scope: "col", class: "wide" }, word("move", "Move since the logs")), el("th", { scope: "col", class: "number" }, word("alarm_line", "Alarm lines")), el("th", { scope: "col", class: "number" }, "Verdict"))),
      this.body,
      el("tfoot", {}, el("tr", {}, el("td", {}), el("td", { class: "wide" }, this.axis), el("td", { colspan: 2 }))));
    this.none = el("p", { class: "muted", hidden: true }, "No promise was made about the logs, so there is nothing to test.");
    this.element = el("div", {}, this.common, this.none, this.table, this.more, this.note = el("p", { class: "muted" }));
  }

  set(data) {
    this.data = data;
    const watched = data.arms.filter((arm) => arm.watched || arm.alarm || arm.why_not === "distrusted");
    this.none.hidden = watched.length > 0;
    this.table.hidden = watched.length === 0;
    this.note.textContent = watched.length ? `The chance of any false alarm in the whole campaign is at most ${pct(data.level)}, however often anyone looks.` : "";
    const order = watched.sort((a, b) => b.alarm - a.alarm || b.rewards - a.rewards);
    const rows = this.all ? order : order.slice(0, FEW);
    this.more.hidden = order.length <= FEW;
    this.more.textContent = this.all ? `Show ${FEW} arms` : `Show all ${order.length} arms`;
    const c = data.common_move;
    const wide = (arm) => (arm.rewards > 0 ? [arm.low, arm.high] : []);
    const lines = rows.flatMap((arm) => (arm.rewards > 0 ? [arm.alarm_below, arm.alarm_above] : []));
    const ends = domain([0, ...rows.flatMap(wide), ...lines, ...(c && rows.some((x) => x.rewards) ? [c.low, c.high] : [])]);
    this.axis.redraw(ends);
    this.common.replaceChildren(...(c ? [
      word("common_move", "All arms together"), ` are believed to have moved by ${num(c.mean)} since the logs (standard deviation ${num(c.sd)}). `,
      c.low === null || c.high === null ? "" : c.fits ? `A common move between ${num(c.low)} and ${num(c.high)} fits all arms.` : "No common move fits all arms: at least one went its own way.",
    ] : []));
    this.body.replaceChildren(...rows.map((arm) => this.row(arm, ends, c)));
  }

  row(arm, ends, c) {
    const parts = [arm.why_not ? null : zone(arm.alarm_below, arm.alarm_above, ends, HEIGHT), line(0, ends, "zero", HEIGHT)];
    if (arm.alarm_below !== null) parts.push(line(arm.alarm_below, ends, "alarm-line", HEIGHT));
    if (arm.alarm_above !== null) parts.push(line(arm.alarm_above, ends, "alarm-line", HEIGHT));
    if (c && arm.relative_bound !== null) parts.push(line(c.mean, ends, "common", HEIGHT));
    if (arm.rewards) parts.push(...mark("move", { mean: arm.move, low: arm.low, high: arm.high }, ends, HEIGHT / 2));
    const where = arm.rewards ? `${arm.move === null ? "moved" : `moved by ${num(arm.move)}`}, for sure between ${num(arm.low)} and ${num(arm.high)}; ${arm.why_not ? "its logs no longer count" : `the alarm rings beyond ${num(arm.alarm_below)} and ${num(arm.alarm_above)}`}; ${counted(arm.rewards, "reward")}` : "no rewards yet";
    const verdict = arm.alarm ? el("span", { class: "badge alarm" }, arm.why_not ? "Alarm; logs do not count" : "Alarm") : arm.why_not ? el("span", { class: "badge" }, "Logs do not count") : arm.rewards ? el("span", { class: "badge good" }, "Fits") : el("span", { class: "badge" }, "Not tested yet");
    return el("tr", { "data-arm": arm.label },
      el("th", { scope: "row" }, el("span", { class: "arm-name" }, arm.label)),
      el("td", { class: "wide" }, strip(HEIGHT, `${arm.label}: ${where}`, ...parts)),
      el("td", { class: "number", "data-label": "Alarm lines" }, arm.alarm_below === null && arm.alarm_above === null ? "–" : `${num(arm.alarm_below)} to ${num(arm.alarm_above)}`),
      el("td", { class: "number", "data-label": "Verdict" }, verdict));
  }
}
