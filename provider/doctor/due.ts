import { KnownSecrets } from "../platform/redact";
import { isSet } from "../records/fields";
import { dueAt, isFuture } from "../rotation/schedule";
import { isTime, isValidTooLong, objectOf, validFormerOf, type Values } from "./overlaps";
import { type ExportedState, resourceNamed, typeOf } from "./stackState";

interface DueReport {
  /** What waits for an `up`, or for a repair. `what`: `was to be rotated at 2026-11-01T00:00:00.000Z` */
  readonly due: readonly Readonly<Record<"state" | "resource" | "what", string>>[];
  /** Why states were not read, one line each. */
  readonly unread: readonly string[];
}

/**
 * What is overdue in states, or waits, as far as they show it in plain text.
 *
 * @param grace how long after its time something counts as overdue
 */
export function findDue(states: readonly ExportedState[], grace: string, now: Date): DueReport {
  const graceMs = dueAt(now.toISOString(), grace).getTime() - now.getTime();
  const latest = new Date(now.getTime() - graceMs);
  const due = states.flatMap(({ name: state, resources }) =>
    resources.flatMap((one) =>
      whyListed(one, resources, latest, now).map((what) => {
        return { state, resource: resourceNamed(one), what };
      }),
    ),
  );
  const unread = states.flatMap((one) => one.unread ?? []);
  return new KnownSecrets([]).redactNames({ due, unread });
}

/**
 * Why a resource is listed. Of others than those of Rekey, only that it was replaced, as a key by its trigger.
 *
 * @param latest what was due until then is overdue
 */
function whyListed(
  resource: Values,
  resources: readonly Values[],
  latest: Date,
  now: Date,
): string[] {
  if (resource["delete"] === true) return ["was replaced, and is not deleted yet"];
  if (typeOf(resource) === undefined) return [];
  const outputs = objectOf(resource["outputs"]);
  const { waits, nextRotationAt: next } = outputs;
  const former = validFormerOf(resource, resources);
  const outcomes = [outputs, ...Object.values(objectOf(outputs["states"]))].map((one) => {
    return objectOf(one)["outcome"];
  });
  // Such a time makes the next rotation late by the same amount.
  const ahead = ["rotatedAt", "adoptedAt", "turnedAt", "formerValidSince"].filter((name) =>
    isFuture(String(outputs[name]), now),
  );
  const reasons: Readonly<Record<string, boolean | undefined>> = {
    "has failed in the last `up`": isSet(resource["initErrors"]),
    [`was to be rotated at ${String(next)}`]: isTime(next) && new Date(next) <= latest,
    "has no nextRotationAt that can be read: another version has saved it, or it was never rotated":
      isSet(objectOf(resource["inputs"])["rotateEvery"]) && !isTime(next),
    [`has had a second valid one since ${former?.since} (overlap: ${former?.lasts})`]:
      former && isValidTooLong(former, latest),
    [`has a time to come as ${ahead.join(" and ")}: a clock was ahead`]: ahead.length > 0,
    [`waits: ${String(waits)}`]: typeof waits === "string",
    "has a rotation that is unconfirmed": outcomes.includes("unknown"),
    "has a rotation that is unproven": outcomes.includes("unproven"),
  };
  return Object.keys(reasons).filter((what) => reasons[what]);
}

export function dueText({ due, unread }: DueReport): string {
  const lines = due.map(({ state, resource, what }) => `DUE    ${resource} in ${state} ${what}.`);
  const summary = due.length === 0 ? "Nothing is due." : `${due.length} due.`;
  return `${[...lines, ...unread, summary].join("\n")}\n`;
}
