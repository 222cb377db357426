import { KnownSecrets } from "../platform/redact";
import { isSet } from "../records/fields";
import { dueAt, isFuture } from "../rotation/memory/schedule";
import { countText } from "../verification/httpVerification";
import {
  alsoValid,
  isRetirement,
  isTime,
  isValidTooLong,
  listOf,
  objectOf,
  type ValidFormer,
  validFormerOf,
  type Values,
  waitsForDelete,
} from "./overlaps";
import { type ExportedState, resourceNamed, typeOf } from "./stackState";

const columns = ["resource", "state", "age", "next rotation", "waits", "former one until"] as const;

export interface DueReport {
  /** Everything that waits for an `up`, or for a repair. `what`: `was to be rotated at 2026-11-01T00:00:00.000Z` */
  readonly due: readonly Readonly<Record<"state" | "resource" | "what", string>>[];
  /** Why states were not read, one line each. */
  readonly unread: readonly string[];
  /** Each resource of Rekey, with empty texts for what it does not have. */
  readonly lookedAt: readonly Readonly<Record<(typeof columns)[number], string>>[];
  /** How many states were read, and the names of those without such a resource. */
  readonly states: number;
  readonly empty: readonly string[];
}

/** A run that has saved nothing for longer than this was killed. */
const longestStepMs = 3_600_000;

/**
 * Everything that is overdue in states, or waits, as far as they show it in plain text.
 *
 * @param grace how long after its time something counts as overdue
 */
export function findDue(states: readonly ExportedState[], grace: string, now: Date): DueReport {
  const graceMs = dueAt(now.toISOString(), grace).getTime() - now.getTime();
  const latest = new Date(now.getTime() - graceMs);
  const due = states.flatMap(({ name: state, resources, operations = [], savedAt }) => {
    const sinceSave = Math.abs(now.getTime() - Date.parse(String(savedAt)));
    const isUnderWay = operations.length > 0 && sinceSave < Math.min(graceMs, longestStepMs);
    const begun = operations.map(({ type, resource }) => ({ ...objectOf(resource), began: type }));
    // A run that is under way will end what it has begun, and deletes last.
    const shown = isUnderWay
      ? resources.filter((one) => !waitsForDelete(one))
      : [...begun, ...resources];
    return shown.filter(isOfRekey).flatMap((one) =>
      whyListed(one, resources, latest, now).map((what) => {
        return { state, resource: resourceNamed(one), what };
      }),
    );
  });
  const unread = states.flatMap((one) => one.unread ?? []);
  const lookedAt = states.flatMap(({ name, resources }) =>
    resources
      .filter((one) => typeOf(one) !== undefined && !waitsForDelete(one))
      .map((one) => lookAt(one, name, validFormerOf(one, resources), now)),
  );
  const read = states.filter((one) => one.unread === undefined).map(({ name }) => name);
  const empty = read.filter((name) => !lookedAt.some(({ state }) => state === name));
  return new KnownSecrets([]).redactNames({ due, unread, lookedAt, states: read.length, empty });
}

function lookAt(
  resource: Values,
  state: string,
  former: ValidFormer | undefined,
  now: Date,
): DueReport["lookedAt"][number] {
  const outputs = objectOf(resource["outputs"]);
  const textOf = (...names: readonly string[]) =>
    String(names.map((name) => outputs[name]).find((value) => typeof value === "string") ?? "");
  const rotatedAt = textOf("rotatedAt", "turnedAt", "lastRotated", "adoptedAt");
  const days = Math.floor((now.getTime() - Date.parse(rotatedAt)) / 86_400_000);
  return {
    resource: resourceNamed(resource),
    state,
    age: isTime(rotatedAt) ? `${days} d` : "",
    "next rotation": textOf("nextRotationAt"),
    waits: textOf("waits"),
    "former one until": textOf("formerValidUntil") || (former?.validFor ?? ""),
  };
}

/** True if a resource is one of Rekey, or a trigger replaces it: by its value, or by an argument that depends on it. */
function isOfRekey(resource: Values): boolean {
  const { dependencies, replacementTrigger } = resource;
  const ofTrigger = JSON.stringify([dependencies, replacementTrigger]);
  return (
    typeOf(resource) !== undefined ||
    /rekey(:index)?:RotationTrigger::|"\d{8}-\d+-\w{6}"/.test(ofTrigger)
  );
}

/**
 * Why a resource is listed. Of others than those of Rekey, only that they were replaced, as a key by its trigger, or
 * that a run was killed.
 *
 * @param latest what was due until then is overdue
 */
