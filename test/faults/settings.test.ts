import assert from "node:assert/strict";
import { kindsOfAccount } from "../../provider/domain/secretKind";
import { type Host, providerTexts } from "../support/host";
import { inputsOf } from "../support/kinds";
import { databasePath } from "../support/resources";
import { expectKind, until } from "../support/results";
import { type Properties } from "../support/wire";
import { testRow } from "./describeFaults";
import { formerOutputs } from "./phases";

const [one, other] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"] as const;

/** Resources of each type, of which nothing has to be sent. Of the second one, only the preview is seen. */
const cases = [
  ...kindsOfAccount.map((kind) => ({
    type: kind.name,
    missing: kind.service === "queue" ? "queueToken" : "password",
    isReadable: kind.paths ? [true] : [true, false],
    programs: [inputsOf(kind, one), inputsOf(kind, other)],
  })),
  {
    type: "PasswordRotationFleet",
    missing: "password",
    isReadable: [true, false],
    programs: [{ databases: { a: one } }, { databases: { b: other } }],
  },
] as const;

describe("faults: missing or saved settings", () => {
  for (const { type, missing, isReadable: readable, programs } of cases) {
    const own = { initialRotation: false, __provider: providerTexts[type] };
    // Others have an operation that reads them at every platform.
    for (const isReadable of readable) {
      const fault = `rekey:${missing} is not set (${type}${isReadable ? "" : ", cannot be read"})`;
      const settings = () => ({ [missing]: undefined, ...(isReadable && { databasePath }) });

      testRow([54, fault, "adoption", "fails, nothing is saved; 0 sent"], async (fixture) => {
        const { host, server } = await fixture.start({ settings });
        const result = await host.create({ ...programs[0], ...own });
        const { message } = expectKind("failed", result);
        assert.match(message, new RegExp(`rekey:${missing} is not set.*REKEY_SETTING_MISSING`));
        assert.equal(server.requests.length, 0);
      });

      testRow([54, fault, "preview", "passes, with one warning for the run; 0 sent"], async (fixture) => {
        const { host, server } = await fixture.start({ settings });
        for (const program of programs) {
          const inputs: Properties = { ...program, ...own };
          assert.deepEqual((await host.check(inputs)).problems, []);
          if (fixture.adapter === "plugin") expectKind("done", await host.create(inputs, true));
        }
        const warnings = [...host.said.matchAll(/`up` will fail: (rekey:\w+) is not set/g)].map(([, name]) => name);
        assert.deepEqual(warnings, [`rekey:${missing}`]);
        assert.equal(server.requests.length, 0);
      });
    }
  }

  testRow([54, "the platform cannot be read", "adoption", "says that nothing was contacted"], async (fixture) => {
    const { host, server } = await fixture.start();
    expectKind("done", await host.create(inputsOfDatabase()));
    await until(() => /Rekey made no request.*stay empty until it is reset/.test(host.said));
    assert.equal(server.requests.length, 0);
  });

  const wrongLimit = [54, "rekey:maxResetsPerRun cannot be used"] as const;
  const wrongToken = [54, "rekey:queueToken is empty"] as const;
  const saysOnce = "fails, and is said once, without a stack; 0 sent";
  const { __provider } = inputsOfDatabase();

  testRow([...wrongLimit, "preview", saysOnce], async (fixture) => {
    const { host } = await fixture.start({ settings: () => ({ maxResetsPerRun: "x" }) });
    const preview = async () => {
      await host.check({ databaseId: "db", __provider });
      // The plugin compares only then.
      const { message } = expectKind("failed", await host.create({ databaseId: "db", __provider }, true));
      throw new Error(message);
    };
    await assertSaidOnce(host, preview, "rekey:maxResetsPerRun must be a number");
  });

  testRow([...wrongLimit, "diff", saysOnce], async (fixture) => {
    const { host } = await fixture.start({ settings: () => ({ maxResetsPerRun: "x" }) });
    const database = { ...(await formerOutputs("db", fixture.adapter)), __provider };
    const diff = () => host.diff("db", database, { databaseId: "db", version: "2", __provider });
    await assertSaidOnce(host, diff, "rekey:maxResetsPerRun must be a number");
  });

  testRow([...wrongToken, "destroy", saysOnce], async (fixture) => {
    const { host, server } = await fixture.start({ settings: () => ({ queueToken: "" }) });
    const limits = { flowControlKey: "orders", paused: true, declared: { paused: true } };
    const remove = () => host.delete("orders", { ...limits, __provider: providerTexts.FlowControlLimits });
    await assertSaidOnce(host, remove, "rekey:queueToken must not be empty");
    assert.equal(server.requests.length, 0);
  });
});

/** Of a call that fails: the engine shows what it returns, and what the process prints. */
async function assertSaidOnce(host: Host, call: () => Promise<unknown>, text: string): Promise<void> {
  const returned = await call().then(
    () => assert.fail("it did not fail"),
    ({ message }: Error) => message,
  );
  // Pulumi's host prints something of each of these errors.
  if (host.adapter === "dynamic") await until(() => host.stderr.endsWith("\n"));
  const said = `${returned}\n${host.said}`;
  assert.equal(said.split(text).length, 2, said);
  assert.doesNotMatch(said, /^ +at /m);
}

function inputsOfDatabase(): Properties {
  return { databaseId: "db", initialRotation: false, __provider: providerTexts.PasswordRotation };
}
