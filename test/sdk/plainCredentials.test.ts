import assert from "node:assert/strict";
import { mock } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { getFlowControlKeys, PasswordRotation } from "pulumi-rekey";
import { startPlatform } from "../../local/platform/index";
import { startMocks, valueOf } from "../support/pulumiMocks";

describe("sdk: settings that do not exist", () => {
  afterEach(() => {
    mock.restoreAll();
    pulumi.runtime.setAllConfig({});
    delete process.env["REKEY_MAX_RESET_PER_RUN"];
    delete process.env["REKEY_OF_SOMEONE_ELSE"];
  });

  for (const preview of [true, false]) {
    it(`are a warning once in ${preview ? "a preview" : "an up"}, with the closest name, and without the value`, async () => {
      await startMocks({ preview });
      process.env["REKEY_MAX_RESET_PER_RUN"] = process.env["REKEY_OF_SOMEONE_ELSE"] = "canary";
      const names = ["rekey:maxResetPerRun", "rekey:passwrod", "rekey:nonsense", "rekey:username", "project:maxResets"];
      const secretNames = ["rekey:passwrod"];
      pulumi.runtime.setAllConfig(Object.fromEntries(names.map((name) => [name, "canary"])), secretNames);
      const warn = mock.method(pulumi.log, "warn", async () => undefined);
      const made = ["a", "b"].map((databaseId) => new PasswordRotation(databaseId, { databaseId }));
      await Promise.all(made.map(({ databaseId }) => valueOf(databaseId)));
      const isNone = "is not a setting of pulumi-rekey";
      const fix = (key: string) => `, and has no effect. Correct its name, or run \`pulumi config rm ${key}\`.`;
      assert.deepEqual(
        warn.mock.calls.map(({ arguments: [line] }) => String(line)),
        [
          `rekey:maxResetPerRun ${isNone} (did you mean rekey:maxResetsPerRun?)${fix("rekey:maxResetPerRun")}`,
          `rekey:passwrod ${isNone} (did you mean rekey:password?)${fix("rekey:passwrod")}`,
          `rekey:nonsense ${isNone}${fix("rekey:nonsense")}`,
          `REKEY_MAX_RESET_PER_RUN ${isNone} (did you mean REKEY_MAX_RESETS_PER_RUN?), and has no effect. Correct its name, or unset it.`,
        ],
      );
    });
  }
});

describe("sdk: credentials in the stack's configuration", () => {
  const password = "canary-password";
  const proxy = "http://user:canary-proxy@127.0.0.1:3128";
  afterEach(() => {
    mock.restoreAll();
    pulumi.runtime.setAllConfig({});
  });

  const warningsFor = async (config: Record<string, string>, secretKeys: string[] = [], preview = false) => {
    await startMocks({ preview });
    pulumi.runtime.setAllConfig(config, secretKeys);
    const warn = mock.method(pulumi.log, "warn", async () => undefined);
    const made = ["a", "b"].map((databaseId) => new PasswordRotation(databaseId, { databaseId }));
    await Promise.all(made.map(({ databaseId }) => valueOf(databaseId)));
    return warn.mock.calls.map(({ arguments: [line] }) => line);
  };

  it("are a warning if they are in plain text, once in a run, also in a preview", async () => {
    for (const preview of [true, false]) {
      const warnings = await warningsFor(
        { "rekey:password": password, "rekey:queueToken": "canary-token", "rekey:proxy": proxy },
        ["rekey:queueToken"],
        preview,
      );
      assert.equal(warnings.length, 2);
      assert.match(
        warnings[0] ?? "",
        /^rekey:password is stored in plain text .*`pulumi config set --secret rekey:password`/,
      );
      assert.match(warnings[1] ?? "", /^rekey:proxy .*`pulumi config set --secret rekey:proxy`/);
      assert.doesNotMatch(warnings.join(), /canary/);
    }
  });

  it("are a warning in a program that only reads", async () => {
    const platform = await startPlatform();
    await startMocks({ preview: true });
    const { url, queueToken } = platform;
    pulumi.runtime.setAllConfig({ "rekey:queueUrl": url, "rekey:queueToken": queueToken }, []);
    const warn = mock.method(pulumi.log, "warn", async () => undefined);
    await getFlowControlKeys();
    await getFlowControlKeys();
    await platform.close();
    const [line, ...others] = warn.mock.calls.map((call) => String(call.arguments[0]));
    assert.match(line ?? "", /^rekey:queueToken is stored in plain text/);
    assert.deepEqual(others, []);
  });

  it("are none if they are encrypted, and other settings never are", async () => {
    const settings = { "rekey:password": password, "rekey:username": "you", "rekey:proxy": "http://127.0.0.1:3128" };
    assert.deepEqual(await warningsFor(settings, ["rekey:password"]), []);
  });
});
