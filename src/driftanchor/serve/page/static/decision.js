// One decision: the arms' numbers as a picture, and which of them decided.
import {
  badge,
  cell,
  div,
  el,
  facts,
  head,
  link,
  muted,
  number,
  row,
  section,
  span,
  svg,
} from "./dom.js";
import { num, pct, reward, time, value } from "./format.js";
import { word } from "./tips.js";
import { axis, domain, key, position, sign, strip } from "./strip.js";

const NAMES = {
  anchor: "live mean",
  guess: "the rule's guess",
  online_sample: "draw from live rewards",
  hybrid_sample: "draw from logs and live rewards",
  audit_bound: "bound while logs are audited",
  online_bound: "bound from live rewards",
  hybrid_bound: "bound from logs and live rewards",
};
const HEIGHT = 62;
const MAX_ARMS = 30;
const THREE =
  "Each arm has three numbers. The middle one, the median, is its index (ringed), and the " +
  "largest index is played: a single wrong number, such as one from wrong logs, cannot decide.";
const SOME =
  "Each arm has some numbers. The ringed one is its index, and the largest index is played.";
const FLOOR =
  "This decision is part of the share that is guaranteed to the arm. The numbers show what the " +
  "rule would have played.";

const nameOf = (part) => NAMES[part] || part.replaceAll("_", " ");
const rank = (arm) => Math.max(-1e300, Math.min(value(arm.index) ?? -1e300, 1e300));

// The row of an arm. Each number has its own line, so that none hides another.
function armRow(label, arm, played, parts, ends) {
  const known = parts.filter((part) => typeof value(arm.parts[part]) === "number");
  const marks = known.flatMap((part) => {
    const x = position(value(arm.parts[part]), ends);
    const y = (HEIGHT / (parts.length + 1)) * (parts.indexOf(part) + 1);
    const halo = svg("circle", { r: 9.5, class: played ? "halo won" : "halo" });
    return [
      svg("line", { x1: "0%", x2: "100%", y1: y, y2: y, class: "rail" }),
      sign(part, x, y),
      part === arm.decided_by ? svg("svg", { x, y, overflow: "visible" }, halo) : null,
    ];
  });
  const numbers = known.map((part) => `${nameOf(part)} ${num(arm.parts[part])}`).join("; ");
  const by = !arm.playable ? "not playable" : arm.decided_by ? nameOf(arm.decided_by) : "–";
  const text = `${label}: ${numbers}; index ${num(arm.index)}, decided by ${by}`;
  return el(
    "tr",
    { class: played ? "won" : arm.playable ? "" : "away", "data-arm": label },
    el("th", { scope: "row" }, span("arm-name", label), played && badge("Played", "good")),
    cell("wide", strip(HEIGHT, text, ...marks)),
    number("Index", num(arm.index)),
    el("td", { "data-label": "Decided by" }, by),
  );
}

function picture(data) {
  const { arms, arm: played } = data.explanation;
  const labels = Object.keys(arms);
  if (!labels.length) return [muted("This rule names no numbers.")];
  labels.sort((a, b) => (b === played) - (a === played) || rank(arms[b]) - rank(arms[a]));
  const shown = labels.slice(0, MAX_ARMS);
  const hidden = labels.length - shown.length;
  const parts = Object.keys(data.parts);
  const three = parts.length === 3;
  const ends = domain(shown.flatMap((label) => Object.values(arms[label].parts)));
  const ring = key(svg("circle", { r: 7, class: "halo" }), 18);
  return [
    data.decided === "floor" ? el("p", {}, FLOOR) : "",
    el("p", {}, three ? THREE : SOME),
    el(
      "p",
      { class: "key-row" },
      ...parts.map((part) => el("span", {}, key(sign(part, 0, 0)), word(part, nameOf(part)))),
      el(
        "span",
        {},
        ring,
        three ? word("median", "the median decides") : word("index", "the index"),
      ),
    ),
    el(
      "table",
      { class: "arms why-table" },
      head(
        [word("arm", "Arm")],
        ["Its numbers", "wide"],
        [word("index", "Index"), "number"],
        ["Decided by"],
      ),
      el(
        "tbody",
        {},
        ...shown.map((label) => armRow(label, arms[label], label === played, parts, ends)),
      ),
      el("tfoot", {}, row(cell(null), cell("wide", axis(ends)), el("td", { colspan: 2 }))),
    ),
    hidden ? muted(`${hidden} more arms have smaller numbers; the JSON has all.`) : "",
  ];
}

function commonMove(move) {
  const by = `${num(move.mean)} since the logs (standard deviation ${num(move.sd)})`;
  return el(
    "p",
    {},
    word("common_move", "All arms together"),
    ` were believed to have moved by ${by}.`,
  );
}

export function decision(main, name, id) {
  const campaign = `/campaigns/${encodeURIComponent(name)}`;
  const path = `/page${campaign}/decisions/${encodeURIComponent(id)}/view.json`;
  return {
    title: `Decision in ${name}`,
    feeds: { decision: path },
    json: path,
    set({ decision: data }, changed) {
      if (!changed.decision) return;
      const { decision: made, explanation } = data;
      main.replaceChildren(
        el("p", { class: "crumbs" }, link("/", "Campaigns"), " / ", link(campaign, name)),
        div(
          "title-row",
          el("h1", {}, `Decision #${made.number}`),
          badge(word("replayed", "Replayed exactly"), "good"),
          explanation.guard && badge(word("guard", "Guard pull")),
          data.decided === "floor" && badge(word("floor", "Guaranteed share")),
        ),
        el("p", { class: "sentence big" }, data.sentence),
        facts(
          [
            [word("arm", "arm"), span("arm-name", made.arm)],
            [word("unit", "unit"), span("arm-name", made.unit ?? "–")],
            [word("propensity", "chance"), pct(made.propensity)],
            ["made", time(made.asked)],
            ["reward", reward(made)],
            [word("epoch", "epoch"), String(made.epoch)],
          ],
          "facts roomy",
        ),
        section(
          "why",
          "What decided",
          ...picture(data),
          explanation.common_move && commonMove(explanation.common_move),
          el(
            "details",
            {},
            el("summary", {}, "In the words of the rule"),
            el("p", { class: "arm-name" }, explanation.reason),
          ),
        ),
        el("p", { class: "muted arm-name" }, `Id ${made.id}`),
      );
    },
  };
}
