// The console: signs in, reads the platform's state again and again, and does what the buttons say.
import { chart, History } from "./chart.js";
import * as platform from "./platform.js";
import { databasesTable, keysTable, showRequests } from "./tables.js";

/** Pause between a response and the next request in milliseconds, so that a slow platform is not overloaded. */
const pauseMs = 1_000;
const done = { reset: "was reset", pause: "is paused", resume: "goes on" };

const byId = (id) => document.getElementById(id);
const keysLately = new History();
const allLately = new History();
const allChart = chart("All flow-control keys");
byId("all-chart").append(allChart.svg);
const showKeys = keysTable(byId("keys"), keysLately, changeFlowControl);
const showDatabases = databasesTable(byId("databases"), confirmReset);

let credentials = null;
/** Number of the latest read. The results of earlier reads are not shown. */
let latestRead = 0;
let timer;
let isStale = false;

byId("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  platform.saveCredentials(Object.fromEntries(new FormData(event.target)));
  event.target.reset();
  start().then(() => byId("search").focus());
});
byId("sign-out").addEventListener("click", () => signOut("Signed out."));
byId("search").addEventListener("input", () => read());
byId("confirm-no").addEventListener("click", () => byId("confirm").close());
// A link that is opened in this tab again changes nothing but what is behind the `#`.
addEventListener("hashchange", () => start());
await start();

async function start() {
  credentials = platform.savedCredentials();
  if (credentials === null) {
    return signOut("");
  }
  await read();
}

function signOut(why, isError = false) {
  latestRead++;
  clearTimeout(timer);
  credentials = null;
  platform.forgetCredentials();
  setSignedIn(false);
  showKeys([], 0);
  showDatabases([]);
  showRequests(byId("requests"), []);
  say(why, isError);
  byId("sign-in").elements.username.focus();
}

function setSignedIn(isSignedIn) {
  byId("sign-in").hidden = isSignedIn;
  byId("data").hidden = !isSignedIn;
  byId("tools").hidden = !isSignedIn;
}

async function read() {
  const thisRead = ++latestRead;
  clearTimeout(timer);
  const state = await platform.readState(credentials, byId("search").value).catch((error) => error);
  if (thisRead !== latestRead) {
    return;
  }
  if (state instanceof platform.Refused && state.status === 401) {
    return signOut("These are not the credentials of this platform.", true);
  }
  if (state instanceof Error) {
    say("The platform does not respond. The data shown is out of date.", true);
    isStale = true;
  } else {
    show(state);
    if (isStale) {
      say("The platform responds again.");
      isStale = false;
    }
  }
  timer = setTimeout(read, pauseMs);
}

function show({ time, flowControlKeys: keys, globalParallelism, databases, requests }) {
  allLately.add("all", time, keys);
  for (const { flowControlKey, waitListSize, parallelismCount } of keys.shown) {
    keysLately.add(flowControlKey, time, { waiting: waitListSize, running: parallelismCount });
  }
  [allLately, keysLately].forEach((history) => history.forget(time));
  const most = allChart.draw(allLately.of("all"), time);
  byId("most-waiting").textContent = most.waiting;
  byId("most-running").textContent = most.running;
  const { parallelismCount, parallelismMax } = globalParallelism;
  byId("keys-summary").textContent =
    `${countText(keys, "key", "busiest")}. Over all keys: ${keys.waiting} waiting, ${keys.running} running; ` +
    `of the platform's parallelism ${parallelismCount} of ${parallelismMax}.`;
  byId("databases-summary").textContent = `${countText(databases, "database", "last reset")}.`;
  showKeys(keys.shown, time);
  showDatabases(databases.shown);
  showRequests(byId("requests"), requests);
  setSignedIn(true);
}

function countText({ count, found, shown }, name, which) {
  const all = `${count} ${name}${count === 1 ? "" : "s"}`;
  const matching = found === count ? all : `${found} of ${all} found`;
  return shown.length === found ? matching : `${matching}, the ${shown.length} ${which} shown: search for others`;
}

function changeFlowControl(key, action) {
  return act(() => platform.changeKey(credentials, key, action), `Flow control of ${key} ${done[action]}.`);
}

function confirmReset(id) {
  byId("confirm-name").textContent = id;
  byId("confirm-yes").onclick = () => {
    byId("confirm").close();
    void act(() => platform.resetPassword(credentials, id), `The password of ${id} was reset.`);
  };
  byId("confirm").showModal();
}

async function act(action, success) {
  await action().then(
    () => say(success),
    (error) =>
      say(error instanceof platform.Refused ? `Refused: ${error.message}` : "The platform did not respond.", true),
  );
  await read();
}

function say(text, isError = false) {
  byId("status").textContent = text;
  byId("status").className = isError ? "error" : "";
}
