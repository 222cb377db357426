import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type * as zod from "zod";
import { hostTemplateProblem, isLoopback } from "../domain/endpoint";
import { pathPartProblem, didYouMean, orUndefined } from "../records/fields";

/** One setting. Its checks, the schema, docs/reference.md and the doctor derive from this. */
interface Setting {
  /** Markdown. */
  readonly description: string;
  /** The type of its value. Default: a text. */
  readonly kind?: "number";
  /** Reads the text that is set. */
  readonly schema: () => zod.ZodType;
  readonly default?: string | number;
  /** Its value must never be shown. */
  readonly secret?: true;
}

/** A setting as it is written, usable or not. */
export interface FoundSetting {
  readonly value: string;
  readonly source: "configuration" | "environment" | "preset";
  /** The environment variable, if it comes from one. */
  readonly variable?: string;
}

let loaded: typeof zod | undefined;

/** Loaded on first use: most runs of a program read no setting. */
const z = (): typeof zod => (loaded ??= require("zod") as typeof zod);

/** The values of `rekey:platform`. */
export const presetNames = ["upstash"] as const;

/** Every setting, by its short name. */
const settingTable = {
  platform: {
    description:
      "Preset of a public platform: `upstash`. It sets addresses and paths unless they are set separately.",
    schema: () =>
      textWithout((name) => {
        const known: readonly string[] = presetNames;
        if (known.includes(name)) return undefined;
        const hint = didYouMean(name, known) || `known: ${known.join(", ")}`;
        return `is not a known platform (${hint})`;
      }),
  },
  baseUrl: {
    description: "Address of the management interface: https, or http on a loopback address.",
    schema: () => address(),
  },
  queueUrl: {
    description: "Address of the message queue: https, or http on a loopback address.",
    schema: () => address(),
  },
  username: {
    description: "User name for the management interface, without a colon.",
    schema: () =>
      headerSafe().refine(
        (name) => !name.includes(":"),
        "must not contain a colon: HTTP Basic does not allow it",
      ),
  },
  password: {
    description: "Password or API key for the management interface. Secret.",
    schema: () => headerSafe(),
    secret: true,
  },
  queueToken: {
    description: "Token for the message queue. Secret.",
    schema: () => headerSafe().regex(/^[\x21-\x7e]*$/, "must be visible ASCII without spaces"),
    secret: true,
  },
  queueUserId: {
    description:
      "Id of a queue user, whose token is read with the management credentials when it is needed. It has precedence over `queueToken`.",
    schema: () => textWithout(pathPartProblem),
  },
  resetPasswordPath: {
    description: "Path for resetting a password; it contains `{id}` once.",
    schema: () => databasePath(),
    default: "/v2/keyvalue/reset-password/{id}",
  },
  databasePath: {
    description:
      "Path for reading a database; it contains `{id}` once. `none` if the platform cannot read databases.",
    schema: () => z().literal("none").or(databasePath()),
    default: "none",
  },
  databaseListPath: {
    description: "Path for listing the databases of the account.",
    schema: () => path(),
  },
  flowControlResetAction: {
    description: "Last part of the path of a flow-control reset.",
    schema: () =>
      z()
        .string()
        .regex(/^[A-Za-z][\w-]*$/, "must be one word"),
    default: "reset",
  },
  databaseHost: {
    description: "Host of a database; may contain `{endpoint}` of its record and `{id}`.",
    schema: () => textWithout(hostTemplateProblem),
    default: "{endpoint}",
  },
  deadlineSeconds: {
    description: "Seconds that one request may take, including its retries; at most 86400.",
    kind: "number",
    schema: () => {
      const seconds = z()
        .number()
        .positive("must be above 0")
        .max(86_400, "must be at most 86400 (a day)");
      return number(seconds, "must be a number of seconds");
    },
    default: 60,
  },
  maxConcurrency: {
    description: "Maximum number of concurrent requests.",
    kind: "number",
    schema: () => number(z().int("must be a whole number").min(1, "must be at least 1")),
    default: 8,
  },
  requestsPerSecond: {
    description: "Maximum number of requests started per second; may be below 1.",
    kind: "number",
    schema: () => {
      const rate = z().number().positive("must be above 0");
      return number(rate.min(1 / 86_400, "must be at least one a day"));
    },
  },
  maxResetsPerRun: {
    description:
      "Maximum number of resets and turns of triggers in one run; further ones are refused and not made. A turn that only `rotateEvery` calls for waits.",
    kind: "number",
    schema: () => number(z().int("must be a whole number").min(0, "must not be negative")),
  },
  scheduledResets: {
    description:
      "`on`, or `off` for a run that postpones resets that only `rotateEvery` calls for.",
    schema: () => z().enum(["on", "off"], 'must be "on" or "off"'),
    default: "on",
  },
  proxy: {
    description: "URL of an HTTP proxy for https; use `--secret` if it contains a password.",
    schema: () => textWithout(proxyProblem),
  },
  caFile: {
    description: "File with certificates (PEM) to trust in addition to those that Node trusts.",
    schema: () => z().string().transform(certificatesIn),
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof settingTable;
/** The value that is read, or the default; undefined if it has none and is not set. */
export type SettingValue<N extends SettingName> =
  | zod.infer<ReturnType<(typeof settingTable)[N]["schema"]>>
  | ((typeof settingTable)[N] extends { default: unknown } ? never : undefined);

export const settingNames = Object.keys(settingTable) as SettingName[];

export function settingOf(name: SettingName): Setting {
  return settingTable[name];
}

/** True if a value must not be stored in plain text. The URL of a proxy may contain a password. */
export function isCredential(name: SettingName, value: string): boolean {
  return settingOf(name).secret === true || (name === "proxy" && /[@?#]/.test(value));
}

/** The name in the stack's configuration. */
export function settingKey(name: SettingName): string {
  return `rekey:${name}`;
}

export function environmentName(name: SettingName): string {
  return `REKEY_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

const filled = () => z().string().min(1, "must not be empty");
const path = () =>
  filled()
    .startsWith("/", "must begin with /")
    .regex(/^[^?#]*$/, "must not contain a query or a fragment, which would not be sent");
const databasePath = () =>
  path().refine((template) => template.split("{id}").length === 2, "must contain {id} once");
const headerSafe = () => filled().regex(/^[^\r\n\0]*$/, "must not contain line breaks");

/** A text, by a function that returns why it cannot be used, if it cannot. */
function textWithout(problemOf: (text: string) => string | undefined) {
  return z()
    .string()
    .superRefine((text, context) => {
      const problem = problemOf(text);
      if (problem !== undefined) context.addIssue(problem);
    });
}

/** A number of some kind. JavaScript reads an empty text as 0. */
function number<T extends zod.ZodNumber>(kind: T, message = "must be a number") {
  return z().string().regex(/\S/, message).pipe(z().coerce.number(message)).pipe(kind);
}

const address = () => textWithout(addressProblem).transform(normalizedAddress);

/** As it is used: as written, it may contain spaces or end in a question mark. */
export function normalizedAddress(written: string): string {
  const { origin, pathname } = new URL(written);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** Problems with an address, and how each is recognized; the first one counts. */
const addressProblems: Readonly<Record<string, (url: URL) => boolean>> = {
  "must begin with https://": ({ protocol }) => !["https:", "http:"].includes(protocol),
  "must begin with https://, because credentials would be sent in plain text (http is allowed for this machine only)":
    ({ protocol, hostname }) => protocol === "http:" && !isLoopback(hostname),
  "must not contain credentials": ({ username, password }) => username !== "" || password !== "",
  "must not contain a query or a fragment": ({ search, hash }) => search !== "" || hash !== "",
};

/** Why credentials cannot be sent to an address, if they cannot. */
export function addressProblem(written: string): string | undefined {
  if (!URL.canParse(written)) return "is not a URL";
  const url = new URL(written);
  return Object.keys(addressProblems).find((problem) => addressProblems[problem]?.(url));
}

function proxyProblem(written: string): string | undefined {
  if (!URL.canParse(written) || !/^https?:/i.test(written.trim())) {
    return "must be an http or https URL";
  }
  const { username, password } = new URL(written);
  const isEncoded = [username, password].every(
    (part) => orUndefined(() => decodeURIComponent(part)) !== undefined,
  );
  return isEncoded
    ? undefined
    : "has a user or password with a percent sign that is not written as %25";
}

function certificatesIn(file: string, context: zod.RefinementCtx): string {
  const refuse = (problem: string) => {
    context.addIssue(problem);
    return z().NEVER;
  };
  let text: string;
  try {
    // Reading a pipe or a device may never end.
    if (!statSync(file).isFile()) return refuse("is not a file");
    text = readFileSync(file, "utf8");
  } catch (error) {
    return refuse(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const certificate = orUndefined(() => new X509Certificate(text));
  return certificate === undefined ? refuse("contains no PEM certificate") : text;
}

/** The words for a name that is not one of the settings, with the closest one. */
export function notASetting(name: string, known: readonly string[]): string {
  const question = didYouMean(name, known);
  return `${name} is not a setting of pulumi-rekey${question && ` (${question})`}`;
}

/** Warnings about settings that do not exist: without them, a mistyped limit is silently off. */
export function unknownSettings(
  configurationKeys: readonly string[],
  environment: NodeJS.ProcessEnv,
): string[] {
  const [keys, variables] = [settingNames.map(settingKey), settingNames.map(environmentName)];
  const unknownKeys = configurationKeys.filter(
    (key) => key.startsWith("rekey:") && !keys.includes(key),
  );
  // Others may have variables with the same beginning, so only those count that are close to one of Rekey's.
  const unknownVariables = Object.keys(environment).filter(
    (name) =>
      name.startsWith("REKEY_") && !variables.includes(name) && didYouMean(name, variables) !== "",
  );
  const isUnused = "and has no effect. Fix its name, or";
  return [
    ...unknownKeys.map(
      (key) => `${notASetting(key, keys)}, ${isUnused} run \`pulumi config rm ${key}\`.`,
    ),
    ...unknownVariables.map((name) => `${notASetting(name, variables)}, ${isUnused} unset it.`),
  ];
}

/** The problem of a credential that the stack's configuration has in plain text, and its fix. */
export function plainText(name: SettingName): [problem: string, fix: string] {
  const key = settingKey(name);
  return [
    `${key} is stored in plain text in the stack's configuration.`,
    `Run \`pulumi config set --secret ${key}\`. If others can read the file, replace the credential at its issuer.`,
  ];
}
