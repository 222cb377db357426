import { type SecretKind, type Subject } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { isSecret } from "../records/properties";
import { databasePassword } from "../rotation/kinds/databasePassword";
import { kinds } from "../rotation/kinds/kinds";
import { type Project } from "../settings/project";
import { type SettingName } from "../settings/table";
import { runPulumi } from "./pulumiCli";

type Values = Readonly<Record<string, unknown>>;

/** How the state of a stack has the credentials of a secret, the most readable first. */
export const forms = ["saved", "may be saved", "for recipients only", "none"] as const;

/** A secret that a resource of a stack rotates, as the state shows it without its secrets. */
export interface RotatedSecret extends Subject {
  /** `PasswordRotation "sessions"` */
  readonly resource: string;
  /** Time of its last confirmed reset as it is saved; for signing keys, since when the current key exists. */
  readonly rotatedAt: unknown;
  /** Whether the result of its last reset is unknown. */
  readonly isUnconfirmed: boolean;
  readonly inState: (typeof forms)[number];
  /** The settings of its provider, as far as they are saved in plain text. */
  readonly settings: (name: SettingName) => string | undefined;
}

/** Reads the state of a stack with `pulumi stack export`, without its secrets. @returns why not, if it fails */
export function readStackState(project: Project, stack: string): RotatedSecret[] | string {
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
export function rotatedIn(exported: unknown): RotatedSecret[] {
  const deployment = isObject(exported) ? exported["deployment"] : undefined;
  if (!isObject(deployment)) throw new Error("not an exported state");
  // A stack without resources has no list.
  const listed = deployment["resources"];
  const resources = Array.isArray(listed) ? listed.filter(isObject) : [];
  const byReference = new Map(resources.map((one) => [`${String(one["urn"])}::${String(one["id"])}`, one]));
  return resources.flatMap((saved): RotatedSecret[] => {
    const [, type = ""] = typeName.exec(String(saved["type"])) ?? [];
    const outputs = objectOf(saved["outputs"]);
    const has = (name: string) => outputs[name] !== undefined;
    const secretOf = (
      kind: SecretKind,
      id: unknown,
      state: Values,
      inState: RotatedSecret["inState"],
    ): RotatedSecret => ({
      kind,
      id: String(id),
      resource: `${type} ${JSON.stringify(String(saved["urn"]).split("::").slice(3).join("::"))}`,
      // Of two keys, the next one is younger.
      rotatedAt: state[kind.onlyId === undefined ? "rotatedAt" : "currentKeySince"],
      isUnconfirmed: state["outcome"] === "unknown",
      inState,
      settings: settingsOf(byReference.get(String(saved["provider"]))),
    });
    // One that is only to be deleted was replaced.
    if (saved["delete"] === true) return [];
    if (type === "PasswordRotationFleet") {
      const files = objectOf(outputs["encryptedCredentials"]);
      const isHidden = objectOf(saved["inputs"])["saveCredentials"] === false;
      return Object.entries(objectOf(outputs["states"])).map(([name, one]) => {
        const state = objectOf(one);
        // The credentials of all its databases are one secret, so which of them it contains is not seen.
        const isOnlyFile = isHidden && files[name] !== undefined && state["error"] === undefined;
        return secretOf(
          databasePassword,
          state["databaseId"],
          state,
          isOnlyFile ? "for recipients only" : "may be saved",
        );
      });
    }
    if (!Object.hasOwn(kinds, type)) return [];
    const kind = kinds[type as keyof typeof kinds];
    const isSaved = [...Object.values(kind.table.credentials), "connectionUrl", "otherFields"].some(has);
    const form = isSaved ? "saved" : has("encryptedCredentials") ? "for recipients only" : "none";
    return [secretOf(kind, saved["id"], outputs, form)];
  });
}

/** The settings of a provider. Those of a stack have their full names there. */
function settingsOf(provider: Values = {}): RotatedSecret["settings"] {
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
