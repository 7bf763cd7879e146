// Start here: with no campaign yet, how to make one.
import { el } from "./dom.js";

function command(text) {
  const code = el("code", {}, text);
  const button = el("button", {
    type: "button", class: "quiet copy",
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    },
  }, "Copy");
  return el("div", { class: "command" }, el("pre", { tabindex: 0 }, code), button);
}

const step = (title, text, ...rest) => el("section", { class: "card" }, el("h2", {}, title), el("p", {}, text), ...rest);

export function start(empty = true) {
  return [
    el("h1", {}, "Start here"),
    el("p", { class: "lead" }, `${empty ? "There is no campaign in this store yet. " : ""}A campaign decides which arm each user sees, and learns from the rewards. Old logs give it a head start.`),
    el("div", { class: "steps" },
      step("1. Look first", "See a campaign with made-up traffic: the logs help, the shares move, and an alarm rings.", command("driftanchor serve --demo")),
      step("2. Make a campaign from logs", "One row of the logs is one decision of the past: which arm, and what it paid. The bound says how far arms may have moved apart since.",
        command("driftanchor campaign create checkout last_quarter.csv --arm variant --reward converted --relative-bound 0.02 --reward-kind binary"),
        el("p", { class: "muted" }, "Without logs, name the arms:"),
        command("driftanchor campaign create checkout --arms A,B,C --reward-kind binary")),
      step("3. Ask, and tell", "Ask which arm to show, and report its reward. Both can be repeated safely.",
        command("curl -X POST http://127.0.0.1:8484/v1/campaigns/checkout/decisions -H 'Content-Type: application/json' -d '{\"unit\": \"user-1\"}'"),
        command("curl -X PUT http://127.0.0.1:8484/v1/decisions/ID/reward -H 'Content-Type: application/json' -d '{\"value\": 1}'")),
      step("Or in Python", "The same from your own program:",
        command("import driftanchor as da\n\ncampaign = da.Campaign.load(\"checkout\", store=\"sqlite:///driftanchor.db\")\ndecision = campaign.ask(unit=\"user-1\")\ncampaign.tell(decision.id, 1.0)")),
    ),
    el("p", { class: "muted" }, empty ? "This page shows a campaign as soon as there is one." : el("a", { href: "/" }, "All campaigns")),
  ];
}