function whyListed(
  resource: Values,
  resources: readonly Values[],
  latest: Date,
  now: Date,
): string[] {
  const { began, initErrors } = resource;
  if (typeof began === "string") {
    return [
      `was left "${began}" by a run that was killed: what that has made may be saved nowhere, and clients may be refused`,
    ];
  }
  const isEnd = isRetirement(resource);
  if (waitsForDelete(resource)) {
    return [
      isEnd
        ? "waits for its delete, which retires: the former one is still valid"
        : `was replaced, and is not deleted yet${sinceReplaced(resource, resources)}`,
    ];
  }
  if (typeOf(resource) === undefined) return [];
  const { rotateEvery, byHand } = objectOf(resource["inputs"]);
  const outputs = objectOf(resource["outputs"]);
  const { waits, nextRotationAt: next } = outputs;
  const former = validFormerOf(resource, resources);
  const members = [outputs, ...Object.values(objectOf(outputs["states"])).map(objectOf)];
  const shows = (name: string, value: unknown) => members.some((one) => one[name] === value);
  const unfit = ["retainOnDelete", "protect", "pendingReplacement"].filter(
    (one) => resource[one] === true,
  );
  // Such a time makes the next rotation late by the same amount.
  const ahead = ["rotatedAt", "adoptedAt", "turnedAt", "formerValidSince"].filter((name) =>
    isFuture(String(outputs[name]), now),
  );
  const latestNext = typeof rotateEvery === "string" && dueAt(now.toISOString(), rotateEvery);
  if (latestNext && isFuture(String(next), latestNext)) ahead.push("nextRotationAt");
  const reasons: Readonly<Record<string, boolean | undefined>> = {
    "has failed in the last `up`": isSet(initErrors),
    [`was to be rotated at ${String(next)}`]:
      isTime(next) && new Date(next) <= (byHand === true ? now : latest),
    "has no nextRotationAt that can be read: another version has saved it, or it was never rotated":
      isSet(rotateEvery) && !isTime(next),
    [`has had a second valid one since ${former?.since} (overlap: ${former?.validFor})`]:
      former && isValidTooLong(former, latest),
    [`has a time to come as ${ahead.join(" and ")}: a clock was ahead`]: ahead.length > 0,
    [`waits: ${String(waits)}`]: typeof waits === "string",
    "has a rotation that is unconfirmed": shows("outcome", "unknown"),
    "is gone or not known, as a read has found: the next `up` reads it": shows("mustRead", true),
    "has not verified it": shows("verified", false),
    [`has former credentials that are still valid (${countText(outputs["formersValid"])}): delete them at the vendor`]:
      shows("formerRefused", false),
    [`is saved with ${unfit.join(" and ")}, so that it retires nothing`]: isEnd && unfit.length > 0,
  };
  const also = alsoValid(outputs).map((what) => `also has ${what}`);
  return [
    ...Object.keys(reasons).filter((what) => reasons[what]),
    ...also,
    ...whyNotReplaced(resource, resources, latest),
  ];
}

/** Since when a resource waits for its delete: of those with its URN, the next one has replaced it. */
function sinceReplaced({ urn, created }: Values, resources: readonly Values[]): string {
  const later = resources.filter(
    (one) => one["urn"] === urn && String(one["created"]) > String(created),
  );
  const [since] = later.map((one) => String(one["created"])).sort();
  return since === undefined ? "" : ` (since ${since})`;
}

/** A turn of a trigger that has replaced nothing, as far as the state shows it. */
function whyNotReplaced(trigger: Values, resources: readonly Values[], latest: Date): string[] {
  const { turnedAt, value } = objectOf(trigger["outputs"]);
  if (!isTime(turnedAt) || new Date(turnedAt) > latest) return [];
  const keys = resources.filter(
    (one) => one["custom"] === true && typeOf(one) === undefined && !waitsForDelete(one),
  );
  const textOf = (one: Values) => JSON.stringify(one["replacementTrigger"] ?? "");
  const withOption = keys.filter((one) => textOf(one).includes(`${String(value).slice(-7)}"`));
  const old = withOption.filter((one) => !textOf(one).includes(String(value)));
  const isUsed =
    withOption.length > 0 ||
    keys.some(({ dependencies }) => listOf(dependencies).includes(trigger["urn"]));
  const { usedElsewhere, byHand } = objectOf(trigger["inputs"]);
  return [
    ...old.map(
      (one) =>
        `has turned, but ${resourceNamed(one)} was not replaced: run \`up\`, and see what refuses it`,
    ),
    ...(isUsed || usedElsewhere === true || byHand === true
      ? []
      : [
          "has turned, but no resource of another provider has its value: give replacementTrigger to the key itself, as a component does not pass it on, or set usedElsewhere",
        ]),
  ];
}

/** The last line says what was looked at: if that is nothing, nothing is known. */
export function dueText({ due, unread, lookedAt, states, empty }: DueReport): string {
  const lines = due.map(({ state, resource, what }) => `DUE    ${resource} in ${state} ${what}.`);
  const found = due.length === 0 ? "Nothing is due" : `${due.length} due`;
  const none = empty.length > 0 ? ` None in: ${empty.join(", ")}.` : "";
  const summary = `${found}. Resources of Rekey: ${lookedAt.length}, in states: ${states}.${none}`;
  return `${[...lines, ...unread, summary].join("\n")}\n`;
}

/** A table for the summary of a job, in Markdown, of what rotates. */
export function dueMarkdown(report: DueReport): string {
  const rows = report.lookedAt.filter((one) => one.age || one["next rotation"]);
  const table = [
    columns,
    columns.map(() => "---"),
    ...rows.map((row) => Object.values<string>(row)),
  ].map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  return `${table.join("\n")}\n\n${dueText(report).replaceAll(/^(?=.)/gm, "- ")}`;
}
