import { isSet } from "../records/fields";
import { KnownSecrets } from "../platform/redact";
import { isFuture, dueAt } from "../rotation/schedule";
import { kindNamed, type SecretKind } from "../domain/secretKind";
import { isDuration } from "../rotation/formers";
import { validFormerOf } from "./overlaps";
import {
  type ExportedState,
  objectOf,
  resourceNamed,
  resourcesIn,
  typeOf,
  type Values,
} from "./stackState";

/** Something that waits for an `up`, or for a repair. */
interface Due {
  readonly state: string;
  /** `PasswordRotation "sessions"` */
  readonly resource: string;
  /** `was to be rotated at 2026-11-01T00:00:00.000Z` */
  readonly what: string;
}

interface DueReport {
  readonly due: readonly Due[];
  readonly states: readonly string[];
  /** Why states were not read, one line each. */
  readonly unread: readonly string[];
}

/**
 * What is overdue in states, or waits, as far as they show it in plain text.
 *
 * @param grace how long after its time something counts as overdue
 */
export function findDue(states: readonly ExportedState[], grace: string, now: Date): DueReport {
  const read = states.map(({ name, text, why }) => {
    const resources = resourcesIn(text);
    return { name, resources, why: why ?? "it is not an exported state" };
  });
  const due = read.flatMap(({ name, resources = [] }) =>
    resources.flatMap((one) =>
      reasonsOf(one, resources, (time) => dueAt(time, grace) <= now, now).map((what) => ({
        state: name,
        resource: resourceNamed(one),
        what,
      })),
    ),
  );
  const unread = read.filter(({ resources }) => resources === undefined);
  const report = {
    due,
    states: read.flatMap(({ name, resources }) => (resources ? name : [])),
    unread: unread.map(({ name, why }) => `The state of ${name} was not read: ${why}.`),
  };
  // Names come from elsewhere.
  const shown = (_: string, value: unknown) =>
    typeof value === "string" ? new KnownSecrets([]).redactName(value) : value;
  return JSON.parse(JSON.stringify(report), shown) as DueReport;
}

/** Why a resource is listed. Of others than those of Rekey, only that it was replaced, as a key by its trigger. */
function reasonsOf(
  resource: Values,
  resources: readonly Values[],
  isOver: (time: string) => boolean,
  now: Date,
): string[] {
  if (resource["delete"] === true) return ["was replaced, and is not deleted yet"];
  const type = typeOf(resource);
  if (type === undefined) return [];
  const { initErrors = [] } = resource;
  const { waits, outcome, states, ...outputs } = objectOf(resource["outputs"]);
  const outcomes = [
    outcome,
    ...Object.values(objectOf(states)).map((one) => objectOf(one)["outcome"]),
  ];
  // With such a time, the next rotation is too late by as much.
  const ahead = ["rotatedAt", "adoptedAt", "turnedAt", "formerValidSince"].filter((name) =>
    isFuture(String(outputs[name]), now),
  );
  const unsettled = outcomes.filter((one) => one === "unknown" || one === "unproven");
  return [
    ...(Array.isArray(initErrors) && initErrors.length > 0 ? ["has failed in the last `up`"] : []),
    ...scheduleReasons(outputs["nextRotationAt"], objectOf(resource["inputs"]), isOver),
    ...formerReasons(resource, kindNamed(type), resources, isOver),
    ...ahead.map((name) => `has a time to come as ${name}: a clock was ahead`),
    ...(typeof waits === "string" ? [`waits: ${waits}`] : []),
    ...[...new Set(unsettled)].map((one) => {
      return `has a rotation that is ${one === "unknown" ? "unconfirmed" : "unproven"}`;
    }),
  ];
}

function scheduleReasons(
  nextRotationAt: unknown,
  { rotateEvery }: Values,
  isOver: (time: string) => boolean,
): string[] {
  if (typeof nextRotationAt === "string" && !Number.isNaN(Date.parse(nextRotationAt))) {
    return isOver(nextRotationAt) ? [`was to be rotated at ${nextRotationAt}`] : [];
  }
  const why = "another version has saved it, or it was never rotated";
  return isSet(rotateEvery) ? [`has no nextRotationAt that can be read: ${why}`] : [];
}

function formerReasons(
  resource: Values,
  kind: SecretKind | undefined,
  resources: readonly Values[],
  isOver: (time: string) => boolean,
): string[] {
  const former = kind && validFormerOf(resource, kind, resources);
  if (former === undefined) return [];
  const { since, lasts } = former;
  const until = dueAt(since, isDuration(lasts) ? lasts : "0h");
  const what = `has had a second valid one since ${since} (overlap: ${lasts})`;
  return isOver(until.toISOString()) ? [what] : [];
}

export function dueText({ due, unread, states }: DueReport): string {
  const lines = due.map(({ state, resource, what }) => `DUE    ${resource} in ${state} ${what}.`);
  const summary =
    due.length === 0
      ? `Nothing is due in ${states.length === 1 ? "1 state" : `${states.length} states`}.`
      : `${due.length} due.`;
  return `${[...lines, ...unread, summary].join("\n")}\n`;
}
