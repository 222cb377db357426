import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../local/platform/index";
import { kindsOfAccount } from "../../provider/domain/secretKind";
import { ResourceHandler } from "../../provider/engine/adapter";
import { resources } from "../../provider/engine/resources";
import { type Properties } from "../../provider/pulumi/values";
import { type AnyResource } from "../../provider/resource/resource";
import { startRun } from "../../provider/run/run";
import { Settings } from "../../provider/settings/settings";
import { idAt, inputsOf } from "../support/kinds";
import { settingsFor, databasePath } from "../support/resources";
import { secretOutputs } from "../support/secretOutputs";
import { hostCalls, Stack } from "../support/stack";
import { secretNames } from "../support/wire";
import { testRow } from "./describeFaults";
import { type Fixture } from "./fixture";

/** A resource, and how the plugin imports it. */
interface Case {
  readonly type: keyof typeof resources;
  readonly id: (platform: Platform) => string | Promise<string>;
  readonly inputs: (id: string) => Properties;
  /** `adopted`: its trigger is adopted, and nothing is reset in the run that imports. */
  readonly imported?: "adopted" | "compared";
  /** What its program changes in each run. */
  readonly change: (version: number) => Properties;
}

const userId = "00000000-0000-4000-8000-000000000001";
/** Each is due by a date, and for a new version. */
const rotating = (version: number): Properties => ({ version, rotatedSince: "2026-01-01" });
const orders = { id: () => "orders", inputs: (flowControlKey: string) => ({ flowControlKey }) };

/** Every type that sends POSTs. A verification sends credentials only, and the delete of a Retirement is below. */
const cases: readonly Case[] = [
  ...kindsOfAccount.map((kind): Case => {
    const own = { id: (platform: Platform) => idAt(platform, kind), inputs: (id: string) => inputsOf(kind, id) };
    return { type: kind.name, ...own, imported: "adopted", change: rotating };
  }),
  { type: "FlowControlReset", ...orders, change: (version) => ({ version }) },
  { type: "FlowControlLimits", ...orders, imported: "compared", change: (version) => ({ parallelism: version }) },
];

const start = (): Promise<Platform> =>
  startPlatform({
    databases: ["db"],
    credentials: "always",
    databasePath,
    flowControlKeys: ["orders"],
  });

/** A token that is not reset here: Rekey does not reset its own. */
const settingsOf = (platform: Platform) =>
  settingsFor(platform, { databasePath, queueUserId: userId, queueToken: undefined });

const posts = ({ requests }: Platform): string[] =>
  requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);

describe("faults: previews", () => {
  for (const one of cases) {
    const title = [
      108,
      "a preview after an import, a read and an `up`",
      one.type,
      "nothing is sent but reads",
    ] as const;
    testRow(title, (fixture) => assertPreviewsOnlyRead(fixture, one));
  }
});

async function assertPreviewsOnlyRead(
  fixture: Fixture,
  { type, id: idOf, inputs, imported, change }: Case,
): Promise<void> {
  const platform = fixture.closes(await start());
  const nextRun = () => fixture.startHost({ settings: settingsOf(platform) });
  const host = await nextRun();
  const stack = new Stack(hostCalls(host, type));
  const id = await idOf(platform);
  const own = inputs(id);
  const programOf = (version: number): Properties => ({ ...own, ...change(version) });
  /** The calls of previews and refreshes, of a resource that is saved or new, again and again. */
  const preview = async (version: number): Promise<void> => {
    const before = posts(platform);
    for (let nth = 1; nth <= 3; nth++) {
      await stack.preview(programOf(version));
      if (stack.saved) await stack.refresh();
    }
    assert.deepEqual(posts(platform), before);
  };

  await preview(1);
  if (host.adapter === "plugin" && imported) {
    await stack.import(id);
    await preview(1);
    await stack.up(programOf(1));
    if (imported === "adopted") {
      assert.deepEqual(posts(platform), [], "the run that imports resets nothing");
      assert.equal(stack.plain["outcome"], "adopted");
      assert.match(host.engine.received, /was imported\. .*nothing is reset/);
    }
    // It was imported in this process.
    await preview(2);
    stack.calls = hostCalls(await nextRun(), type);
  } else await stack.up(programOf(1));
  await preview(2);
  const before = posts(platform).length;
  await stack.up(programOf(2));
  assert.ok(posts(platform).length > before, "an `up` sends it");
  const { outputs = {} } = stack.saved ?? {};
  assert.deepEqual(
    secretNames(outputs),
    secretOutputs[type].filter((name) => name in outputs),
  );
  await preview(2);
  await preview(3);
}

describe("the permission to send what changes something", () => {
  let platform: Platform;
  before(async () => (platform = await start()));
  after(() => platform.close());

  const run = () => {
    const settings: Readonly<Record<string, string | number | undefined>> = settingsOf(platform);
    return startRun(new Settings((name) => settings[name]?.toString()), { log: () => undefined });
  };
  const refused = /a call of the engine that may not change it.*bug of Rekey.*REKEY_INTERNAL/;

  for (const { type, id, inputs, change } of cases) {
    const resource: AnyResource = resources[type];
    it(`is not given by default (${type})`, async () => {
      const own = inputs(await id(platform));
      const removing = change === rotating ? [run().during({ permission: "limits" })] : [];
      for (const each of [run(), run().during({ limitMs: 60_000 }), ...removing]) {
        const applied = resource.apply(undefined, { ...own, ...change(1) }, each);
        const [outcome] = await Promise.allSettled([applied]);
        const shown = outcome.status === "rejected" ? String(outcome.reason) : JSON.stringify(outcome.value);
        assert.match(shown, refused);
      }
      assert.deepEqual(posts(platform), []);
    });
  }

  it("is given to the delete of a Retirement alone", async () => {
    const { QueueTokenRotation: rotation, Retirement: retirement } = resources as Record<string, AnyResource>;
    const inputs = { queueUserId: userId, version: 1 };
    const rotated = await rotation!.apply(undefined, inputs, run().during({ permission: "resets" }));
    const { access } = rotated.outputs as Properties;
    const sent = posts(platform).length;
    for (const each of [run(), run().during({ permission: "limits" })]) {
      const { outputs } = await retirement!.apply(undefined, { access }, each);
      retirement!.plan(outputs, { access }, each);
      await assert.rejects(async () => retirement!.remove?.(outputs, each), /a call of the engine that may not change/);
      await rotation!.refresh?.(rotated.outputs, each);
      await rotation!.remove?.(rotated.outputs, each);
    }
    assert.equal(posts(platform).length, sent);
    const ofRun = run();
    const { outputs } = await retirement!.apply(undefined, { access }, ofRun);
    await new ResourceHandler(retirement!, ofRun).remove(outputs as Properties);
    assert.equal(posts(platform).at(-1), `POST /v2/qstash/roll-token/${userId}`);
  });
});
