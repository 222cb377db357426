import { type Trigger } from "./trigger";

/**
 * The trigger of one database of a fleet: what is said for all of them together with what is said for it alone. The names
 * are prefixed so that neither can stand for the other. Frozen by test vectors, as the canonical form of a trigger is.
 */
export function combineTriggers(fleet: Trigger, own: Trigger): Trigger {
  const of = (prefix: string, { triggers }: Trigger) =>
    Object.entries(triggers ?? {}).map(([name, value]) => [`${prefix}.${name}`, value] as const);
  const triggers = Object.fromEntries([...of("fleet", fleet), ...of("own", own), ["version", own.version]]);
  return { version: fleet.version, triggers };
}
