// Makes commands of `rekey` fail, with sample data, and gives what they print.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { saidIn } from "./folder.mjs";
import { load } from "./samples.mjs";
import { root } from "../lib.mjs";

const { Command } = createRequire(join(root, "package.json"))("commander");
const { addLocalCommands } = load("cli/local");
const { addPlatformCommand } = load("cli/platform");
const { checkInstallation } = load("cli/doctor/installation");
const { checkNode } = load("cli/doctor/node");
const { checkPlatform } = load("cli/doctor/platform");
const { checkSettings, settingsOf } = load("cli/doctor/settings");
const { readStackSettings } = load("cli/doctor/stackSettings");
const { examine } = load("cli/doctor/examine");
const { Crypter } = load("local/engine/secrets");
const { startPlatform } = load("local/platform");

export const { cancelling } = load("cli/local");

/** What `rekey` with these arguments prints of its failure, in a project with these files. */
export function ofCommand(args, environment = {}, files = {}) {
  const project = { "Pulumi.yaml": "name: caches\nruntime: nodejs\n", ...files };
  return withEnvironment({ PULUMI_CONFIG_PASSPHRASE: "test", ...environment }, () =>
    saidIn(project, async (folder) => {
      let printed = "";
      const program = new Command("rekey").exitOverride().configureOutput({ writeErr: (text) => (printed += text) });
      addPlatformCommand(program);
      addLocalCommands(program);
      const located = args[0] === "local" ? [...args, "--cwd", folder] : args;
      await program.parseAsync(located, { from: "user" }).catch((error) => {
        throw new Error(printed.trim() || `error: ${error.message}`);
      });
    }),
  );
}

async function withEnvironment(environment, act) {
  const before = Object.keys(environment).map((name) => [name, process.env[name]]);
  Object.assign(process.env, environment);
  try {
    return await act();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** What `rekey platform save` says of an address that answers so. */
export async function ofSave(status, body, args = []) {
  const server = createServer((_, answer) => answer.writeHead(status).end(body));
  const url = await new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`)),
  );
  if (status === undefined) await new Promise((resolve) => server.close(resolve));
  const environment = { REKEY_BASE_URL: url, REKEY_USERNAME: "you@example.com", REKEY_PASSWORD: "secret" };
  const said = await ofCommand(["platform", "save", ...args], environment);
  server.close();
  return said.replaceAll(url.replace("http://", ""), "127.0.0.1:8080");
}

/** A check as `rekey doctor` prints it. */
const shown = ({ message, mend }) => (mend === undefined ? message : `${message}\n${mend}`);
const wrongOf = (checks) => checks.filter(({ state }) => state === "wrong").map(shown);

export const ofOldNode = () => shown(checkNode("18.20.8"));

/** What the doctor says where there is no project. */
export const ofNoProject = () =>
  saidIn({}, async () => {
    throw new Error(shown((await examine("/", "dev", {}))[1]));
  });

/** What the doctor says of what is installed in a folder with these packages, by their paths and versions. */
export function ofInstalled(packages) {
  const files = Object.entries(packages).map(([path, version]) => [
    `${path}/package.json`,
    JSON.stringify({ version }),
  ]);
  return withEnvironment({ PATH: "" }, () =>
    saidIn(Object.fromEntries(files), (folder) => {
      throw new Error(checkInstallation({ directory: folder, programDirectory: folder }).map(shown).join("\n\n"));
    }),
  ).then((text) => text.split("\n\n"));
}

/** What the doctor says of settings, each by its name: a text, or where it stands otherwise. */
export function ofSettings(given, environment = {}) {
  const stack = new Map(
    Object.entries(given).map(([key, value]) => [
      key,
      { secret: false, file: "Pulumi.dev.yaml", ...(typeof value === "string" ? { value } : value) },
    ]),
  );
  return checkSettings(stack, environment)
    .filter(({ subject }) => subject in given)
    .map(shown);
}

export const ofMissing = () => wrongOf(checkSettings(new Map(), {}))[0];
export const ofNeedless = () =>
  shown(checkSettings(new Map(), { REKEY_BASE_URL: "x" }).find((one) => one.subject === "rekey:queueUrl"));

/** What the doctor says of a stack's file with this text. */
export function ofStackFile(text, environment = {}) {
  return saidIn(text === undefined ? {} : { "Pulumi.dev.yaml": text }, async (directory) => {
    const { problems } = await readStackSettings({ directory, name: "caches", config: {} }, "dev", environment);
    throw new Error(problems.map(shown).join("\n"));
  });
}

const { salt } = await Crypter.create("right");

/** A stack's file with a secret, encrypted with a passphrase or otherwise. */
export const secretFile = (withSalt = true) =>
  `${withSalt ? `encryptionsalt: ${salt}\n` : ""}config: { rekey:password: { secure: v1:YQ==:YQ== } }`;

/** What the doctor says of the way to a platform that runs, and to one that does not. */
export async function ofPlatform() {
  const platform = await startPlatform();
  const { url, username, password, queueToken } = platform;
  const settings = (more) => settingsOf(new Map(), { REKEY_BASE_URL: url, REKEY_QUEUE_URL: url, ...more });
  const credentials = { REKEY_USERNAME: username, REKEY_PASSWORD: password, REKEY_QUEUE_TOKEN: queueToken };
  const healthy = (await checkPlatform(settings(credentials))).map(shown);
  const refused = wrongOf(await checkPlatform(settings({ REKEY_QUEUE_TOKEN: "other" })));
  await platform.close();
  const gone = wrongOf(await checkPlatform(settings({})));
  const example = (text) => text.replaceAll(url, "http://127.0.0.1:8080");
  return { healthy: healthy.map(example), refused: refused.map(example), gone: gone.map(example) };
}
