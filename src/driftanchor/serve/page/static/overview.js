// All campaigns, those with an alarm first.
import { badge, div, el, facts, link, muted, seriesClass, span, svg } from "./dom.js";
import { count, counted, pct, risk } from "./format.js";
import { word } from "./tips.js";
import { start } from "./start.js";

const WIDTH = 120,
  HEIGHT = 34; // pixels of a sparkline

// Stacked shares of the last intervals.
function sparkline({ labels, columns, shares }) {
  const points = shares[0]?.length || 0;
  const size = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT };
  const picture = svg("svg", { class: "spark", ...size, role: "img" });
  if (points < 2) {
    picture.setAttribute("aria-label", "Too little traffic for a picture");
    return picture;
  }
  const now = labels.map((label, i) => `${label} ${pct(shares[i].at(-1))}`).join(", ");
  picture.setAttribute("aria-label", `Shares now: ${now}`);
  picture.setAttribute(
    "data-tip",
    `Shares of the last ${points} quarter hours with traffic. Now: ${now}`,
  );
  const point = (share, i) => {
    const x = ((WIDTH * i) / (points - 1)).toFixed(1);
    return `${x},${(HEIGHT * (1 - share)).toFixed(1)}`;
  };
  let below = new Array(points).fill(0);
  shares.forEach((share, arm) => {
    const above = below.map((y, i) => y + share[i]);
    const outline = [...above.map(point), ...below.map(point).reverse()].join(" ");
    picture.append(svg("polygon", { points: outline, class: seriesClass(columns[arm]) }));
    below = above;
  });
  return picture;
}

const noun = (term, n) => word(term, n === 1 ? term.slice(0, -1) : term);

function card(item) {
  const loss = item.loss === null ? "–" : `${risk(item.loss)} / 1,000`;
  const numbers = item.error
    ? []
    : [
        [noun("decisions", item.decisions), count(item.decisions)],
        [noun("rewards", item.rewards), count(item.rewards)],
        [word("pending", "waiting"), count(item.pending)],
        [word("arm", item.arms === 1 ? "arm" : "arms"), count(item.arms)],
        [word("loss", "risk of stopping"), loss],
      ];
  const path = `/campaigns/${encodeURIComponent(item.name)}`;
  return el(
    "li",
    { class: item.alarmed ? "card alarmed" : "card", "data-campaign": item.name },
    div(
      "card-head",
      el("h2", {}, link(path, item.name)),
      item.alarmed && badge(item.error ? "Cannot be read" : "Alarm", "alarm"),
      item.paused && badge("Paused"),
      span("spring"),
      item.spark && sparkline(item.spark),
    ),
    el("p", { class: "sentence" }, item.sentence),
    facts(numbers),
  );
}

function inWords({ campaigns, alarmed, unread }) {
  const all = counted(campaigns.length + unread, "campaign");
  const reading = unread ? `; ${unread} ${unread === 1 ? "is" : "are"} being read` : "";
  return `${all}, ${alarmed ? `${alarmed} with an alarm` : "no alarm"}${reading}`;
}

export function overview(main) {
  const list = el("ul", { class: "cards" });
  const summary = muted();
  const filter = el("input", {
    type: "search",
    id: "filter",
    placeholder: "Find a campaign",
    "aria-label": "Find a campaign",
    oninput: () => hideOthers(),
  });
  const hideOthers = () => {
    const text = filter.value.trim().toLowerCase();
    for (const item of list.children) {
      item.hidden = !item.dataset.campaign.toLowerCase().includes(text);
    }
  };
  let shown = "";
  return {
    title: "Campaigns",
    feeds: { overview: "/page/overview.json" },
    json: "/page/overview.json",
    set({ overview: data }) {
      if (!data.campaigns.length && !data.unread) {
        if (shown !== "start") main.replaceChildren(...start());
        shown = "start";
        return;
      }
      if (shown !== "list") {
        main.replaceChildren(
          div("title-row", el("h1", {}, "Campaigns"), span("spring"), filter),
          summary,
          list,
        );
        shown = "list";
      }
      summary.textContent = inWords(data);
      const focused = document.activeElement?.closest?.("[data-campaign]")?.dataset.campaign;
      list.replaceChildren(...data.campaigns.map(card));
      if (focused) list.querySelector(`[data-campaign="${CSS.escape(focused)}"] a`)?.focus();
      hideOthers();
    },
  };
}
