import { type SecretKind } from "../domain/secretKind";
import { isObject } from "../records/fields";
import { hasOverlap, isDuration } from "../rotation/formers";
import { untilVerified } from "../rotation/program";
import { dueAt } from "../rotation/schedule";

type Values = Readonly<Record<string, unknown>>;

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
  kind: SecretKind,
  resources: readonly Values[],
): ValidFormer | undefined {
  const since = objectIn(rotation["outputs"])["formerValidSince"];
  if (!hasOverlap(kind) || !isTime(since)) return undefined;
  const isRetired = resources.some(({ type, propertyDependencies, outputs }) => {
    const { access } = objectIn(propertyDependencies);
    const { formerRetiredAt } = objectIn(outputs);
    const isOfRotation = Array.isArray(access) && access.includes(rotation["urn"]);
    const isVerification = isOfRotation && /:CredentialVerification$/.test(String(type));
    return isVerification && isTime(formerRetiredAt) && formerRetiredAt >= since;
  });
  if (isRetired) return undefined;
  const { overlap } = objectIn(rotation["inputs"]);
  return { since, lasts: typeof overlap === "string" ? overlap : untilVerified };
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

function isTime(time: unknown): time is string {
  return typeof time === "string" && !Number.isNaN(Date.parse(time));
}

function objectIn(value: unknown): Values {
  return isObject(value) ? value : {};
}
