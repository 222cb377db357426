// The processor time of a fleet in a separate process: as in Pulumi's provider host, each call comes once, to code that
// is not optimized yet. No request is sent: what a reset returns is made before.
const { hash, randomBytes } = require("node:crypto");
const { createProviders } = require("pulumi-rekey/provider");
const { databasePassword } = require("../dist/provider/domain/secretKind.js");
const { reveal } = require("../dist/provider/pulumi/values.js");
const { readSecretResponse } = require("../dist/provider/records/response.js");
const { PlatformClient } = require("../dist/provider/run/platformClient.js");
const { Run, startRun } = require("../dist/provider/run/run.js");
const { databaseRecord } = require("../local/dist/platform/databaseRecord.js");

const __provider = "the text that names the provider";

/** Seconds of the processor that a call takes, in all threads, and its result. */
async function timed(call) {
  const before = process.cpuUsage();
  const result = await call();
  const { user, system } = process.cpuUsage(before);
  // The engine passes copies on.
  return { seconds: (user + system) / 1e6, result: structuredClone(result) };
}

function responseTo(database_id) {
  const [password, rest_token, read_only_rest_token] = [1, 2, 3].map(() => randomBytes(16).toString("hex"));
  const body = databaseRecord({ database_id, password, rest_token, read_only_rest_token });
  return readSecretResponse(databasePassword.table, JSON.stringify(body));
}

/** The provider in a new run. */
async function startProvider(ids) {
  const responses = new Map(ids.map((id) => [id, responseTo(id)]));
  class Platform extends PlatformClient {
    during = () => this;
    operations = () => ({ reset: async (id) => responses.get(id) });
  }
  const { PasswordRotationFleet } = createProviders((settings) => {
    const { options } = startRun(settings);
    return new Run({ ...options, log: () => undefined, platform: () => new Platform(settings) });
  });
  const config = { "rekey:databasePath": "none" };
  await PasswordRotationFleet.configure({ config: { get: (name) => config[name] } });
  return PasswordRotationFleet;
}

/** Two runs: the first one creates a fleet, and the second one resets all of it, for a new version. */
async function measureFleet(ids) {
  const databases = Object.fromEntries(ids.map((databaseId) => [databaseId, { databaseId }]));
  const inputsOf = (version) => structuredClone({ databases, version, rotateEvery: "30d", __provider });
  const first = await startProvider(ids);
  const checked = await timed(() => first.check({}, inputsOf(1)));
  const created = await timed(() => first.create(checked.result.inputs));
  const second = await startProvider(ids);
  const olds = [created.result.id, reveal(created.result.outs)];
  const again = await timed(() => second.check(checked.result.inputs, inputsOf(2)));
  const compared = await timed(() => second.diff(...olds, again.result.inputs));
  const updated = await timed(() => second.update(...olds, again.result.inputs));
  return [checked, created, again, compared, updated].reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Reads and writes ten records of each database, and hashes ten texts for it. */
async function baseline(ids) {
  const state = JSON.stringify(ids.map((database_id) => databaseRecord({ database_id })));
  const { seconds } = await timed(() => {
    for (let times = 0; times < 10; times++) JSON.stringify(JSON.parse(state));
    for (const id of ids) {
      for (let times = 0; times < 10; times++) hash("sha256", `${id} ${times}`);
    }
  });
  return seconds;
}

process.once("message", async (ids) => {
  // Loads what is loaded with its first use.
  await measureFleet(ids.slice(0, 1));
  process.send({ baseline: await baseline(ids), seconds: await measureFleet(ids) });
  process.disconnect();
});
