import { type SecretKind, type Subject, databasePassword, kinds } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { isSecret } from "../records/properties";
import { type Lookup } from "../settings/settings";
import { type Project } from "./project";
import { runPulumi } from "./stack";

type Values = Readonly<Record<string, unknown>>;

/** A secret that a resource of a stack rotates, as the state shows it without its secrets. */
export interface RotatedSecret extends Subject {
  /** `PasswordRotation "sessions"` */
  readonly resource: string;
  /** Time of its last confirmed reset as it is saved; for signing keys, since when the current key exists. */
  readonly rotatedAt: unknown;
  /** Whether the result of its last reset is unknown. */
  readonly isUnconfirmed: boolean;
  /** The settings of its provider, as far as they are saved in plain text. */
  readonly settings: Lookup;
}

/** Reads the state of a stack with `pulumi stack export`, without its secrets. @returns why not, if it fails */
export function readStackState(project: Project, stack: string): RotatedSecret[] | string {
  const printed = runPulumi(project, "stack", "export", "--stack", stack);
  if ("error" in printed) return `The state was not read: ${printed.error}.`;
  try {
    return rotatedIn(JSON.parse(printed.text));
  } catch {
    return "The state was not read: `pulumi stack export` did not print one.";
  }
}

const typeName = /^(?:pulumi-nodejs:dynamic\/rekey|rekey:index):(\w+)$/;

/** The secrets that the resources of an exported state rotate. @throws Error if it is not a state */
export function rotatedIn(exported: unknown): RotatedSecret[] {
  const deployment = isObject(exported) ? exported["deployment"] : undefined;
  if (!isObject(deployment)) throw new Error("not an exported state");
  // A stack without resources has no list.
  const listed = deployment["resources"];
  const resources = Array.isArray(listed) ? listed.filter(isObject) : [];
  const byReference = new Map(resources.map((one) => [`${String(one["urn"])}::${String(one["id"])}`, one]));
  // One that is only to be deleted was replaced.
  return resources
    .filter((one) => one["delete"] !== true)
    .flatMap((saved) => {
      const [, type = ""] = typeName.exec(String(saved["type"])) ?? [];
      const name = String(saved["urn"]).split("::").slice(3).join("::");
      const outputs = objectOf(saved["outputs"]);
      const settings = settingsOf(byReference.get(String(saved["provider"])));
      const secretOf = (kind: SecretKind, id: unknown, state: Values): RotatedSecret => ({
        kind,
        id: String(id),
        resource: `${type} ${JSON.stringify(name)}`,
        // Of two keys, the next one is younger.
        rotatedAt: state[kind.onlyId === undefined ? "rotatedAt" : "currentKeySince"],
        isUnconfirmed: state["outcome"] === "unknown",
        settings,
      });
      if (type === "PasswordRotationFleet") {
        const states = Object.values(objectOf(outputs["states"])).map(objectOf);
        return states.map((state) => secretOf(databasePassword, state["databaseId"], state));
      }
      return Object.hasOwn(kinds, type) ? [secretOf(kinds[type as keyof typeof kinds], saved["id"], outputs)] : [];
    });
}

/** The settings of a provider. Those of a stack have their full names there. */
function settingsOf(provider: Values = {}): Lookup {
  const inputs = objectOf(provider["inputs"]);
  return (name) => {
    const value = inputs[`rekey:${name}`] ?? inputs[name];
    return typeof value === "string" ? value : undefined;
  };
}

/** An object in plain text. */
function objectOf(value: unknown): Values {
  return isObject(value) && !isSecret(value) ? value : {};
}
