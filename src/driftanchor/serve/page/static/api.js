// Requests to the server. The key is kept in this tab only and is never put into an address.
const KEY = "driftanchor-key";
const cache = new Map(); // path → { tag, data }
let memory = "";

export function key() {
  try {
    return sessionStorage.getItem(KEY) || memory;
  } catch {
    return memory;
  }
}

export function setKey(value) {
  memory = value;
  cache.clear();
  try {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  } catch {
    /* kept as long as the page */
  }
}

// A share link has its key after the #, which browsers do not send.
export function takeSharedKey() {
  const match = /^#key=([\w.-]{8,200})$/.exec(location.hash);
  if (!match) return;
  setKey(match[1]);
  history.replaceState(null, "", location.pathname + location.search);
}

class ServerError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function errorOf(response) {
  let detail = `the server answered ${response.status}`;
  try {
    detail = (await response.json()).detail || detail;
  } catch {
    /* not JSON */
  }
  return new ServerError(response.status, detail);
}

async function request(path, options = {}) {
  const headers = { ...(options.headers || {}) };
  if (key()) headers.Authorization = `Bearer ${key()}`;
  if (options.body) headers["Content-Type"] = "application/json";
  return fetch(path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
}

// Return the data at a path, and whether it has changed since the last request.
export async function get(path) {
  const known = cache.get(path);
  const headers = known ? { "If-None-Match": known.tag } : {};
  const response = await request(path, { headers });
  if (response.status === 304 && known) return { data: known.data, changed: false };
  if (!response.ok) throw await errorOf(response);
  const data = await response.json();
  cache.set(path, { tag: response.headers.get("ETag") || "", data });
  if (cache.size > 40) cache.delete(cache.keys().next().value);
  return { data, changed: true };
}

export async function send(method, path, body) {
  const response = await request(path, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw await errorOf(response);
  return response.status === 204 ? null : response.json();
}
