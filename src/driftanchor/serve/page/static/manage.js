// What whoever runs a campaign does to it. The server decides whether the key may.
import { el } from "./dom.js";
import { send } from "./api.js";

export class Manage {
  constructor(name, refresh) {
    this.name = name;
    this.path = `/v1/campaigns/${encodeURIComponent(name)}`;
    this.refresh = refresh;
    this.said = el("p", { role: "status", class: "said" });
    this.pause = el("button", { type: "button", id: "pause", disabled: true, onclick: () => this.act(this.data.paused ? "The campaign runs again." : "The campaign is paused. It still learns from rewards.", "PATCH", this.path, { paused: !this.data.paused }) }, "Pause");
    this.which = el("select", { id: "which-arm", onchange: () => this.offer() });
    this.arm = el("div", { class: "row" });
    const label = el("input", { id: "new-arm", required: true, maxlength: 200, placeholder: "name of the arm" });
    const add = el("form", { class: "row", onsubmit: (event) => { event.preventDefault(); this.act(`${label.value} was added.`, "PATCH", this.path, { add: { [label.value]: {} } }).then((ok) => { if (ok) label.value = ""; }); } }, el("label", { for: "new-arm" }, "New arm"), label, el("button", { type: "submit" }, "Add"));
    const hours = el("select", { id: "share-hours" }, ...[["1", "1 hour"], ["24", "1 day"], ["168", "1 week"]].map(([value, text]) => el("option", { value, selected: value === "24" }, text)));
    this.link = el("output", { class: "arm-name" });
    const share = el("form", { class: "row", onsubmit: (event) => { event.preventDefault(); this.share(hours.value); } }, el("label", { for: "share-hours" }, "Read-only link for"), hours, el("button", { type: "submit" }, "Make a link"));
    this.element = el("div", { class: "manage" },
      el("p", { class: "muted" }, "These need an admin key, unless the server has no keys and listens only on this machine."),
      el("div", { class: "row" }, this.pause), el("div", { class: "row" }, el("label", { for: "which-arm" }, "Arm"), this.which, this.arm), add, share, this.link, this.said);
  }

  set(data) {
    this.data = data;
    this.pause.disabled = false;
    this.pause.textContent = data.paused ? "Resume the campaign" : "Pause the campaign";
    const labels = data.arms.map((arm) => arm.label);
    if (this.labels !== JSON.stringify(labels)) {
      const before = this.which.value;
      this.labels = JSON.stringify(labels);
      this.which.replaceChildren(...labels.map((label) => el("option", { value: label, selected: label === before }, label)));
    }
    this.offer();
  }

  offer() {
    const arm = this.data.arms.find((x) => x.label === this.which.value);
    if (!arm || this.offered === `${arm.label}\n${arm.state}\n${arm.logs.count}`) return;
    this.offered = `${arm.label}\n${arm.state}\n${arm.logs.count}`;
    const button = (text, state, said) => el("button", { type: "button", onclick: () => this.act(said, "PATCH", this.path, { arms: { [arm.label]: state } }) }, text);
    const trusted = arm.logs.n > 0 && arm.logs.count;
    const distrust = trusted ? [el("button", { type: "button", onclick: () => this.act(`The logs of ${arm.label} no longer count.`, "PATCH", this.path, { distrust: [arm.label] }) }, "Distrust its logs")] : [];
    this.arm.replaceChildren(...(arm.state === "active"
      ? [button("Pause", "paused", `${arm.label} is paused.`), button("Archive", "archived", `${arm.label} is archived.`)]
      : [button("Restore", "active", `${arm.label} is played again.`)]), ...distrust);
  }

  async act(done, ...request) {
    try {
      await send(...request);
      this.said.textContent = done;
      this.said.className = "said";
      this.refresh();
      return true;
    } catch (error) {
      this.refused(error);
      return false;
    }
  }

  refused(error) {
    this.said.className = "said alarm-text";
    this.said.textContent = error.status === 401 ? "Refused: this needs an admin key. Press Key above and type one." : error.status === 403 ? "Refused: your key may not do this. It needs the role admin." : `Not done: ${error.message}`;
  }

  async share(hours) {
    try {
      const { key: shared, expires } = await send("POST", "/page/share", { campaign: this.name, hours: Number(hours) });
      const link = `${location.origin}${location.pathname}#key=${shared}`;
      this.link.textContent = link;
      this.said.className = "said";
      this.said.textContent = `Anyone with this link can read the summary of this campaign until ${new Date(expires * 1000).toUTCString()}.`;
    } catch (error) {
      this.refused(error);
    }
  }
}
