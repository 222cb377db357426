// Makes the local engine fail, with sample data, and gives what it says.
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { saidIn } from "./folder.mjs";
import { load } from "./samples.mjs";
import { root } from "../lib.mjs";

const fs = createRequire(import.meta.url)("node:fs");
const { Child, sdkDirectory } = load("local/engine/child");
const { findProject, fullKey, readProject, StackFile } = load("local/engine/config");
const { checkExported, readDeployment } = load("local/engine/format");
const { DynamicHost } = load("local/engine/host");
const { takeLock } = load("local/engine/lock");
const { pendingWarning } = load("local/engine/operations");
const { Crypter } = load("local/engine/secrets");
const { LocalStack } = load("local/engine/stack");
const { readState, writeSynced } = load("local/engine/state");

const projectFile = "name: caches\nruntime: nodejs\n";
const crypter = await Crypter.create("right");
const urn = (name) => `urn:pulumi:dev::caches::pulumi-nodejs:dynamic/rekey:PasswordRotation::${name}`;

/** What is said of a project file with this text. */
export const ofProject = (text) => saidIn({ "Pulumi.yaml": text }, readProject);
export const ofNoProject = () => saidIn({}, readProject);
export const ofNoProjectAbove = () => saidIn({}, () => findProject("/"));

/** What is said of a stack's settings file with this text, with the stack's passphrase or without. */
export function ofSettings(text, withPassphrase = true) {
  return saidIn({ "Pulumi.yaml": projectFile, "Pulumi.dev.yaml": text }, (folder) =>
    new StackFile(join(folder, "Pulumi.dev.yaml"), readProject(folder)).settings(withPassphrase ? crypter : undefined),
  );
}

export function ofUnwritableSettings() {
  return saidIn({ "Pulumi.yaml": projectFile }, (folder) =>
    new StackFile(join(folder, "gone", "Pulumi.dev.yaml"), readProject(folder)).save(),
  );
}

export const ofKey = (key) => saidIn({}, () => fullKey("caches", key));

/** What is said of a stack that is opened so. */
export function ofStack(options) {
  return saidIn({ "Pulumi.yaml": projectFile }, async (projectDir) => {
    const env = { PULUMI_CONFIG_PASSPHRASE: undefined, PULUMI_CONFIG_PASSPHRASE_FILE: undefined, ...options.env };
    const stack = await LocalStack.open({ projectDir, ...options, env });
    await stack.preview(options.operation);
  });
}

export const ofWrongPassphrase = () => saidIn({}, () => Crypter.open("wrong", crypter.salt));
export const ofBrokenSalt = () => saidIn({}, () => Crypter.open("right", "v2"));

export function ofLocked() {
  return saidIn({}, (folder) => {
    takeLock(join(folder, "dev.lock"));
    takeLock(join(folder, "dev.lock"));
  });
}

/** What is said of a lock with this text. */
export const ofLock = (text) => saidIn({ "dev.lock": text }, (folder) => takeLock(join(folder, "dev.lock")));

export const ofUnwritableFolder = () =>
  saidIn({ "dev.lock": "" }, (folder) => takeLock(join(folder, "dev.lock", "stacks", "dev.lock")));

/** What is said of a file system without hard links. */
export async function ofNoLinks() {
  const { linkSync } = fs;
  fs.linkSync = () => {
    throw new Error("EPERM: operation not permitted, link");
  };
  try {
    return await saidIn({}, (folder) => takeLock(join(folder, "dev.lock")));
  } finally {
    fs.linkSync = linkSync;
  }
}

export function ofUnwritableState() {
  return saidIn({}, (folder) => {
    mkdirSync(join(folder, "dev.json.tmp"));
    return writeSynced(join(folder, "dev.json"), "{}");
  });
}

export const ofStateFile = (text) => saidIn({ "dev.json": text }, (folder) => readState(join(folder, "dev.json")));

/** What is said of an imported state with these resources, each a PasswordRotation where it does not say otherwise. */
export function ofState(resources, version = 3) {
  const given = resources.map(({ name, ...more }) => ({
    urn: urn(name),
    custom: true,
    type: "pulumi-nodejs:dynamic/rekey:PasswordRotation",
    ...more,
  }));
  const read = () =>
    readDeployment(checkExported({ version, deployment: { resources: given } }, "the imported state"), crypter);
  return saidIn({}, read);
}

/** A secret as the state has it. */
export const sealed = (more) => ({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ...more });
export { urn };

export const ofNoSdk = () => saidIn({}, sdkDirectory);

export const ofNoNode = () =>
  saidIn({}, () => Child.start("x", [], { cwd: join(root, "none"), env: process.env }, () => undefined).exit);

/** What is said where the provider host is a script of this text. */
export function ofHost(script) {
  const sdk = "node_modules/@pulumi/pulumi";
  const files = { [`${sdk}/package.json`]: "{}", [`${sdk}/cmd/dynamic-provider/index.js`]: script };
  return saidIn(files, (cwd) =>
    DynamicHost.start({ engine: "127.0.0.1:1", cwd, env: process.env, config: {} }, () => undefined),
  );
}

export function ofPending() {
  return pendingWarning({ resources: [], pending: [{ type: "creating", resource: { urn: urn("sessions") } }] });
}
