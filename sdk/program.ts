import * as pulumi from "@pulumi/pulumi";
import { type ErrorCode, RekeyError } from "../provider/domain/errors";
import { isConfigSecret, markAsRunError } from "../provider/engine/pulumiInternals";
import { Settings } from "../provider/settings/settings";
import {
  isCredential,
  settingKey,
  settingNames,
  plainText,
  unknownSettings,
} from "../provider/settings/table";

/**
 * Keeps one value for each run of a Pulumi program. With the Automation API's inline programs and in tests, several
 * runs share a process, and must not see each other's values.
 *
 * @param values where they are kept. Default: separately for each copy of this package
 */
export function perRun<T>(make: () => T, values = new WeakMap<object, T>()): () => T {
  const noRun = {};
  return () => {
    const run = pulumi.runtime.getMonitor() ?? noRun;
    if (!values.has(run)) values.set(run, make());
    return values.get(run) as T;
  };
}

/** The settings of a program: from the stack's configuration, else from the environment. */
export function settingsOfProgram(): Settings {
  const config = new pulumi.Config("rekey");
  return new Settings((name) => config.get(name), process.env);
}

/**
 * Warns once in a run of settings that do not exist, and of each credential that the stack's configuration has in plain
 * text. Only the program knows the names of all settings: Pulumi's provider host reads them one by one.
 */
export const warnOfSettings = perRun((): void => {
  const settings = settingsOfProgram();
  const plain = settingNames.filter((name) => {
    const found = settings.find(name);
    const isStored = found?.source === "configuration" && isCredential(name, found.value);
    return isStored && !isConfigSecret(pulumi.runtime, settingKey(name));
  });
  const unknown = unknownSettings(Object.keys(pulumi.runtime.allConfig()), process.env);
  const inPlainText = plain.map((name) => plainText(name).join(" "));
  for (const text of [...unknown, ...inPlainText]) void pulumi.log.warn(text);
});

/** An error that ends the program without a stack trace. */
export function runError(code: ErrorCode, text: string): RekeyError {
  return ending(new RekeyError(code, text, "not sent"));
}

/**
 * Makes an error a `RunError` to Pulumi, which ends a program with only its message. The stack trace is removed,
 * because Pulumi formats it even if it does not show it: on some lines of it (such as
 * `node_modules/@pulumi/output.ts:1`), Node's `inspect` takes half a minute and gigabytes of memory. Pulumi may handle
 * the error late, of which Node would warn without a listener.
 */
export function ending<E extends Error>(error: E): E {
  error.stack = "";
  if (!process.listeners("rejectionHandled").includes(expected)) {
    process.on("rejectionHandled", expected);
  }
  return markAsRunError(error);
}

const expected = (): void => undefined;
