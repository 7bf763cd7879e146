// One decision: the arms' numbers as a picture, which decided, and why.
import { el, svg } from "./dom.js";
import { num, pct, time, value } from "./format.js";
import { word } from "./tips.js";
import { axis, domain, key, sign, strip } from "./strip.js";

const NAMES = {
  anchor: "live mean", guess: "the rule's guess", online_sample: "draw from live rewards", hybrid_sample: "draw from logs and live rewards",
  audit_bound: "bound while logs are audited", online_bound: "bound from live rewards", hybrid_bound: "bound from logs and live rewards",
};
const HEIGHT = 62;
const rank = (arm) => Math.max(-1e300, Math.min(value(arm.index) ?? -1e300, 1e300));
const named = (part) => NAMES[part] || part.replaceAll("_", " ");

function row(label, arm, won, parts, ends) {
  const ordered = parts.filter((part) => typeof value(arm.parts[part]) === "number");
  const place = (given, x = value(given)) => `${(100 * Math.min(Math.max((x - ends[0]) / (ends[1] - ends[0]), 0), 1)).toFixed(2)}%`;
  const lane = HEIGHT / (parts.length + 1); // each number has a line of its own, so that none hides another
  const drawn = ordered.flatMap((part) => {
    const y = lane * (parts.indexOf(part) + 1);
    const marks = [svg("line", { x1: "0%", x2: "100%", y1: y, y2: y, class: "rail" }), sign(part, place(arm.parts[part]), y)];
    if (part === arm.decided_by) marks.push(svg("svg", { x: place(arm.parts[part]), y, overflow: "visible" }, svg("circle", { r: 9.5, class: won ? "halo won" : "halo" })));
    return marks;
  });
  const said = ordered.map((part) => `${named(part)} ${num(arm.parts[part])}`).join("; ");
  const by = !arm.playable ? "not playable" : arm.decided_by ? named(arm.decided_by) : "–";
  return el("tr", { class: won ? "won" : arm.playable ? "" : "away", "data-arm": label },
    el("th", { scope: "row" }, el("span", { class: "arm-name" }, label), won && el("span", { class: "badge good" }, "Played")),
    el("td", { class: "wide" }, strip(HEIGHT, `${label}: ${said}; index ${num(arm.index)}, decided by ${by}`, ...drawn)),
    el("td", { class: "number", "data-label": "Index" }, num(arm.index)),
    el("td", { "data-label": "Decided by" }, by));
}

function picture(data) {
  const { arms, arm: played } = data.explanation;
  const labels = Object.keys(arms);
  if (!labels.length) return [el("p", { class: "muted" }, "This rule names no numbers.")];
  const parts = Object.keys(data.parts);
  const order = labels.sort((a, b) => (b === played) - (a === played) || rank(arms[b]) - rank(arms[a])).slice(0, 30);
  const ends = domain(order.flatMap((label) => Object.values(arms[label].parts)));
  const ruler = axis(ends);
  const three = parts.length === 3;
  return [
    data.decided === "floor" ? el("p", {}, "This decision is part of the share that is guaranteed to the arm. The numbers show what the rule would have played.") : null,
    el("p", {}, three ? "Each arm has three numbers. The middle one, the median, is its index (ringed), and the largest index is played: a single wrong number, such as one from wrong logs, cannot decide." : "Each arm has some numbers. The ringed one is its index, and the largest index is played."),
    el("p", { class: "key-row" }, ...parts.map((part) => el("span", {}, key(part), word(part, named(part)))), el("span", {}, svg("svg", { width: 18, height: 18, viewBox: "-9 -9 18 18", class: "key", "aria-hidden": "true" }, svg("circle", { r: 7, class: "halo" })), word(three ? "median" : "index", three ? "the median decides" : "the index"))),
    el("table", { class: "arms why-table" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, word("arm", "Arm")), el("th", { scope: "col", class: "wide" }, "Its numbers"), el("th", { scope: "col", class: "number" }, word("index", "Index")), el("th", { scope: "col" }, "Decided by"))),
      el("tbody", {}, ...order.map((label) => row(label, arms[label], label === played, parts, ends))),
      el("tfoot", {}, el("tr", {}, el("td", {}), el("td", { class: "wide" }, ruler), el("td", { colspan: 2 })))),
    labels.length > order.length ? el("p", { class: "muted" }, `${labels.length - order.length} more arms have smaller numbers; the JSON has all.`) : null,
  ].filter(Boolean);
}

export function decision(main, name, id) {
  const twin = `/page/campaigns/${encodeURIComponent(name)}/decisions/${encodeURIComponent(id)}/view.json`;
  return {
    title: `Decision in ${name}`,
    feeds: { decision: twin },
    twin,
    set({ decision: data }, changed) {
      if (!changed.decision) return;
      const d = data.decision;
      const move = data.explanation.common_move;
      const facts = [
        [word("arm", "arm"), d.arm], [word("unit", "unit"), d.unit ?? "–"], [word("propensity", "chance"), pct(d.propensity)],
        ["made", time(d.asked)], ["reward", d.reward === null ? (d.state === "open" ? "waiting" : d.state) : num(d.reward)], [word("epoch", "epoch"), String(d.epoch)],
      ];
      main.replaceChildren(
        el("p", { class: "crumbs" }, el("a", { href: "/" }, "Campaigns"), " / ", el("a", { href: `/campaigns/${encodeURIComponent(name)}` }, name)),
        el("div", { class: "title-row" }, el("h1", {}, `Decision #${d.number}`), el("span", { class: "badge good" }, word("replayed", "Replayed exactly")), data.explanation.guard && el("span", { class: "badge" }, word("guard", "Guard pull")), data.decided === "floor" && el("span", { class: "badge" }, word("floor", "Guaranteed share"))),
        el("p", { class: "sentence big" }, data.sentence),
        el("dl", { class: "facts roomy" }, ...facts.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", { class: "arm-name" }, value)))),
        el("section", { class: "card", "aria-labelledby": "why" }, el("h2", { id: "why" }, "What decided"), ...picture(data),
          move ? el("p", {}, word("common_move", "All arms together"), ` were believed to have moved by ${num(move.mean)} since the logs (standard deviation ${num(move.sd)}).`) : null,
          el("details", {}, el("summary", {}, "In the words of the rule"), el("p", { class: "arm-name" }, data.explanation.reason))),
        el("p", { class: "muted arm-name" }, `Id ${d.id}`),
      );
    },
  };
}
