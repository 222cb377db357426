import { markAccount } from "../../provider/run";
import { join } from "node:path";
import { type Fault } from "../../local/platform/index";
import { projectRoot } from "./host";
import { packageVersion } from "../../provider/platform/version";

/** A call between the engine and the plugin, as the engine logs it. */
export interface RecordedCall {
  readonly method: string;
  readonly request: object;
  readonly response?: object;
  /** The message of a failed call. */
  readonly error?: string;
  /** How many calls to the plugin had started when this one ended. */
  readonly until: number;
}

/** A command of the CLI. */
export interface RecordedRun {
  readonly name: string;
  /** What happens to the first request that changes something. */
  readonly fault?: Fault;
  /** Number of requests to the platform. */
  readonly requests: number;
  /** Calls to the plugin, in the order in which they started. */
  readonly calls: readonly RecordedCall[];
  /** Calls of the plugin to the engine, for its components. */
  readonly registrations: readonly RecordedCall[];
}

/** Written by test/e2e/pluginWire.slow.test.ts. */
export const recordingFile = join(projectRoot, "test", "fixtures", "plugin-wire", "recording.json");

/** The platform of the recording. */
export const recordedPlatform = {
  databases: ["db-cache", "db-first", "db-second", "db-imported", "db-adopted"],
  credentials: "always",
  username: "you@example.com",
  password: "management-password",
  queueToken: "queue-token",
} as const;

const noAccount = "1:00000000";

const random: readonly (readonly [RegExp, string])[] = [
  // Connection URLs, whose port is that of the record.
  [/:[0-9a-f]{32}@127\.0\.0\.1:\d+/g, ":credential@127.0.0.1:1"],
  // Passwords and tokens; neither the salts of triggers nor the marks of secrets.
  [/(?<![0-9a-f:])(?!4dabf18193072939|1b47061264138c4a)[0-9a-f]{32}(?![0-9a-f])/g, "credential"],
  // The marks of accounts, which contain the platform's port.
  [/(?<=")1:[\w-]{8}(?=\\?")/g, noAccount],
  // The ids of providers; not the mark of unknown values.
  [/(?!04da6b54-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "00000000-0000-4000-8000-000000000000"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, "2026-01-01T00:00:00.000Z"],
  [/(?<!@)127\.0\.0\.1:\d+/g, "{engine}"],
  [/"(port|ratePeriodStart)":\d+/g, '"$1":1'],
];

/** The JSON of a value, without what is large, specific to a machine or random; except for marks. */
function withoutRandom(value: unknown): string {
  const text = JSON.stringify(value, (name, inner: unknown) => {
    if (name === "schema") return "{schema}";
    return ["sourcePosition", "stackTrace", "stackTraceHandle"].includes(name) ? undefined : inner;
  });
  return random.reduce((left, [pattern, by]) => left.replace(pattern, by), text);
}

/** A value in which nothing is random. */
export function comparable(value: unknown): unknown {
  const text = withoutRandom(value).replace(/1:[0-9a-f]{32}:[0-9a-f]{64}/g, "{trigger}");
  return JSON.parse(text.replace(/1:\d:[\w-]{22}:[\w,-]*:[\w-]*/g, "{marks}"));
}

/**
 * The text of a recording, the same on each machine. Only the marks of triggers and of former
 * credentials stay random: later calls compare them.
 *
 * @param places values by the name of their placeholder
 */
export function stored(runs: readonly RecordedRun[], places: Readonly<Record<string, string>>): string {
  const named = Object.entries({ ...places, version: packageVersion() });
  const text = named.reduce((left, [name, value]) => left.replaceAll(value, `{${name}}`), JSON.stringify(runs));
  return `${withoutRandom(JSON.parse(text)).replaceAll('{"method"', '\n{"method"')}\n`;
}

/** The runs of a stored recording, on another platform and engine. */
export function played(recording: string, platform: string, engine: string): RecordedRun[] {
  const named = Object.entries({ platform, engine, version: packageVersion() });
  const account = markAccount(platform, recordedPlatform.username);
  const text = named.reduce(
    (left, [name, value]) => left.replaceAll(`{${name}}`, value),
    recording.replaceAll(noAccount, account),
  );
  return JSON.parse(text) as RecordedRun[];
}
