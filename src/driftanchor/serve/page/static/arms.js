// The arms: one row each, with four intervals on one axis.
import {
  badge,
  button,
  cell,
  div,
  el,
  head,
  number,
  row,
  seriesClass,
  span,
  swatch,
} from "./dom.js";
import { chance, count, num, pct, range } from "./format.js";
import { word } from "./tips.js";
import { axis, domain, key, mark, sign, strip } from "./strip.js";

const KINDS = [
  ["offline", "logs, moved"],
  ["online", "live"],
  ["hybrid", "both"],
  ["rule", "the rule's view"],
];
const HEIGHT = 58;
export const FEW = 12;

// A table of arms that shows a few of them first.
export class FoldedTable {
  constructor(name, foot, ...columns) {
    this.all = false;
    this.axis = axis([0, 1]);
    this.body = el("tbody", {});
    this.more = button(
      "",
      () => {
        this.all = !this.all;
        this.set(this.data);
      },
      { class: "quiet", hidden: true },
    );
    this.table = el(
      "table",
      { class: name },
      head(...columns),
      this.body,
      el("tfoot", {}, row(cell(null), cell("wide", this.axis), el("td", { colspan: foot }))),
    );
  }

  fold(arms, fewer) {
    this.more.hidden = arms.length <= FEW;
    this.more.textContent = this.all ? fewer : `Show all ${arms.length} arms`;
    return this.all ? arms : arms.slice(0, FEW);
  }
}

const meter = (text, value, label) => [
  text,
  value !== null && el("meter", { min: 0, max: 1, value, "aria-label": label }),
];

export class ArmTable extends FoldedTable {
  constructor() {
    super(
      "arms",
      4,
      [word("arm", "Arm")],
      ["What it pays", "wide"],
      [word("p_best", "P(best)"), "number"],
      [word("share", "Share"), "number"],
      [word("live", "Live"), "number"],
      [word("logs", "Logs"), "number"],
    );
    const kinds = KINDS.map(([kind, text]) =>
      el("span", {}, key(sign(kind, 0, 0)), word(kind, text)),
    );
    this.element = div("", el("p", { class: "key-row" }, ...kinds), this.table, this.more);
  }

  set(data) {
    this.data = data;
    const archived = (arm) => arm.state === "archived";
    const arms = this.fold(
      [...data.arms].sort(
        (a, b) => archived(a) - archived(b) || b.p_best - a.p_best || b.decisions - a.decisions,
      ),
      `Show the ${FEW} likeliest arms`,
    );
    const intervals = arms.flatMap((arm) => KINDS.map(([kind]) => arm[kind])).filter((x) => x);
    const ends = domain(
      intervals.flatMap((x) => [x.low, x.high]),
      data.range,
    );
    this.axis.redraw(ends);
    const focused = document.activeElement?.closest?.("[data-arm]")?.dataset.arm;
    this.body.replaceChildren(...arms.map((arm) => this.row(arm, ends, data.leader)));
    if (focused) this.body.querySelector(`[data-arm="${CSS.escape(focused)}"] .strip`)?.focus();
  }

  row(arm, ends, leader) {
    const marks = KINDS.flatMap(([kind], i) =>
      arm[kind] ? mark(kind, arm[kind], ends, 9 + 13.4 * i) : [],
    );
    const values = KINDS.map(([kind, text]) => `${text} ${range(arm[kind])}`).join("; ");
    const active = arm.state === "active";
    return el(
      "tr",
      { class: active ? "" : "away", "data-arm": arm.label },
      el(
        "th",
        { scope: "row" },
        swatch(seriesClass(arm.column)),
        span("arm-name", arm.label),
        arm.label === leader && badge("Leads", "good"),
        !active && badge(arm.state),
        !arm.logs.count && arm.logs.n > 0 && badge("logs do not count", "alarm"),
      ),
      cell("wide", strip(HEIGHT, `${arm.label}: ${values}`, ...marks), div("why", arm.why)),
      number("P(best)", ...meter(chance(arm.p_best), arm.p_best, `P(best) of ${arm.label}`)),
      number("Share", ...meter(pct(arm.share), arm.share, `Share of ${arm.label}`)),
      number("Live", num(arm.live.mean), div("muted", `of ${count(arm.live.n)}`)),
      number(
        "Logs",
        num(arm.logs.mean),
        div("muted", arm.logs.n ? `of ${count(arm.logs.n)}` : "none"),
      ),
    );
  }
}
