import assert from "node:assert/strict";
import { copyFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { pulumiPath } from "./engine";
import { EngineStack, fails, onEngine, onEngineByAdapter, succeeds, valuesOf } from "./engineStack";
import { projectRoot } from "../support/host";
import { runToEnd } from "../support/processes";

onEngineByAdapter("Each resource", (adapter) => {
  it("changes once for a version, and never in a preview, a refresh or destroy", async () => {
    let version = 1;
    const stack = await EngineStack.start(
      (rekey) => {
        const { urn, password, access } = new rekey.PasswordRotation("single", { databaseId: "db-single", version });
        const fleet = new rekey.PasswordRotationFleet("fleet", { databases: { a: "db-a", b: "db-b" }, version });
        new rekey.VectorTokenRotation("vector", { indexId: "idx-vectors", version });
        new rekey.SearchTokenRotation("search", { indexId: "idx-search", version });
        new rekey.SigningKeyRotation("keys", { minInterval: "0s", version });
        new rekey.FlowControlReset("orders", { flowControlKey: "orders", version });
        new rekey.FlowControlLimits("orders", { flowControlKey: "orders", rate: 5, period: version });
        const { verified } = new rekey.CredentialVerification("proof", { access });
        new rekey.CredentialVerification("fleet", { access: fleet.access });
        return { urn, password, verified, credentials: fleet.credentials };
      },
      {
        adapter,
        platform: { databases: ["db-single", "db-a", "db-b"], credentials: "always", flowControlKeys: ["orders"] },
      },
    );
    const { platform } = stack;
    const posts = () => platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path);
    for (version of [1, 2]) {
      const before = posts();
      await succeeds(stack.preview());
      await succeeds(stack.refresh());
      assert.deepEqual(posts(), before);
      const { outputs } = await succeeds(stack.up());
      const { password } = platform.database("db-single");
      assert.deepEqual(outputs["password"], { value: password, secret: true });
      assert.equal(outputs["verified"]?.value, true);
      assert.equal(outputs["credentials"]?.secret, true);
      assert.deepEqual(Object.keys((await succeeds(stack.up())).changes), ["same"]);
      assert.equal(posts().length, version * 8);
    }
    const { length } = posts();
    await succeeds(stack.destroy());
    assert.deepEqual(posts().slice(length), ["/v2/flowControl/orders/unpin?rate=true"]);
  });
});

/** What docs/runbook.md recommends after a `kill -9` of the engine while it wrote its state. */
onEngine("A state in files that cannot be loaded", () => {
  it("loads without the empty .attrs file and resets nothing; or its backup, and a new version saves the password", async () => {
    let version = 0;
    const stack = await EngineStack.start(
      ({ PasswordRotation }) => {
        const { password, rotationCount } = new PasswordRotation("sessions", { databaseId: "sessions", version });
        return { password, rotationCount };
      },
      { platform: { databases: ["sessions"], credentials: "always" } },
    );
    for (version of [1, 2]) await succeeds(stack.up());
    const file = join(stack.stateFolder, `${stack.name}.json`);
    truncateSync(`${file}.attrs`);
    await fails(stack.preview(), /failed to load checkpoint: EOF/);
    rmSync(`${file}.attrs`);
    assert.deepEqual((await succeeds(stack.up())).changes, { same: 2 });
    assert.equal(stack.platform.resetCount, 2);

    truncateSync(file);
    await fails(stack.preview(), /failed to load checkpoint: .*unexpected end of JSON input/);
    copyFileSync(`${file}.bak`, file);
    rmSync(`${file}.attrs`);
    version = 3;
    const outputs = valuesOf(await succeeds(stack.up()));
    assert.equal(stack.platform.resetCount, 3);
    assert.deepEqual(outputs, { password: stack.platform.database("sessions").password, rotationCount: 3 });
  });
});

onEngine("A program that fails", () => {
  it("shows the errors of Rekey without stack traces", async () => {
    const stack = await EngineStack.start(
      async ({ FlowControlReset, getFlowControlKey, getFlowControlKeyOutput, getGlobalParallelismOutput }) => {
        const version = getFlowControlKeyOutput({ flowControlKey: "is-input" }).waitListSize;
        const { id } = new FlowControlReset("a", { flowControlKey: "a", version });
        const isApply = pulumi.output(1).apply(() => getFlowControlKey({ flowControlKey: "is-apply" }));
        const isCaught = await getFlowControlKey({ flowControlKey: "is-caught" }).catch(() => "caught");
        return { isExport: getGlobalParallelismOutput(), id, isApply, isCaught };
      },
      { platform: { flowControlKeys: ["a"] } },
    );
    await stack.configure({ "rekey:queueToken": { secret: "wrong" } });
    const { printed } = await fails(stack.up());
    assert.doesNotMatch(printed, /unhandled exception|^ +at /im);
    const [, diagnostics = ""] = printed.split("Diagnostics:");
    for (const purpose of ['"is-input"', '"is-apply"', "read the global parallelism"]) {
      assert.ok(diagnostics.includes(`${purpose}: the platform responded with 401`), printed);
    }
  });
});

onEngineByAdapter("A setting that was changed since the last `up`", (adapter) => {
  it("is used by a refresh and a destroy that run the program; otherwise they say that they use the saved one", async () => {
    const stack = await EngineStack.start(
      ({ FlowControlLimits }) => void new FlowControlLimits("orders", { flowControlKey: "orders", rate: 1 }),
      { adapter },
    );
    const { platform } = stack;
    await succeeds(stack.up());
    const resetToken = async () => {
      const [[user] = assert.fail()] = platform.queueUsers;
      const authorization = `Basic ${btoa(`${platform.username}:${platform.password}`)}`;
      await fetch(`${platform.url}/v2/qstash/rotate-token/${user}`, { method: "POST", headers: { authorization } });
      await stack.configure({ "rekey:queueToken": { secret: platform.queueToken } });
    };
    const saysOf = (command: string) =>
      new RegExp(
        `A ${command} uses the configuration that the last \`up\` saved: .*\`pulumi ${command} --run-program\``,
      );
    await resetToken();
    assert.match((await succeeds(stack.refresh())).printed, saysOf("refresh"));
    await fails(stack.destroy(), saysOf("destroy"));
    assert.doesNotMatch((await succeeds(stack.refresh({ runProgram: true }))).printed, /saved state is unchanged/);
    await resetToken();
    assert.equal(platform.flowControlKeys.get("orders")?.isPinnedRate, true);
    await succeeds(stack.destroy({ runProgram: true }));
    assert.notEqual(platform.flowControlKeys.get("orders")?.isPinnedRate, true);
  });
});

onEngine("The schema", () => {
  it("passes the CLI's check", async () => {
    const command = ["schema", "check", join(projectRoot, "schema.json")];
    await runToEnd(pulumiPath, command, { cwd: projectRoot });
  });
});

onEngine("A program of the Automation API with a mistake", () => {
  it("ends, and sends no second reset: a second resource whose id is known after the reset of the first", async () => {
    const stack = await EngineStack.start(
      ({ PasswordRotation }) => {
        const { password } = new PasswordRotation("a", { databaseId: "sessions" });
        new PasswordRotation("b", { databaseId: password.apply(() => "sessions") });
      },
      { platform: { databases: ["sessions"], credentials: "always" } },
    );
    await fails(stack.up(), /database "sessions" already belongs to PasswordRotation "a".*REKEY_DUPLICATE_SECRET/s);
    assert.equal(stack.platform.resetCount, 1);
  });
});
