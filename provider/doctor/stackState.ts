import { readFileSync } from "node:fs";
import { isDefaultProvider } from "../engine/plugin/config";
import {
  type AccountService,
  type SecretKind,
  type Subject,
  databasePassword,
  kindNamed,
} from "../domain/secretKind";
import { isObject, isSet, orUndefined } from "../records/fields";
import { environmentOfProvider, type Lookup, Settings } from "../settings/settings";
import {
  alsoValid,
  isTime,
  listOf,
  objectOf,
  type ValidFormer,
  validFormerOf,
  type Values,
  waitsForDelete,
} from "./overlaps";
import { runPulumi, type Stack } from "./project";

/** Where the value of a secret is saved. A fleet encrypts its values as one text: it is what its arguments declare. */
export type SavedValue = `${"in the state" | "age file only" | "mark only"}${"" | " (declared)"}`;

/** A secret that a resource of a stack rotates, as the state shows it without its secrets. */
export interface RotatedSecret extends Subject {
  /** `PasswordRotation "sessions"` */
  readonly resource: string;
  /** Time of its last confirmed reset in milliseconds; for signing keys, since when the current key exists. */
  readonly rotatedAt: number | undefined;
  /** The former one, if it is still valid. */
  readonly former?: ValidFormer | undefined;
  /** Secrets that are valid, too, and were not handed out: `passwords that Rekey does not know: 2 at the last read` */
  readonly alsoValid: readonly string[];
  readonly value: SavedValue;
  /** The settings of its provider, as far as they are known. */
  readonly settings: Settings;
}

/** A state as `pulumi stack export` writes it. */
export interface ExportedState {
  /** The name of the stack, or the file with its exported state. */
  readonly name: string;
  readonly resources: readonly Values[];
  /** Operations that a run has begun and not ended: `{ type: "creating", resource }`. */
  readonly operations?: readonly Values[];
  /** When a run has saved something last (ISO 8601). */
  readonly savedAt?: unknown;
  /** Why it was not read, and has no resources here. */
  readonly unread?: string | undefined;
}

/** The secrets that the resources of a stack rotate. */
export interface StackState extends Pick<ExportedState, "name" | "unread"> {
  readonly rotated: readonly RotatedSecret[];
}

/** Reads the state of a stack with `pulumi stack export`. */
export function exportStack(directory: string, name: string): ExportedState {
  const args = ["stack", "export", "--stack", name];
  const { text = "", error = "the pulumi CLI printed no state" } = runPulumi(directory, ...args);
  const unread = `The state of ${name} was not read: ${error}.`;
  return exportedIn(name, text) ?? { name, resources: [], unread };
}

