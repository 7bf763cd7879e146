// The shift tests: how far each arm moved since the logs, and where the alarm rings.
import { badge, cell, div, el, muted, number, span } from "./dom.js";
import { counted, num, pct } from "./format.js";
import { word } from "./tips.js";
import { FEW, FoldedTable } from "./arms.js";
import { domain, line, mark, strip, zone } from "./strip.js";

const HEIGHT = 30;

export class ShiftTable extends FoldedTable {
  constructor() {
    super(
      "arms shift",
      2,
      [word("arm", "Arm")],
      [word("move", "Move since the logs"), "wide"],
      [word("alarm_line", "Alarm lines"), "number"],
      ["Verdict", "number"],
    );
    this.common = el("p", {});
    this.none = el(
      "p",
      { class: "muted", hidden: true },
      "No promise was made about the logs, so there is nothing to test.",
    );
    this.note = muted();
    this.element = div("", this.common, this.none, this.table, this.more, this.note);
  }

  set(data) {
    this.data = data;
    const tested = data.arms.filter((x) => x.watched || x.alarm || x.why_not === "distrusted");
    this.none.hidden = tested.length > 0;
    this.table.hidden = tested.length === 0;
    this.note.textContent = tested.length
      ? `The chance of any false alarm in the whole campaign is at most ${pct(data.level)}, ` +
        "however often anyone looks."
      : "";
    const arms = this.fold(
      tested.sort((a, b) => b.alarm - a.alarm || b.rewards - a.rewards),
      `Show ${FEW} arms`,
    );
    const rewarded = arms.filter((arm) => arm.rewards > 0);
    const common = data.common_move;
    const ends = domain([
      0,
      ...rewarded.flatMap((arm) => [arm.low, arm.high, arm.alarm_below, arm.alarm_above]),
      ...(common && rewarded.length ? [common.low, common.high] : []),
    ]);
    this.axis.redraw(ends);
    this.common.replaceChildren(...(common ? commonMove(common) : []));
    this.body.replaceChildren(...arms.map((arm) => this.row(arm, ends, common)));
  }

  row(arm, ends, common) {
    const { alarm_below: below, alarm_above: above } = arm;
    const marks = arm.why_not ? [] : [zone(below, above, ends, HEIGHT)];
    marks.push(line(0, ends, "zero", HEIGHT));
    if (below !== null) marks.push(line(below, ends, "alarm-line", HEIGHT));
    if (above !== null) marks.push(line(above, ends, "alarm-line", HEIGHT));
    if (common && arm.relative_bound !== null)
      marks.push(line(common.mean, ends, "common", HEIGHT));
    if (arm.rewards) {
      marks.push(
        ...mark("move", { mean: arm.move, low: arm.low, high: arm.high }, ends, HEIGHT / 2),
      );
    }
    return el(
      "tr",
      { "data-arm": arm.label },
      el("th", { scope: "row" }, span("arm-name", arm.label)),
      cell("wide", strip(HEIGHT, `${arm.label}: ${inWords(arm)}`, ...marks)),
      number(
        "Alarm lines",
        below === null && above === null ? "–" : `${num(below)} to ${num(above)}`,
      ),
      number("Verdict", verdict(arm)),
    );
  }
}

function commonMove(common) {
  const fit = common.fits
    ? `A common move between ${num(common.low)} and ${num(common.high)} fits all arms.`
    : "No common move fits all arms: at least one went its own way.";
  return [
    word("common_move", "All arms together"),
    ` are believed to have moved by ${num(common.mean)} since the logs ` +
      `(standard deviation ${num(common.sd)}). `,
    common.low === null || common.high === null ? "" : fit,
  ];
}

function inWords(arm) {
  if (!arm.rewards) return "no rewards yet";
  const move = arm.move === null ? "moved" : `moved by ${num(arm.move)}`;
  const limits = arm.why_not
    ? "its logs no longer count"
    : `the alarm rings beyond ${num(arm.alarm_below)} and ${num(arm.alarm_above)}`;
  const rewards = counted(arm.rewards, "reward");
  return `${move}, for sure between ${num(arm.low)} and ${num(arm.high)}; ${limits}; ${rewards}`;
}

function verdict(arm) {
  if (arm.alarm) return badge(arm.why_not ? "Alarm; logs do not count" : "Alarm", "alarm");
  if (arm.why_not) return badge("Logs do not count");
  return arm.rewards ? badge("Fits", "good") : badge("Not tested yet");
}
