// The stack of the quickstart: on Pulumi's engine, or in memory. Both print what they do.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { root } from "./lib.mjs";

const require = createRequire(import.meta.url);
const name = "quickstart";

/**
 * A stack on the `pulumi` on PATH, with its state in a folder. The program runs in this process, so Pulumi needs no
 * language host.
 *
 * @throws Error if there is no `pulumi`, or it cannot start
 */
export async function onPulumi(program, config, folder) {
  const { LocalWorkspace } = require("@pulumi/pulumi/automation");
  // Some installations have no host for dynamic providers: PATH ends with one.
  const host = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
  const script = `#!/bin/sh\nexec "${process.execPath}" "${host}" "$@"\n`;
  writeFileSync(join(folder, "pulumi-resource-pulumi-nodejs"), script, { mode: 0o755 });
  mkdirSync(join(folder, "home"));
  const envVars = {
    PATH: `${process.env.PATH}${delimiter}${folder}`,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_BACKEND_URL: `file://${folder}`,
    PULUMI_CONFIG_PASSPHRASE: "quickstart",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  // The provider host, which runs there, finds the package.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  const stack = await LocalWorkspace.createOrSelectStack(
    { stackName: name, projectName: name, program: async () => program() },
    { workDir: folder, projectSettings: { name, runtime: "nodejs" }, envVars },
  );
  const entries = Object.entries(config).map(([key, value]) => [
    key,
    typeof value === "string" ? { value } : { value: value.secret, secret: true },
  ]);
  await stack.setAllConfig(Object.fromEntries(entries));
  const options = { onOutput: (text) => process.stdout.write(text), suppressProgress: true };
  return {
    version: stack.workspace.pulumiVersion,
    path: onPath("pulumi", "pulumi.exe"),
    preview: () => stack.preview(options),
    up: async () => (await stack.up(options)).outputs,
    outputs: () => stack.outputs(),
    setVersion: (value) => stack.setConfig("version", { value }),
  };
}

/** The path of the first of these files on PATH. */
function onPath(...names) {
  const folders = process.env.PATH.split(delimiter);
  return folders.flatMap((folder) => names.map((one) => join(folder, one))).find((path) => existsSync(path));
}

/** A stack in memory. */
export function inMemory(stack) {
  const show = async (operation) => {
    const { changes, notices, outputs } = await operation;
    for (const line of notices) console.log(`    ${line}`);
    const counts = Object.entries(changes).map(([what, count]) => `${count} ${what}`);
    console.log(`    Resources: ${counts.join(", ")}`);
    return outputs;
  };
  let outputs = {};
  return {
    preview: () => show(stack.preview()),
    up: async () => (outputs = await show(stack.up())),
    outputs: async () => outputs,
    setVersion: async (value) => void (stack.config.version = value),
  };
}
