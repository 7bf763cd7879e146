// Asking the server. A key lives in this tab alone; it is never put into an address.
const KEY = "driftanchor-key";
const seen = new Map(); // address → { tag, data }
let memory = "";

export function key() {
  try { return sessionStorage.getItem(KEY) || memory; } catch { return memory; }
}

export function setKey(value) {
  memory = value;
  seen.clear();
  try {
    if (value) sessionStorage.setItem(KEY, value); else sessionStorage.removeItem(KEY);
  } catch { /* then it lasts as long as the page */ }
}

// A share link has its key behind the #, which browsers do not send.
export function takeSharedKey() {
  const found = /^#key=([\w.-]{8,200})$/.exec(location.hash);
  if (!found) return;
  setKey(found[1]);
  history.replaceState(null, "", location.pathname + location.search);
}

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function failure(response) {
  let detail = `the server answered ${response.status}`;
  try { detail = (await response.json()).detail || detail; } catch { /* no problem document */ }
  return new Refused(response.status, detail);
}

export async function ask(path, options = {}) {
  const headers = { ...(options.headers || {}) };
  if (key()) headers.Authorization = `Bearer ${key()}`;
  if (options.body) headers["Content-Type"] = "application/json";
  return fetch(path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
}

// The data at an address, and whether it is new since the last time.
export async function get(path) {
  const known = seen.get(path);
  const headers = known ? { "If-None-Match": known.tag } : {};
  const response = await ask(path, { headers });
  if (response.status === 304 && known) return { data: known.data, changed: false };
  if (!response.ok) throw await failure(response);
  const data = await response.json();
  seen.set(path, { tag: response.headers.get("ETag") || "", data });
  if (seen.size > 40) seen.delete(seen.keys().next().value);
  return { data, changed: true };
}

export async function send(method, path, body) {
  const response = await ask(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
  if (!response.ok) throw await failure(response);
  return response.status === 204 ? null : response.json();
}
