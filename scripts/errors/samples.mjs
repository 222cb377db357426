// Makes the package's own code fail, with sample data, and gives what it says. It reads the build.
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../lib.mjs";

const require = createRequire(import.meta.url);
export const load = (file) => require(join(root, "dist", file));

const { Databases } = load("provider/api/databases");
const { errorOf } = load("provider/api/failures");
const { Line } = load("provider/api/line");
const { FlowControl } = load("provider/api/flowControl");
const { SharedReads } = load("provider/api/sharedReads");
const { managementService, queueService } = load("provider/api/service");
const { requireEngine } = load("provider/engineWatch");
const face = load("provider/dynamic");
const { apply, diff } = load("provider/lifecycle/passwordRotation");
const { Run } = load("provider/lifecycle/run");
const { readDatabaseAnswer } = load("provider/records/databaseAnswer");
const { markTrigger } = load("provider/rotation/trigger");
const { Settings } = load("provider/settings");
const { requireKnown } = load("sdk/requireKnown");

const now = new Date("2026-11-21T12:00:00.000Z");
const services = {
  management: managementService("https://api.example.com", "you@example.com", "secret"),
  queue: queueService("https://queue.example.com", "secret"),
};

export async function messageOf(act) {
  try {
    await act();
  } catch (error) {
    return error.message;
  }
  throw new Error(`No error came of ${act}`);
}

/** A requester that fails, or answers, as it is told. */
function requester(service, given) {
  return {
    async send({ purpose, method, path, consequences }) {
      const facts = { purpose, method, url: service.baseUrl + path, consequences };
      if (given.delivery === "answered") return { status: 200, ...given, facts };
      throw errorOf(facts, service, [], { attempts: 1, ...given });
    },
  };
}

/** What is said where resetting a password fails so. */
export function ofReset(given) {
  return messageOf(() => new Databases(requester(services.management, given)).resetPassword("sessions"));
}

/** What is said where reading or resetting a flow-control key fails so. */
export function ofKey(given, act = (flowControl) => flowControl.get("orders")) {
  return messageOf(() => act(new FlowControl(requester(services.queue, given))));
}

/** What is said where listing the keys fails so. */
export function ofList(given) {
  return ofKey(given, (flowControl) => new SharedReads(flowControl).list());
}

/** What is said of a setting that is written so, or missing. */
export function ofSetting(name, written) {
  return messageOf(() => new Settings((asked) => (asked === name ? written : undefined)).require(name));
}

/** What is said of a PasswordRotation with these inputs. */
export async function ofInputs(inputs, resource = "passwordRotation") {
  const { failures } = await face[resource].check({}, inputs);
  return failures[0].reason;
}

export function ofDamagedState() {
  return messageOf(() => face.passwordRotation.update("sessions", { databaseId: "carts" }, { databaseId: "sessions" }));
}

/** A run of which each reset is answered so; where it has a limit, that is reached. */
export function runWith(given, maxResets) {
  const databases = new Databases(requester(services.management, given));
  const lineWithin = () => new Line({ maxConcurrency: 1 });
  const run = new Run({ platform: { databases, lineWithin }, maxResets: () => maxResets, now: () => now });
  for (let sent = 0; sent < maxResets; sent++) run.takeReset(`other ${sent}`);
  return run;
}

export const lost = { delivery: "maybe applied", code: "ECONNRESET" };
const applied = { outcome: "reset", databaseId: "sessions", appliedTrigger: markTrigger({ version: 1 }) };
const wanted = { databaseId: "sessions", version: 2 };

/** Saved after resets in a row that were not confirmed. */
export function unconfirmed(unconfirmedResets) {
  return { outcome: "unknown", attemptedTrigger: markTrigger(wanted), unconfirmedResets };
}

/** What is said where a reset was sent and not confirmed. */
export async function ofLostReset() {
  return (await apply(undefined, wanted, runWith(lost))).unconfirmed;
}

/** What is said where our own code fails around a reset; a stack's place is left out. */
export async function ofBug() {
  const platform = { databases: { resetPassword: () => Promise.reject(new TypeError("x")) } };
  const run = new Run({ platform, maxResets: () => undefined, now: () => now });
  return (await apply(undefined, wanted, run)).unconfirmed.replace(/\(TypeError at .*\)\./, "(TypeError at …).");
}

export function ofStrangeBug() {
  const news = {
    get databaseId() {
      throw "something";
    },
  };
  return messageOf(() => face.passwordRotation.check({}, news));
}

/** What is said where Rekey itself refuses to reset. */
export function ofRefusal(saved, maxResets) {
  return messageOf(() => apply({ ...applied, ...saved }, wanted, runWith(lost, maxResets)));
}

/** The line that a preview shows. */
export function noticeOf(saved, inputs) {
  return diff({ ...applied, ...saved }, { ...wanted, ...inputs }, runWith(lost)).notice;
}

/** An answer in which everything is odd that can be. */
export const oddAnswer = `{"database_id":"sessions","database_type":5,"tls":"yes","securityAddons":5,"primary_members":[1],"db_max_entry_size":"1",
  "db_max_request_size":1${"0".repeat(309)},"endpoint":"\\ud800","region":"04da6b54-80e4-46f7-96ec-b56ff0331ba9",
  "state":"a","state":"b","x":1,"x":2,"deep":${"[".repeat(100_000)}${"]".repeat(100_000)},"password":5,"rest_token":"\\ud800"}`;

/** The line that is shown where a reset was confirmed by an answer that is partly unreadable. */
export async function noticeOfAnswer(body) {
  const notice = (await apply(undefined, wanted, runWith({ delivery: "answered", body }))).notice;
  const all = readDatabaseAnswer(body).problems;
  const odd = all.filter((problem) => !/: missing$/.test(problem));
  return notice.replace(all.join("; "), [...odd, "port: missing", "…"].join("; "));
}

export function ofDeadEngine() {
  const facts = {
    purpose: 'reset the password of database "sessions"',
    method: "POST",
    url: "https://api.example.com/v2/keyvalue/reset-password/sessions",
    consequences: { "not sent": "The password was not changed: nothing was sent." },
  };
  return messageOf(() => requireEngine("127.0.0.1:1", facts));
}

export function ofLostOutcome() {
  return messageOf(() => requireKnown("unknown", "sessions"));
}
