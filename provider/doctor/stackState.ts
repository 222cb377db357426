import { type SecretKind, type Subject, databasePassword, kinds, type RotationType } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { isSecret } from "../records/properties";
import { Settings } from "../settings/settings";
import { type Project, runPulumi, type Stack } from "./project";

type Values = Readonly<Record<string, unknown>>;

/** A secret that a resource of a stack rotates, as the state shows it without its secrets. */
export interface RotatedSecret extends Subject {
  /** `PasswordRotation "sessions"` */
  readonly resource: string;
  /** Time of its last confirmed reset in milliseconds; for signing keys, since when the current key exists. */
  readonly rotatedAt: number | undefined;
  /** The settings of its provider, as far as they are saved in plain text. */
  readonly settings: Settings;
}

/** Reads the state of a stack with `pulumi stack export`, without its secrets. @returns why not, if it fails */
export function readStackState(project: Project, { name }: Stack): RotatedSecret[] | string {
  const printed = runPulumi(project, "stack", "export", "--stack", name);
  return "text" in printed ? rotatedIn(JSON.parse(printed.text)) : `The state was not read: ${printed.error}.`;
}

const typeName = /^(?:pulumi-nodejs:dynamic\/rekey|rekey:index):(\w+)$/;

/** The secrets that the resources of an exported state rotate. */
export function rotatedIn(exported: unknown): RotatedSecret[] {
  // A stack without resources has no list.
  const listed = objectOf(objectOf(exported)["deployment"])["resources"];
  const resources = Array.isArray(listed) ? listed.map(objectOf) : [];
  const byReference = new Map(resources.map((one) => [`${String(one["urn"])}::${String(one["id"])}`, one]));
  // One that is only to be deleted was replaced.
  return resources
    .filter((one) => one["delete"] !== true)
    .flatMap((saved) => {
      const [, type = ""] = typeName.exec(String(saved["type"])) ?? [];
      const name = String(saved["urn"]).split("::").slice(3).join("::");
      const outputs = objectOf(saved["outputs"]);
      const settings = settingsIn(objectOf(byReference.get(String(saved["provider"]))?.["inputs"]));
      const secretOf = (kind: SecretKind, id: unknown, state: Values): RotatedSecret => {
        // Of two keys, the next one is younger.
        const time = state[kind.onlyId === undefined ? "rotatedAt" : "currentKeySince"];
        return {
          kind,
          id: String(id),
          resource: `${type} ${JSON.stringify(name)}`,
          rotatedAt: millisecondsIn(time),
          settings,
        };
      };
      if (type === "PasswordRotationFleet") {
        const states = Object.values(objectOf(outputs["states"])).map(objectOf);
        return states.map((state) => secretOf(databasePassword, state["databaseId"], state));
      }
      return Object.hasOwn(kinds, type) ? [secretOf(kinds[type as RotationType], saved["id"], outputs)] : [];
    });
}

/** The settings of a provider. Those of a stack have their full names there. */
function settingsIn(inputs: Values): Settings {
  return new Settings((name) => {
    const value = inputs[`rekey:${name}`] ?? inputs[name];
    return typeof value === "string" ? value : undefined;
  });
}

/** A saved time; undefined if it is damaged: of a part of it, an earlier one could be read. */
function millisecondsIn(time: unknown): number | undefined {
  const read = new Date(typeof time === "string" ? time : NaN);
  return Number.isNaN(read.getTime()) || read.toISOString() !== time ? undefined : read.getTime();
}

/** An object in plain text. */
function objectOf(value: unknown): Values {
  return isObject(value) && !isSecret(value) ? value : {};
}
