import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../local/index";
import { createProvider } from "../../provider/engine/dynamic";
import { functions } from "../../provider/engine/resources";
import { SharedReads } from "../../provider/flowControl/sharedReads";
import { PlatformClient } from "../../provider/platformClient";
import { Settings } from "../../provider/settings/settings";
import { startRun } from "../../provider/run";
import { type Properties } from "../../provider/records/properties";
import { environmentOf } from "../support/project";
import { databasePath } from "../support/resources";
import { readPage } from "./page";

type Provider = ReturnType<typeof createProvider>;

const queueUserId = "7b1ad1c2-0e7e-4e0c-9d3f-0c2c1c1f5a11";
const readable = { REKEY_DATABASE_PATH: databasePath };
const change = { version: 2 };

/** The host passes saved secrets without their marks. */
const withoutMarks = (outs: Properties): Properties =>
  JSON.parse(JSON.stringify(outs), (_, one: unknown) =>
    typeof one === "object" && one !== null && signature in one ? (one as unknown as { value: unknown }).value : one,
  ) as Properties;
const signature = "4dabf18193072939515e22adb298388d";

/** The rows of the table: a resource, its inputs, and settings. */
const resources: Readonly<
  Record<string, { adapter: keyof Provider; inputs: Properties; change: Properties; settings?: Record<string, string> }>
> = {
  "`PasswordRotation` with `databasePath`": {
    adapter: "passwordRotation",
    inputs: { databaseId: "db-1" },
    change,
    settings: readable,
  },
  "`PasswordRotation` without it": { adapter: "passwordRotation", inputs: { databaseId: "db-1" }, change },
  "`VectorTokenRotation`": { adapter: "vectorTokenRotation", inputs: { indexId: "idx-vectors" }, change },
  "`SearchTokenRotation`": { adapter: "searchTokenRotation", inputs: { indexId: "idx-search" }, change },
  "`QueueTokenRotation`": { adapter: "queueTokenRotation", inputs: { queueUserId }, change },
  "`SigningKeyRotation`": { adapter: "signingKeyRotation", inputs: { minInterval: "PT0S" }, change },
  "`FlowControlReset`": { adapter: "flowControlReset", inputs: { flowControlKey: "orders" }, change },
  "`FlowControlLimits`": {
    adapter: "flowControlLimits",
    inputs: { flowControlKey: "orders", parallelism: 3 },
    change: { parallelism: 4 },
  },
};

describe("The table of requests in docs/configuration.md", function () {
  const cells = new Map(
    [...readPage("docs/configuration.md").text.matchAll(/^\| (`.*?) +\|(.*)\|$/gm)].map(([, name = "", rest = ""]) => [
      name,
      rest.split("|").map((cell) => cell.trim()),
    ]),
  );
  let platform: Platform;
  before(async () => {
    platform = await startPlatform({
      databases: ["db-1"],
      vectorIndexes: ["idx-vectors"],
      searchIndexes: ["idx-search"],
      queueUsers: ["owner", queueUserId],
      flowControlKeys: ["orders"],
      databasePath,
      credentials: "always",
    });
  });
  after(() => platform.close());

  /** The methods of the requests that something sends. */
  async function sentBy(act: () => Promise<unknown>): Promise<string> {
    const before = platform.requests.length;
    await act();
    const sent = platform.requests.slice(before);
    assert.deepEqual(
      [...new Set(sent.map(({ status }) => status))].filter((status) => status !== 200),
      [],
    );
    return sent.map(({ method }) => method).join(" ") || "none";
  }

  for (const [name, { adapter: key, inputs: args, change, settings }] of Object.entries(resources)) {
    it(`has what is sent for ${name}`, async () => {
      const environment = { ...environmentOf(platform), ...settings };
      const inputs = { ...args, __provider: "provider" };
      /** Of a new process, as in each run. */
      const adapter = () => {
        const provider = createProvider(() =>
          startRun({ configuration: () => undefined, environment, log: () => undefined }),
        );
        void provider.passwordRotation.configure({ config: { get: () => undefined } as never });
        return provider[key];
      };
      let id = "";
      let outs: Properties = {};
      const unchanged = async () => {
        await adapter().check(inputs, inputs);
        assert.equal((await adapter().diff(id, outs, inputs)).changes, false);
      };
      const news = { ...inputs, ...change };
      const preview = await sentBy(() => adapter().check({}, inputs));
      const create = await sentBy(async () => {
        const created = await adapter().create(inputs);
        [id, outs] = [created.id, withoutMarks(created.outs ?? {})];
      });
      const adopts = key in { flowControlReset: 0, flowControlLimits: 0 } ? undefined : { initialRotation: false };
      const adopt = adopts && (await sentBy(() => adapter().create({ ...inputs, ...adopts })));
      const keep = await sentBy(unchanged);
      const previewOfChange = await sentBy(() => adapter().diff(id, outs, news));
      const due = await sentBy(async () => {
        const current = adapter();
        assert.equal((await current.diff(id, outs, news)).changes, true);
        outs = withoutMarks((await current.update(id, outs, news)).outs ?? {});
      });
      const refresh = await sentBy(() => adapter().read(id, outs));
      const destroy = await sentBy(() => adapter().delete(id, outs));
      assert.deepEqual([preview, keep, previewOfChange], ["none", "none", "none"]);
      const row = [...cells].find(([names]) => names === name || names.split(", ").includes(name))?.[1];
      assert.deepEqual(row, [create, adopt ?? "-", due, refresh]);
      assert.equal(destroy, key === "flowControlLimits" ? "GET POST" : "none");
    });
  }

  for (const [name, call] of Object.entries(functions)) {
    it(`has one request for ${name}`, async () => {
      const environment = { ...environmentOf(platform), REKEY_DATABASE_LIST_PATH: "/v2/redis/databases" };
      const client = new PlatformClient(new Settings(() => undefined, environment));
      const reads = { platform: client, queue: () => new SharedReads(client.flowControl) };
      assert.equal(await sentBy(() => call(reads, { flowControlKey: "orders" })), "GET");
    });
  }
});
