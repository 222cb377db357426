import { type ProbeEndpoint } from "../platform/credential";
import { InputError, SettingsError } from "../platform/errors";
import { ownerOf, type Subject } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { type Access, type AccessCredential, endpointOf, usernameFor } from "../rotation/access";
import { kinds } from "../rotation/kinds/kinds";
import { type Connection } from "../rotation/memory";
import { saltedMark } from "../rotation/marks";
import { type Run } from "../run";

/** One secret to verify. */
export interface Target extends Access {
  readonly subject: Subject;
  /** Its name in messages: that of the program, if it belongs to a fleet. */
  readonly name: string;
  /** The user of a password, if the program sets one: without a name, it is the default one. */
  readonly username: string | undefined;
}

/** Why a secret is not verified. */
export interface Failure {
  readonly reason: string;
  readonly advice: string;
}

/**
 * The secrets of the output `access` of a rotation or a fleet.
 *
 * @param own takes precedence over the connection of the rotation
 * @throws Error if the text is something else
 */
export function targetsIn(text: string, own: Connection = {}): Target[] {
  const parsed: unknown = JSON.parse(text);
  if (!isObject(parsed)) throw new Error("it is not an object");
  if (typeof parsed["id"] === "string") return [targetOf(parsed, own)];
  return Object.entries(parsed).map(([name, access]) => ({ ...targetOf(access, own), name: JSON.stringify(name) }));
}

function targetOf(given: unknown, own: Connection): Target {
  const access = (given ?? {}) as Access;
  const { id, of, count, current } = access;
  const kind = Object.values(kinds).find(({ noun }) => noun === of);
  if (!kind || typeof id !== "string" || typeof count !== "number") throw new Error("it is of no secret");
  const subject = { kind, id };
  const connection: Connection = { ...access.connection, ...own };
  const isNamed = current?.name === "password" && connection.username !== undefined;
  const username = isNamed ? usernameFor({ databaseId: id }, connection) : undefined;
  return { ...access, connection, subject, name: ownerOf(subject), username };
}

/** What is wrong with an input `access`. It is a secret, so nothing of it is shown. */
export function accessProblem(given: unknown): string | undefined {
  try {
    targetsIn(given as string);
    return undefined;
  } catch {
    return "must be the output `access` of a rotation or a fleet";
  }
}

/** Whether two credentials of a secret are the same, even if one or both are known by their marks only. */
export function isSameCredential(a: AccessCredential, b: AccessCredential): boolean {
  if (a.name !== b.name) return false;
  if ("mark" in a) return "mark" in b ? a.mark === b.mark : isSameCredential(b, a);
  return "mark" in b ? saltedMark(b.salt, a.value) === b.mark : a.value === b.value;
}

/** Where the current credential is tried, or why that is not known. */
export function endpointFor(target: Target, { options }: Run): ProbeEndpoint | Failure {
  const { id, subject, record, connection = {}, restUrl, current } = target;
  const { probe } = subject.kind;
  try {
    if (!probe) {
      // The REST interface has the port of HTTPS.
      const at = current?.name === "restToken" ? { port: 443, tls: true, ...connection } : connection;
      return endpointOf({ databaseId: id, record }, at, options.settings.databaseHost);
    }
    if (probe.service === "queue") return { ...probe, baseUrl: options.settings.require("queueUrl") };
    if (restUrl !== undefined) return { ...probe, baseUrl: restUrl.replace(/\/$/, "") };
    const reason = `the platform's record of ${ownerOf(subject)} has no endpoint that can be used`;
    return { reason, advice: "Remove this verification." };
  } catch (error) {
    if (error instanceof SettingsError) return { reason: error.problem, advice: error.advice };
    if (!(error instanceof InputError)) throw error;
    const advice = "Set connection on the rotation, the fleet or this verification.";
    return { reason: `${error.property} ${error.reason}`, advice };
  }
}