/** Reads a file that `pulumi stack export` has written. What is wrong with it is said without a part of it. */
export function readStateFile(name: string): ExportedState {
  let why = `is not an exported state: \`pulumi stack export --file ${name}\` writes one`;
  try {
    const state = exportedIn(name, readFileSync(name, "utf8"));
    if (state) return state;
  } catch (error) {
    why = `cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
  return { name, resources: [], unread: `--state ${name} ${why}` };
}

/**
 * The secrets that the resources of an exported state rotate.
 *
 * @param own the stack itself if its settings were read, too: its default providers have them
 */
export function stackStateOf({ name, resources, unread }: ExportedState, own?: Stack): StackState {
  const providers = providersIn(resources);
  const settings = new Map(providers.map((one) => [referenceOf(one), settingsIn(one, own)]));
  const unknown = new Settings(() => undefined);
  const rotated = resources
    // One that is only to be deleted was replaced.
    .filter((one) => !waitsForDelete(one))
    .flatMap((one) => secretsOf(one, settings.get(String(one["provider"])) ?? unknown, resources));
  return { name, unread, rotated };
}

/**
 * The services that the resources of a stack need, as its state shows it. Those of explicit providers have settings of
 * their own. Undefined if the state was not read, or has no resource of Rekey.
 */
export function neededServices(
  directory: string,
  name: string,
): ReadonlySet<AccountService> | undefined {
  const { resources } = exportStack(directory, name);
  const own = resources.filter((one) => typeOf(one) !== undefined);
  if (own.length === 0) return undefined;
  const explicit = providersIn(resources).filter((one) => !hasStackSettings(one));
  const references = explicit.map(referenceOf);
  const needing = own.filter(({ provider }) => !references.includes(String(provider)));
  const services = needing.map((one) =>
    typeOf(one)?.startsWith("FlowControl") ? "queue" : rotatedKind(one)?.service,
  );
  return new Set(services.filter(isSet));
}

function providersIn(resources: readonly Values[]): readonly Values[] {
  return resources.filter(({ type }) => String(type).startsWith("pulumi:providers:"));
}

/** True for the provider of the SDK, and for those that the engine makes for the plugin. */
function hasStackSettings({ type, urn, inputs }: Values): boolean {
  const isOfSdk = type === "pulumi:providers:pulumi-nodejs";
  return isOfSdk || isDefaultProvider(String(urn), objectOf(inputs)["version"]);
}

/** By which a resource refers to its provider. */
function referenceOf({ urn, id }: Values): string {
  return `${String(urn)}::${String(id)}`;
}

/** The name of a class of Rekey; undefined for a resource of another package. */
export function typeOf({ type }: Values): string | undefined {
  return /^(?:pulumi-nodejs:dynamic\/rekey|rekey:index):(\w+)$/.exec(String(type))?.[1];
}

const fleet = "PasswordRotationFleet";

/** The kind of secret that a resource rotates; undefined if it rotates none. */
function rotatedKind(saved: Values): SecretKind | undefined {
  const type = typeOf(saved);
  return type === fleet ? databasePassword : kindNamed(type);
}

/** The content of an exported state; undefined if the text is none. A stack without resources has no list. */
export function exportedIn(name: string, text: string): ExportedState | undefined {
  const exported = orUndefined(() => JSON.parse(text) as unknown);
  if (!isObject(exported) || !("deployment" in exported)) return undefined;
  const deployment = exported["deployment"] ?? {};
  if (!isObject(deployment)) return undefined;
  const { resources = [], pending_operations: operations, manifest } = deployment;
  if (!Array.isArray(resources)) return undefined;
  return {
    name,
    resources: resources.map(objectOf),
    operations: listOf(operations).map(objectOf),
    savedAt: objectOf(manifest)["time"],
  };
}

/** `PasswordRotation "sessions"` */
export function resourceNamed(saved: Values): string {
  const name = String(saved["urn"]).split("::").slice(3).join("::");
  return `${typeOf(saved) ?? String(saved["type"])} ${JSON.stringify(name)}`;
}

/** The secrets that one resource rotates. */
function secretsOf(
  saved: Values,
  settings: Settings,
  resources: readonly Values[],
): RotatedSecret[] {
  const kind = rotatedKind(saved);
  if (kind === undefined) return [];
  const secretIn = (values: Values, id: unknown, value: SavedValue): RotatedSecret => {
    // Of two keys, the next one is younger; a next token may be older.
    const time = values[kind.outputs?.includes("generatedAt") ? "generatedAt" : "rotatedAt"];
    return {
      kind,
      id: String(id),
      resource: resourceNamed(saved),
      rotatedAt: isTime(time) ? Date.parse(time) : undefined,
      former: validFormerOf(saved, resources),
      alsoValid: alsoValid(values),
      value,
      settings,
    };
  };
  const outputs = objectOf(saved["outputs"]);
  const { encryptedCredentials } = outputs;
  if (typeOf(saved) === fleet) {
    const files = objectOf(encryptedCredentials);
    const isSaved = objectOf(saved["inputs"])["saveCredentials"] !== false;
    return Object.entries(objectOf(outputs["states"])).map(([database, state]) => {
      const values = objectOf(state);
      const value = savedValue(isSaved, files[database]);
      return secretIn(values, values["databaseId"], `${value} (declared)`);
    });
  }
  const credentials = Object.values(kind.table.credentials);
  const isSaved = credentials.some((credential) => isSet(outputs[credential]));
  return [secretIn(outputs, saved["id"], savedValue(isSaved, encryptedCredentials))];
}

function savedValue(isSaved: boolean, file: unknown) {
  if (isSaved) return "in the state";
  return typeof file === "string" ? "age file only" : "mark only";
}

/** The settings of a provider, as far as they are known. Those of a stack have their full names there. */
function settingsIn(provider: Values, own: Stack | undefined): Settings {
  const args = objectOf(provider["inputs"]);
  const saved = (name: string) => args[`rekey:${name}`] ?? args[name];
  const plain: Lookup = (name) => {
    const value = saved(name);
    return typeof value === "string" ? value : undefined;
  };
  if (own === undefined) return new Settings(plain);
  if (hasStackSettings(provider)) {
    // Values that are secret, or come from the environment, are taken to be the same as now.
    return new Settings((name) => plain(name) ?? own.settings.find(name)?.value);
  }
  // A secret one is set, too.
  const written: Lookup = (name) => plain(name) ?? (saved(name) === undefined ? undefined : "");
  return new Settings(plain, environmentOfProvider(written, process.env));
}
