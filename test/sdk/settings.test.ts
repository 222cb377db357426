import assert from "node:assert/strict";
import { mock } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";
import { startMocks, valueOf } from "./pulumiMocks";

/** The warnings of a program with two resources. */
async function warningsFor(config: Record<string, string>, secretKeys: string[] = [], preview = false) {
  await startMocks({ preview });
  pulumi.runtime.setAllConfig(config, secretKeys);
  const warn = mock.method(pulumi.log, "warn", async () => undefined);
  const made = ["a", "b"].map((databaseId) => new PasswordRotation(databaseId, { databaseId }));
  await Promise.all(made.map(({ databaseId }) => valueOf(databaseId)));
  const lines = warn.mock.calls.map(({ arguments: [line] }) => String(line));
  mock.restoreAll();
  assert.doesNotMatch(lines.join(), /canary/);
  return lines;
}

describe("sdk: the settings of a program", () => {
  afterEach(() => {
    mock.restoreAll();
    pulumi.runtime.setAllConfig({});
    delete process.env["REKEY_MAX_RESET_PER_RUN"];
    delete process.env["REKEY_OF_SOMEONE_ELSE"];
  });

  it("are a warning once in a run if they do not exist, with the closest name, also in a preview", async () => {
    process.env["REKEY_MAX_RESET_PER_RUN"] = process.env["REKEY_OF_SOMEONE_ELSE"] = "canary";
    const names = ["rekey:maxResetPerRun", "rekey:passwrod", "rekey:nonsense", "rekey:username", "project:maxResets"];
    const isNone = "is not a setting of pulumi-rekey";
    const fix = (key: string) => `, and has no effect. Fix its name, or run \`pulumi config rm ${key}\`.`;
    const expected = [
      `rekey:maxResetPerRun ${isNone} (did you mean rekey:maxResetsPerRun?)${fix("rekey:maxResetPerRun")}`,
      `rekey:passwrod ${isNone} (did you mean rekey:password?)${fix("rekey:passwrod")}`,
      `rekey:nonsense ${isNone}${fix("rekey:nonsense")}`,
      `REKEY_MAX_RESET_PER_RUN ${isNone} (did you mean REKEY_MAX_RESETS_PER_RUN?), and has no effect. Fix its name, or unset it.`,
    ];
    const config = Object.fromEntries(names.map((name) => [name, "canary"]));
    for (const preview of [true, false]) {
      assert.deepEqual(await warningsFor(config, ["rekey:passwrod"], preview), expected);
    }
  });

  it("are a warning if they are credentials in plain text", async () => {
    const config = {
      "rekey:password": "canary-password",
      "rekey:queueToken": "canary-token",
      "rekey:proxy": "http://user:canary-proxy@127.0.0.1:3128",
    };
    const [password = "", proxy = "", ...others] = await warningsFor(config, ["rekey:queueToken"]);
    assert.match(password, /^rekey:password is stored in plain text .*`pulumi config set --secret rekey:password`/);
    assert.match(proxy, /^rekey:proxy .*`pulumi config set --secret rekey:proxy`/);
    assert.deepEqual(others, []);
    const harmless = { "rekey:username": "you", "rekey:proxy": "http://127.0.0.1:3128" };
    assert.deepEqual(await warningsFor({ ...config, ...harmless }, ["rekey:password", "rekey:queueToken"]), []);
  });
});
