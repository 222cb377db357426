import { createRequire } from "node:module";
import { join } from "node:path";
import { Connections, ConnectionError } from "../platform/connections";
import { RequestError, SettingsError } from "../domain/errors";
import { ignoredProxy, whyNotSent } from "../platform/failures";
import {
  installedFrom,
  manifestIn,
  oldestPulumi,
  howToInstall,
  isOlderVersion,
  oldestForTriggers,
} from "../engine/installedPackage";
import { PlatformClient } from "../run/platformClient";
import { type AccountService, databasePassword } from "../domain/secretKind";
import { services, type Settings } from "../settings/settings";
import {
  isCredential,
  settingKey,
  type SettingName,
  settingNames,
  settingOf,
  plainText,
  unknownSettings,
} from "../settings/table";
import { type Check, type Project, type Stack } from "./project";
import { namesAccount } from "./account";

const ok = (message: string): Check => ({ state: "ok", message });
const unchecked = (message: string): Check => ({ state: "unchecked", message });
const wrong = (message: string, fix?: string): Check => ({
  state: "wrong",
  message,
  ...(fix && { fix }),
});

/**
 * Checks everything but the version of Node. The only requests that are sent are reads.
 *
 * @param needed the services that the resources of the stack need; undefined if there are none yet
 */
export async function checkAll(
  project: Project,
  stack: Stack,
  needed: ReadonlySet<AccountService> | undefined,
): Promise<Check[]> {
  const unset = settingNames.filter(
    (name) => !stack.settings.find(name) && settingOf(name).default === undefined,
  );
  return [
    ok(`Node is ${process.versions.node}.`),
    ok(`The project is ${project.name}, and the stack is ${stack.name}.`),
    ...checkInstallation(project),
    ...(stack.unread ? [stack.unread] : []),
    ...settingNames.flatMap((name) => checkSetting(name, stack)),
    ...(stack.settings.find("proxy") ? [] : ignoredProxy().map(unchecked)),
    ok(`Not set: ${unset.map(settingKey).join(", ")}.`),
    ...checkMissing(stack, needed),
    ...unknownSettings([...stack.stored.keys()], process.env).map((message) => wrong(message)),
    ...(await checkServices(stack.settings)),
  ];
}

/** The packages that the program needs, and where they are found. */
export function checkInstallation({ program, runtime, usesPlugin }: Project): Check[] {
  const sdk = runtime === "nodejs" ? [checkSdk(program)] : [];
  if (usesPlugin) {
    const message =
      "The plugin was not checked: `pulumi plugin ls` lists it if it is installed, unless Pulumi.yaml names its folder.";
    return [...sdk, unchecked(message)];
  }
  const found = installedFrom(program);
  if (found !== undefined) {
    return [...sdk, ok(`pulumi-rekey is ${manifestIn(found).version}, in ${found}.`)];
  }
  const message = `Pulumi's provider host cannot find pulumi-rekey from ${program}.`;
  return [...sdk, wrong(message, howToInstall())];
}

function checkSdk(program: string): Check {
  const name = "@pulumi/pulumi";
  const fix = `Install version 3 of ${name}.`;
  let manifest: ReturnType<typeof manifestIn>;
  try {
    manifest = createRequire(join(program, "package.json"))(
      `${name}/package.json`,
    ) as typeof manifest;
  } catch {
    return wrong(`${name} is not installed for the program in ${program}.`, fix);
  }
  const { version, engines } = manifest;
  if (!version.startsWith("3.") || isOlderVersion(version, oldestPulumi)) {
    return wrong(`${name} is ${version}, but pulumi-rekey needs >=${oldestPulumi} <4.`, fix);
  }
  const { node } = process.versions;
  const [, oldestNode = "0"] = /^>=\s*([\d.]+)/.exec(engines?.node ?? "") ?? [];
  if (!isOlderVersion(node, oldestNode)) {
    if (!isOlderVersion(version, oldestForTriggers)) return ok(`${name} is ${version}.`);
    const ignored = `${name} is ${version}, which ignores the option replacementTrigger of a RotationTrigger.`;
    return { ...unchecked(ignored), fix: `If you use it, install ${oldestForTriggers} or later.` };
  }
  const orOlder = `Install that version of Node, in the pipeline too; or, for Node 20, install ${name} 3.248.0.`;
  return wrong(`${name} ${version} needs Node >=${oldestNode}, but this Node is ${node}.`, orOlder);
}

