// The arms: one row each, with four intervals on one axis.
import { el, seriesClass } from "./dom.js";
import { chance, count, num, pct, range } from "./format.js";
import { word } from "./tips.js";
import { axis, domain, key, mark, strip } from "./strip.js";

const KINDS = [["offline", "logs, moved"], ["online", "live"], ["hybrid", "both"], ["rule", "the rule's view"]];
const HEIGHT = 58;
const FEW = 12;

export class ArmTable {
  constructor() {
    this.all = false;
    this.axis = axis([0, 1]);
    this.body = el("tbody", {});
    this.more = el("button", { type: "button", class: "quiet", hidden: true, onclick: () => { this.all = !this.all; this.set(this.data); } });
    const head = (term, text, name = "") => el("th", { scope: "col", class: name }, word(term, text));
    this.element = el("div", {},
      el("p", { class: "key-row" }, ...KINDS.map(([kind, text]) => el("span", {}, key(kind), word(kind, text)))),
      el("table", { class: "arms" },
        el("thead", {}, el("tr", {}, head("arm", "Arm"), el("th", { scope: "col", class: "wide" }, "What it pays"), head("p_best", "P(best)", "number"), head("share", "Share", "number"), head("live", "Live", "number"), head("logs", "Logs", "number"))),
        this.body,
        el("tfoot", {}, el("tr", {}, el("td", {}), el("td", { class: "wide" }, this.axis), el("td", { colspan: 4 })))),
      this.more);
  }

  set(data) {
    this.data = data;
    const order = [...data.arms].sort((a, b) => (a.state === "archived") - (b.state === "archived") || b.p_best - a.p_best || b.decisions - a.decisions);
    const rows = this.all ? order : order.slice(0, FEW);
    this.more.hidden = order.length <= FEW;
    this.more.textContent = this.all ? `Show the ${FEW} likeliest arms` : `Show all ${order.length} arms`;
    const numbers = rows.flatMap((arm) => KINDS.flatMap(([kind]) => (arm[kind] ? [arm[kind].low, arm[kind].high] : [])));
    const ends = domain(numbers, data.range);
    this.axis.redraw(ends);
    const focused = document.activeElement?.closest?.("[data-arm]")?.dataset.arm;
    this.body.replaceChildren(...rows.map((arm) => this.row(arm, ends, data)));
    if (focused) this.body.querySelector(`[data-arm="${CSS.escape(focused)}"] .strip`)?.focus();
  }

  row(arm, ends, data) {
    const parts = KINDS.flatMap(([kind], i) => (arm[kind] ? mark(kind, arm[kind], ends, 9 + 13.4 * i) : []));
    const said = KINDS.map(([kind, text]) => `${text} ${range(arm[kind])}`).join("; ");
    const notes = [
      arm.label === data.leader && el("span", { class: "badge good" }, "Leads"),
      arm.state !== "active" && el("span", { class: "badge" }, arm.state),
      !arm.logs.count && arm.logs.n > 0 && el("span", { class: "badge alarm" }, "logs do not count"),
    ];
    return el("tr", { class: arm.state === "active" ? "" : "away", "data-arm": arm.label },
      el("th", { scope: "row" }, el("span", { class: `swatch ${seriesClass(arm.column)}`, "aria-hidden": "true" }), el("span", { class: "arm-name" }, arm.label), ...notes),
      el("td", { class: "wide" }, strip(HEIGHT, `${arm.label}: ${said}`, ...parts), el("div", { class: "why" }, arm.why)),
      el("td", { class: "number", "data-label": "P(best)" }, chance(arm.p_best), arm.p_best !== null && el("meter", { min: 0, max: 1, value: arm.p_best, "aria-label": `P(best) of ${arm.label}` })),
      el("td", { class: "number", "data-label": "Share" }, pct(arm.share), el("meter", { min: 0, max: 1, value: arm.share, "aria-label": `Share of ${arm.label}` })),
      el("td", { class: "number", "data-label": "Live" }, num(arm.live.mean), el("div", { class: "muted" }, `of ${count(arm.live.n)}`)),
      el("td", { class: "number", "data-label": "Logs" }, num(arm.logs.mean), el("div", { class: "muted" }, arm.logs.n ? `of ${count(arm.logs.n)}` : "none")));
  }
}
