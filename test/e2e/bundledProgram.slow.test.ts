import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { Team } from "../support/age";
import { succeeds, valuesOf } from "../support/engineStack";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { closePlatforms, TestStack } from "../support/memory";

/** Uses each part of the package that is loaded late: schedules, settings, HTTP, shared reads, encryption. */
const program = (recipient: string) => `
import { FlowControlLimits, FlowControlReset, getFlowControlKeyOutput, getFlowControlKeys, PasswordRotation,
  PasswordRotationFleet, CredentialVerification } from "pulumi-rekey";
const rotation = new PasswordRotation("cache", { databaseId: "db-cache", rotateEvery: "P1M", encryptFor: ["${recipient}"] });
new PasswordRotationFleet("fleet", { databases: { sessions: "db-sessions" } });
new CredentialVerification("cache", { access: rotation.access });
new FlowControlLimits("invoices", { flowControlKey: "invoices", parallelism: 2 });
const reset = new FlowControlReset("orders", { flowControlKey: "orders" });
export const { endpoint, nextRotationAt } = rotation;
export const running = getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn: reset }).parallelismCount;
export const keys = getFlowControlKeys({ search: "orders" }).then(({ keys }) => keys.length);
`;

/** Packs a program, which is an ES module, and pulumi-rekey into one file; Pulumi's SDK stays outside. */
async function bundle(program: string, format: "cjs" | "esm"): Promise<string> {
  const folder = new Folder();
  try {
    const bundler = await rolldown({
      input: folder.write("program.mjs", program),
      platform: "node",
      external: [/^@pulumi\/pulumi/],
      resolve: { modules: ["node_modules", join(projectRoot, "node_modules")] },
      onLog: () => undefined,
    });
    const { output } = await bundler.generate({ format, codeSplitting: false });
    return output[0].code;
  } finally {
    folder.remove();
  }
}

describe("A program that a bundler has packed into one file", () => {
  afterEach(closePlatforms);

  for (const [format, main] of [
    ["cjs", "index.js"],
    ["esm", "index.mjs"],
  ] as const) {
    it(`runs as an unpacked one does: ${format}`, async () => {
      const { recipient } = await Team.create();
      const folder = new Folder();
      symlinkSync(join(projectRoot, "node_modules"), folder.path("node_modules"), "junction");
      const file = folder.write(main, await bundle(program(recipient), format));
      const options = { databases: ["db-cache", "db-sessions"], flowControlKeys: ["orders"] };
      let run = 0;
      const stack = await TestStack.start(
        async () => ({ ...(await import(`${pathToFileURL(file).href}?${++run}`)) }),
        options,
      );
      const { endpoint, nextRotationAt, running, keys } = valuesOf(await succeeds(stack.up()));
      assert.equal(endpoint, stack.platform.database("db-cache").record["endpoint"]);
      assert.ok(Date.parse(String(nextRotationAt)) > Date.now());
      assert.deepEqual({ running, keys }, { running: 0, keys: 1 });
      const { changes } = await succeeds(stack.up());
      assert.deepEqual([changes["create"], changes["update"]], [undefined, undefined]);
      assert.equal(stack.platform.resetCount, 2);
      folder.remove();
    });
  }
});
