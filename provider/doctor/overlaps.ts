import { isSecret } from "../pulumi/values";
import { isObject, orUndefined } from "../records/fields";
import { isDuration } from "../rotation/formers";
import { untilRetirement } from "../rotation/program";
import { dueAt } from "../rotation/schedule";

export type Values = Readonly<Record<string, unknown>>;

/** A former secret that is still valid, as a state shows it. */
export interface ValidFormer {
  /** In ISO 8601, UTC. */
  readonly since: string;
  /** `overlap` of the program. */
  readonly lasts: string;
}

/** How long a former secret may wait for its verification before that counts as a gap. */
const longestUnverified = "24h";

/**
 * The former secret that a rotation has left valid; undefined if it is retired, as far as the state shows it.
 *
 * @param resources all of the state: a verification of the rotation may have retired it
 */
export function validFormerOf(
  rotation: Values,
  resources: readonly Values[],
): ValidFormer | undefined {
  const since = objectOf(rotation["outputs"])["formerValidSince"];
  if (!isTime(since)) return undefined;
  const retiredAt = resources.flatMap((one) =>
    isVerificationOf(one, rotation["urn"]) ? objectOf(one["outputs"])["formerRetiredAt"] : [],
  );
  if (retiredAt.some((time) => isTime(time) && time >= since)) return undefined;
  const { overlap } = objectOf(rotation["inputs"]);
  return { since, lasts: typeof overlap === "string" ? overlap : untilRetirement };
}

/** Whether a resource has the output `access` of a rotation as its input. */
function isVerificationOf({ type, propertyDependencies }: Values, urn: unknown): boolean {
  const of = objectOf(propertyDependencies)["access"];
  return /:CredentialVerification$/.test(String(type)) && Array.isArray(of) && of.includes(urn);
}

/** Whether a former secret has been valid for longer than `overlap` allows. */
export function isValidTooLong({ since, lasts }: ValidFormer, now: Date): boolean {
  return dueAt(since, isDuration(lasts) ? lasts : longestUnverified) <= now;
}

/** @param resource `QueueTokenRotation "queue"` */
export function twoValidNote(resource: string, { since, lasts }: ValidFormer): string {
  const why = isDuration(lasts)
    ? `overlap: ${lasts}`
    : "no verification with retireFormerAfter has retired it";
  return `Two are valid: ${resource}, since ${since}, because the former one was not retired (${why}).`;
}

/** @param resource `QueueTokenRotation "queue"` */
export function unprovenNote(resource: string): string {
  return `Also valid: ${resource} has added one that is not proven, and so not handed out. The next \`up\` proves or replaces it.`;
}

/** Whether it is a saved time: of a part of one that is damaged, an earlier one could be read. */
export function isTime(time: unknown): time is string {
  return typeof time === "string" && orUndefined(() => new Date(time).toISOString()) === time;
}

/** An object in plain text. */
export function objectOf(value: unknown): Values {
  return isObject(value) && !isSecret(value) ? value : {};
}
