import { isSecret } from "../pulumi/values";
import { isObject, orUndefined } from "../records/fields";
import { isDuration } from "../rotation/program/formers";
import { untilRetirement } from "../rotation/program/program";
import { dueAt } from "../rotation/memory/schedule";

export type Values = Readonly<Record<string, unknown>>;

/** A former secret that is still valid, as a state shows it. */
export interface ValidFormer {
  /** In ISO 8601, UTC. */
  readonly since: string;
  /** `overlap` of the program. */
  readonly validFor: string;
}

/** How long a former secret may wait for its `Retirement` before that counts as a gap. */
const longestUnretired = "24h";

/**
 * The former secret that a rotation has left valid; undefined if it is retired, as far as the state shows it. A delete
 * saves nothing: a `Retirement` has retired at the end of its run what it says, if none waits for its delete.
 *
 * @param resources all of the state
 */
export function validFormerOf(
  rotation: Values,
  resources: readonly Values[],
): ValidFormer | undefined {
  const since = objectOf(rotation["outputs"])["formerValidSince"];
  if (!isTime(since)) return undefined;
  const retirements = resources.filter(
    (one) =>
      isRetirement(one) &&
      listOf(objectOf(one["propertyDependencies"])["access"]).includes(rotation["urn"]),
  );
  const isRetired = retirements.some(({ outputs }) => {
    const { retires } = objectOf(outputs);
    return isTime(retires) && retires >= since;
  });
  if (isRetired && !retirements.some(waitsForDelete)) return undefined;
  const { overlap } = objectOf(rotation["inputs"]);
  return { since, validFor: typeof overlap === "string" ? overlap : untilRetirement };
}

export function isRetirement({ type }: Values): boolean {
  return String(type).endsWith(":Retirement");
}

/** True if a resource was replaced, and is not deleted yet. */
export function waitsForDelete(resource: Values): boolean {
  return resource["delete"] === true;
}

/** True if a former secret has been valid for longer than `overlap` allows. */
export function isValidTooLong({ since, validFor }: ValidFormer, now: Date): boolean {
  return dueAt(since, isDuration(validFor) ? validFor : longestUnretired) <= now;
}

/** @param resource `QueueTokenRotation "queue"` */
export function twoValidNote(resource: string, { since, validFor }: ValidFormer): string {
  const why = isDuration(validFor) ? `overlap: ${validFor}` : "no Retirement has retired it";
  return `Two are valid: ${resource}, since ${since}, because the former one was not retired (${why}).`;
}

/** Secrets that are valid in addition to the current one and the former ones, by the outputs of a rotation. */
export function alsoValid({ outcome, unknownPasswords: unknown }: Values): string[] {
  return [
    ...(outcome === "unproven"
      ? ["a secret that was added and is not proven: the next `up` proves or replaces it"]
      : []),
    ...(Number(unknown) > 0
      ? [`passwords that Rekey does not know: ${String(unknown)} at the last read`]
      : []),
  ];
}

/** True if it is a saved time: of a part of one that is damaged, an earlier one could be read. */
export function isTime(time: unknown): time is string {
  return typeof time === "string" && orUndefined(() => new Date(time).toISOString()) === time;
}

/** An object in plain text. */
export function objectOf(value: unknown): Values {
  return isObject(value) && !isSecret(value) ? value : {};
}

/** A list in plain text. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
