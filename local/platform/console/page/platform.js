// What the page asks the platform, and with which credentials.

const stored = "rekey-console";

/** A request that the platform refused. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The credentials in the link that `rekey-local platform` prints, else those saved in this tab, else null. */
export function savedCredentials() {
  const linked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (linked.username !== undefined) {
    saveCredentials(linked);
    // Remove the credentials from the address bar and the history, where others could see them.
    history.replaceState(null, "", location.pathname);
  }
  return JSON.parse(sessionStorage.getItem(stored) ?? "null");
}

export function saveCredentials({ username, password, queueToken }) {
  sessionStorage.setItem(stored, JSON.stringify({ username, password, queueToken }));
}

export function forgetCredentials() {
  sessionStorage.removeItem(stored);
}

/** The state of the platform, of a bounded size: see snapshot.ts. */
export function readState(credentials, search) {
  return send("GET", `/local/console?${new URLSearchParams({ search })}`, basic(credentials));
}

/** Section 4.1 of the interface. */
export function resetPassword(credentials, id) {
  return send("POST", `/v2/keyvalue/reset-password/${encodeURIComponent(id)}`, basic(credentials));
}

/** Section 4.3 of the interface; `action` is reset, pause or resume. */
export function changeKey(credentials, key, action) {
  return send("POST", `/v2/flowControl/${encodeURIComponent(key)}/${action}`, `Bearer ${credentials.queueToken}`);
}

function basic({ username, password }) {
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${username}:${password}`)))}`;
}

async function send(method, path, authorization) {
  // "omit": the browser must neither add credentials of its own nor ask for some in a dialog of its own.
  const response = await fetch(path, { method, headers: { authorization }, credentials: "omit" });
  const body = await response.json();
  if (!response.ok) {
    throw new Refused(response.status, body.error);
  }
  return body;
}
