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
} from "../engine/installedPackage";
import { PlatformClient } from "../run/platformClient";
import { databasePassword } from "../domain/secretKind";
import { type Settings } from "../settings/settings";
import {
  type FoundSetting,
  isCredential,
  settingKey,
  type SettingName,
  settingNames,
  settingOf,
  plainText,
  unknownSettings,
} from "../settings/table";
import { type Project, type Stack } from "./project";
import { namesAccount, type Service, services } from "./services";

export interface Check {
  /** `unchecked` if no problem was seen, but there may be one. */
  readonly state: "ok" | "unchecked" | "wrong";
  readonly message: string;
  /** How to fix the problem, unless the message says it. */
  readonly fix?: string;
}

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
  needed: ReadonlySet<Service> | undefined,
  databaseId?: string,
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
    ...(await checkServices(stack.settings, databaseId)),
  ];
}

/** The packages that the program needs, and where they are found. */
export function checkInstallation({ program, runtime, usesPlugin }: Project): Check[] {
  const inPlugin =
    "The plugin was not checked: `pulumi plugin ls` lists it if it is installed, unless Pulumi.yaml names its folder.";
  return [
    ...(runtime === "nodejs" ? [checkSdk(program)] : []),
    usesPlugin ? unchecked(inPlugin) : checkPackage(program),
  ];
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
  if (!isOlderVersion(node, oldestNode)) return ok(`${name} is ${version}.`);
  const orOlder = `Install that version of Node, in the pipeline too; or, for Node 20, install ${name} 3.248.0.`;
  return wrong(`${name} ${version} needs Node >=${oldestNode}, but this Node is ${node}.`, orOlder);
}

function checkPackage(program: string): Check {
  const found = installedFrom(program);
  if (found !== undefined) return ok(`pulumi-rekey is ${manifestIn(found).version}, in ${found}.`);
  return wrong(`Pulumi's provider host cannot find pulumi-rekey from ${program}.`, howToInstall());
}

/** Where a setting comes from, and whether it can be used. */
function checkSetting(name: SettingName, stack: Stack): Check[] {
  const found = stack.settings.find(name);
  const { default: value } = settingOf(name);
  if (found) return [checkValue(name, found, stack) ?? checkSecrecy(name, found, stack)];
  return value === undefined ? [] : [ok(`${settingKey(name)} is ${value} (default).`)];
}

/** What is wrong with a setting, if its value cannot be used. */
function checkValue(
  name: SettingName,
  found: FoundSetting,
  { settings }: Stack,
): Check | undefined {
  try {
    settings.get(name);
    return undefined;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return wrong(`${error.problem} (from ${sourceOf(found)}).`, error.advice);
  }
}

function sourceOf({ source, variable = "the preset" }: FoundSetting): string {
  return source === "configuration" ? "the stack's configuration" : variable;
}

/** Whether a setting is stored as a secret if it is one; otherwise its value. */
function checkSecrecy(name: SettingName, found: FoundSetting, { stored }: Stack): Check {
  const key = settingKey(name);
  const isStored = found.source === "configuration";
  const isEncrypted = isStored && stored.get(key)?.secret === true;
  const hides = isCredential(name, found.value);
  if (hides && isStored && !isEncrypted) return wrong(...plainText(name));
  return ok(`${key} is ${hides || isEncrypted ? "set" : found.value} (from ${sourceOf(found)}).`);
}

/**
 * What is missing of a service: a problem if a resource needs it, or if a part of it is set.
 *
 * @param needed by the resources of the stack; undefined if there are none yet
 */
function checkMissing(
  { settings, unread }: Stack,
  needed: ReadonlySet<Service> | undefined,
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

/** Whether the services whose settings are complete can be reached, and accept the credentials. */
async function checkServices(settings: Settings, databaseId: string | undefined): Promise<Check[]> {
  const client = new PlatformClient(settings);
  const readQueue = async () => {
    await client.flowControl.globalParallelism();
    return "The queue accepted the token.";
  };
  return [
    ...(settings.errorFor("management") ? [] : await checkManagement(settings, client, databaseId)),
    ...(settings.errorFor("queue") ? [] : [await checkRequest("A read of the queue", readQueue)]),
  ];
}

async function checkManagement(
  settings: Settings,
  client: PlatformClient,
  databaseId: string | undefined,
): Promise<Check[]> {
  const read = managementRead(settings, client, databaseId);
  if (read === undefined) {
    const untried =
      "rekey:username and rekey:password were not tried: that needs rekey:databaseListPath, or rekey:databasePath and --database <id>.";
    return [
      await checkRequest("A connection to rekey:baseUrl", () => connect(settings)),
      unchecked(untried),
    ];
  }
  const tried = await checkRequest(`A read of ${read.what}`, async () => {
    return `The platform accepted rekey:username and rekey:password, and ${await read.send()}.`;
  });
  return tried.state === "ok" ? [tried, ...(await checkReadOnly(client))] : [tried];
}

/** The read that tries the management credentials; undefined if no setting has the path of one. */
function managementRead(
  settings: Settings,
  client: PlatformClient,
  databaseId: string | undefined,
) {
  const isSet = (name: "databasePath" | "databaseListPath") =>
    !["none", undefined].includes(settings.find(name)?.value);
  if (databaseId !== undefined && isSet("databasePath")) {
    const database = `database ${JSON.stringify(databaseId)}`;
    const send = async () => {
      await client.operations(databasePassword).read(databaseId, { hideCredentials: true });
      return `has ${database}`;
    };
    return { what: database, send };
  }
  if (databaseId !== undefined || !isSet("databaseListPath")) return undefined;
  const send = async () => {
    const { length } = await client.list(databasePassword);
    return `lists ${length} ${length === 1 ? "database" : "databases"}`;
  };
  return { what: "the list of databases", send };
}

/** Whether the API key can only read, as far as a read shows it. */
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

async function connect(settings: Settings): Promise<string> {
  const address = settings.require("baseUrl");
  const proxy = settings.proxyFor(address);
  const connections = new Connections({ proxy, extraCertificates: settings.get("caFile") });
  (await connections.open(new URL(address), { timeoutMs: 10_000 })).destroy();
  return `A connection to ${address} was opened.`;
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