/** Where a setting comes from, and whether it can be used. A credential must be stored as a secret. */
function checkSetting(name: SettingName, { settings, stored }: Stack): Check[] {
  const key = settingKey(name);
  const found = settings.find(name);
  if (!found) {
    const { default: value } = settingOf(name);
    return value === undefined ? [] : [ok(`${key} is ${value} (default).`)];
  }
  const isStored = found.source === "configuration";
  const from = isStored ? "the stack's configuration" : (found.variable ?? "the preset");
  try {
    settings.get(name);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [wrong(`${error.problem} (from ${from}).`, error.advice)];
  }
  const isEncrypted = isStored && stored.get(key)?.secret === true;
  const hides = isCredential(name, found.value);
  if (hides && isStored && !isEncrypted) return [wrong(...plainText(name))];
  return [ok(`${key} is ${hides || isEncrypted ? "set" : found.value} (from ${from}).`)];
}

/**
 * Checks for missing settings of a service: a problem if a resource needs it, or if a part of it is set.
 *
 * @param needed by the resources of the stack; undefined if there are none yet
 */
function checkMissing(
  { settings, unread }: Stack,
  needed: ReadonlySet<AccountService> | undefined,
): Check[] {
  const users = {
    management: "rotations of an account's secrets",
    queue: "flow control and signing keys",
  };
  return services.flatMap((service) => {
    const error = settings.errorFor(service);
    if (error?.code !== "REKEY_SETTING_MISSING") return [];
    const message = `${error.problem}: needed for ${users[service]}`;
    if (unread !== undefined) return [unchecked(`${message}.`)];
    const isNeeded = needed?.has(service) || namesAccount(settings, service);
    if (isNeeded) return [wrong(`${message}.`, error.advice)];
    if (needed) return [unchecked(`${message}, which the stack does not have.`)];
    return [{ ...unchecked(`${message}.`), fix: error.advice }];
  });
}

/** Checks that the services whose settings are complete can be reached, and accept the credentials. */
async function checkServices(settings: Settings): Promise<Check[]> {
  const client = new PlatformClient(settings);
  const readQueue = async () => {
    await client.flowControl.globalParallelism();
    return "The queue accepted the token.";
  };
  return [
    ...(settings.errorFor("management") ? [] : await checkManagement(settings, client)),
    ...(settings.errorFor("queue") ? [] : [await checkRequest("A read of the queue", readQueue)]),
  ];
}

/** Reads the list of the databases, which tries the credentials; without its path, only connects. */
async function checkManagement(settings: Settings, client: PlatformClient): Promise<Check[]> {
  if (settings.find("databaseListPath") === undefined) {
    const connect = async () => {
      const address = settings.require("baseUrl");
      const connections = new Connections({
        proxy: settings.get("proxy"),
        extraCertificates: settings.get("caFile"),
      });
      (await connections.open(new URL(address), { timeoutMs: 10_000 })).destroy();
      return `A connection to ${address} was opened.`;
    };
    const untried =
      "rekey:username and rekey:password were not tried: that needs rekey:databaseListPath.";
    return [await checkRequest("A connection to rekey:baseUrl", connect), unchecked(untried)];
  }
  const tried = await checkRequest("A read of the list of databases", async () => {
    const { length } = await client.list(databasePassword);
    return `The platform accepted rekey:username and rekey:password, and lists ${length} ${length === 1 ? "database" : "databases"}.`;
  });
  return tried.state === "ok" ? [tried, ...(await checkReadOnly(client))] : [tried];
}

/** Checks whether the API key can only read, as far as a read shows it. */
async function checkReadOnly(client: PlatformClient): Promise<Check[]> {
  try {
    if (!(await client.isReadOnly())) return [];
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return [
      unchecked(`rekey:password may be read-only, which could not be checked: ${error.happened}.`),
    ];
  }
  const seen =
    "rekey:password seems to be a read-only API key: the platform shows an empty token for a queue user.";
  return [
    wrong(seen, "The platform refuses resets with it (403): use an API key that is not read-only."),
  ];
}

async function checkRequest(what: string, act: () => Promise<string>): Promise<Check> {
  try {
    return ok(await act());
  } catch (error) {
    if (error instanceof SettingsError) {
      return wrong(`${what} was not tried: ${error.problem}.`, error.advice);
    }
    if (!(error instanceof RequestError || error instanceof ConnectionError)) throw error;
    const { happened, advice } =
      error instanceof ConnectionError ? whyNotSent("management", error) : error;
    return wrong(`${what} failed: ${happened}.`, advice);
  }
}
