import { saltedMark } from "./memory";

/** The inputs whose change requests one more reset. */
export interface Trigger {
  readonly version?: Scalar | null | undefined;
  readonly triggers?: Readonly<Record<string, Scalar | null | undefined>> | null | undefined;
}

type Scalar = string | number | boolean;

/** The canonical form of a trigger, in which `1` and `"1"`, and no triggers and `{}`, are the same. */
export function canonicalTrigger({ version, triggers }: Trigger): string {
  const entries = Object.entries(triggers ?? {})
    .flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, String(value)] as const]))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([version === null || version === undefined ? null : String(version), entries]);
}

/** Whether a trigger is empty. Removing the whole trigger requests nothing. */
export function isNoTrigger(trigger: Trigger): boolean {
  return canonicalTrigger(trigger) === canonicalTrigger({});
}

/** The mark of a trigger; that of none is empty. */
export function triggerMark({ salt }: { readonly salt: string }, trigger: Trigger): string {
  return isNoTrigger(trigger) ? "" : saltedMark(salt, canonicalTrigger(trigger));
}
