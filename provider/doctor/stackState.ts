import { type SecretKind } from "../platform/secretKind";
import { credentialNames } from "../records/credentials";
import { isObject } from "../records/fields";
import { databasePassword } from "../rotation/kinds/databasePassword";
import { kinds } from "../rotation/kinds/kinds";
import { type SettingName } from "../settings/table";
import { type Project } from "../settings/project";
import { runPulumi } from "./pulumiCli";

type Values = Readonly<Record<string, unknown>>;

/** How the state of a stack has the credentials of a secret, the most readable first. */
export const forms = ["saved", "may be saved", "for recipients only", "marks only", "none"] as const;
type Form = (typeof forms)[number];

/** A secret that a resource of a stack rotates, as the state shows it without its secrets. */
export interface RotatedSecret {
  readonly kind: SecretKind;
  readonly id: string;
  /** `PasswordRotation "sessions"` */
  readonly resource: string;
  /** Time of its last confirmed reset as it is saved; for signing keys, since when the current key exists. */
  readonly rotatedAt: unknown;
  /** Whether the result of its last reset is unknown. */
  readonly isUnconfirmed: boolean;
  /** How the state has its credentials. */
  readonly inState: Form;
  /** The settings of its provider, as far as they are saved in plain text. */
  readonly settings: (name: SettingName) => string | undefined;
}

/** The secrets that a stack rotates. */
export interface StackState {
  readonly rotated: readonly RotatedSecret[];
  /** The fleets of which the state shows no databases, because they are encrypted. */
  readonly unreadable: readonly string[];
}

/** Reads the state of a stack with `pulumi stack export`, without its secrets. @returns why not, if it fails */
export function readStackState(project: Project, stack: string): StackState | string {
  const printed = runPulumi(project.directory, "stack", "export", "--stack", stack);
  if (printed === undefined) return "The state was not read, because there is no pulumi CLI on PATH.";
  if ("error" in printed) return `\`pulumi stack export\` failed: ${printed.error}.`;
  try {
    return rotatedIn(JSON.parse(printed.text));
  } catch {
    return "`pulumi stack export` did not print a state.";
  }
}

const typeName = /^(?:pulumi-nodejs:dynamic\/rekey|rekey:index):(\w+)$/;

/** The secrets that the resources of an exported state rotate. @throws Error if it is not a state */
export function rotatedIn(exported: unknown): StackState {
  const deployment = isObject(exported) ? exported["deployment"] : undefined;
  if (!isObject(deployment)) throw new Error("not an exported state");
  // A stack without resources has no list.
  const resources = listIn(deployment, "resources");
  const byReference = new Map(resources.map((one) => [`${String(one["urn"])}::${String(one["id"])}`, one]));
  const rotated: RotatedSecret[] = [];
  const unreadable = new Set<string>();
  for (const resource of resources) {
    const [, type = ""] = typeName.exec(String(resource["type"])) ?? [];
    // One that is only to be deleted was replaced.
    if (resource["delete"] === true) continue;
    const settings = settingsOf(byReference.get(String(resource["provider"])));
    const outputs = objectIn(resource, "outputs");
    if (type === "PasswordRotationShard") {
      const name = nameOf("PasswordRotationFleet", resource["parent"]);
      if (!Array.isArray(outputs["rotations"])) unreadable.add(name);
      for (const rotation of listIn(outputs, "rotations")) {
        rotated.push({
          ...rotatedSecret(databasePassword, rotation["databaseId"], rotation),
          resource: name,
          settings,
          inState: formInShard(objectIn(resource, "inputs"), rotation),
        });
      }
    } else if (Object.hasOwn(kinds, type)) {
      const secret = rotatedSecret(kinds[type as keyof typeof kinds], resource["id"], outputs);
      rotated.push({ ...secret, resource: nameOf(type, resource["urn"]), settings });
    }
  }
  return { rotated, unreadable: [...unreadable] };
}

function rotatedSecret(kind: SecretKind, id: unknown, outputs: Values) {
  return {
    kind,
    id: String(id),
    // Of two keys, the next one is younger.
    rotatedAt: outputs[kind.minInterval === undefined ? "rotatedAt" : "currentKeySince"],
    isUnconfirmed: outputs["outcome"] === "unknown",
    inState: formIn(outputs),
  };
}

function formIn(outputs: Values): Form {
  const has = (name: string) => outputs[name] !== undefined;
  if ([...credentialNames, "connectionUrl", "otherFields", "baseline"].some(has)) return "saved";
  if (has("encryptedCredentials")) return "for recipients only";
  return has("currentMarks") ? "marks only" : "none";
}

/**
 * The values and marks of a fleet are in one encrypted text. Its inputs show that no value is there, unless a database
 * failed or its credentials could not be encrypted.
 */
function formInShard({ saveCredentials, encryptFor }: Values, rotation: Values): Form {
  const { problem, encryptedCredentials } = rotation;
  if (saveCredentials !== false || problem !== undefined) return "may be saved";
  if (encryptedCredentials !== undefined) return "for recipients only";
  return encryptFor === undefined ? "marks only" : "may be saved";
}

/** The settings of a provider. Those of a stack have their full names there. */
function settingsOf(provider: Values = {}): RotatedSecret["settings"] {
  const inputs = objectIn(provider, "inputs");
  return (name) => {
    const value = inputs[`rekey:${name}`] ?? inputs[name];
    return typeof value === "string" ? value : undefined;
  };
}

function nameOf(type: string, urn: unknown): string {
  return `${type} ${JSON.stringify(String(urn).split("::").slice(3).join("::"))}`;
}

function listIn(values: Values, name: string): Values[] {
  const list = values[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function objectIn(values: Values, name: string): Values {
  const value = values[name];
  return isObject(value) ? value : {};
}
