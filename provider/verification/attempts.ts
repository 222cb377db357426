import { randomBytes } from "node:crypto";
import { type Credential, nameOf, shownEndpoint, type ProbeEndpoint } from "../platform/endpoint";
import { RequestError, InputError, SettingsError } from "../platform/errors";
import { type RequestQueue } from "../platform/http";
import { ownerOf, type Subject } from "../platform/secretKind";
import { type AccessCredential, type Access, endpointOf } from "../rotation/access";
import { poll, type Run } from "../run";
import { saltedMark } from "../rotation/marks";

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
  /** Whether it is about a former credential: the current one is accepted, and a wrong one refused. */
  readonly isOfFormer?: boolean;
}

/** Milliseconds of one request, and of one that begins after the end of the verification. */
const requestMs = 5_000;
const lateRequestMs = 1_000;

/**
 * Repeats until the current credential is accepted, and a wrong one and the former ones are refused, because platforms
 * apply a reset with a delay.
 *
 * @param current is read first, if it is not saved
 * @param formers have the same name
 * @param endsAtMs time of the run's clock after which nothing is repeated: each secret gets at least one attempt
 * @returns undefined if all of it holds
 */
export async function verify(
  target: Target,
  current: AccessCredential,
  formers: readonly Credential[],
  { run, queue, endsAtMs }: { readonly run: Run; readonly queue: RequestQueue; readonly endsAtMs: number },
): Promise<Failure | undefined> {
  const { clock, settings } = run.options;
  const endpoint = endpointFor(target, run);
  if ("reason" in endpoint) return endpoint;
  if ("mark" in current && !settings.canRead(target.subject.kind)) {
    const advice = "Set rekey:databasePath, or remove saveCredentials or this verification.";
    return notKnown(current, "this platform cannot be read", advice);
  }
  let known: Credential | undefined = "value" in current ? { ...current, username: target.username } : undefined;
  const attempt = async (): Promise<Failure | undefined> => {
    const timeoutMs = clock.elapsedMs() < endsAtMs ? requestMs : lateRequestMs;
    const credential = known ?? (await read(target, current, timeoutMs, run));
    if ("reason" in credential) return credential;
    known = credential;
    return tryAll(target, endpoint, known, formers, timeoutMs, run);
  };
  return poll(run, { act: () => queue.run(attempt), isDone: (failure) => failure === undefined, endsAtMs });
}

/** Where the current credential is tried, or why that is not known. */
function endpointFor(target: Target, { options }: Run): ProbeEndpoint | Failure {
  const { id, subject, record, connection = {}, restUrl } = target;
  const { probe } = subject.kind;
  try {
    if (!probe) return endpointOf({ databaseId: id, record }, connection, options.settings.databaseHost);
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

function notKnown(current: AccessCredential, why: string, advice: string): Failure {
  return { reason: `the new ${nameOf(current)} is not saved, and ${why}`, advice };
}

/** Reads a credential that is not saved, or returns why it is not known. */
async function read(
  { subject: { kind, id }, username }: Target,
  current: AccessCredential,
  limitMs: number,
  run: Run,
): Promise<Credential | Failure> {
  const { name } = current;
  try {
    const { [name]: value } = (await run.platform.during({ limitMs }).operations(kind).read(id)).credentials;
    if (value !== undefined && isSameCredential({ name, value }, current)) return { name, value, username };
    const advice =
      "Run `pulumi refresh`, then `up`. If that does not help, remove saveCredentials or this verification.";
    return notKnown(current, "the platform does not show it", advice);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return notKnown(current, `could not be read: ${error.happened}`, error.advice);
  }
}

/** Whether two credentials of a secret are the same, even if one or both are known by their marks only. */
export function isSameCredential(a: AccessCredential, b: AccessCredential): boolean {
  if (a.name !== b.name) return false;
  if ("mark" in a) return "mark" in b ? a.mark === b.mark : isSameCredential(b, a);
  return "mark" in b ? saltedMark(b.salt, a.value) === b.mark : a.value === b.value;
}

/** The source of the address at which a credential is tried. */
const addresses = {
  database: "connection and rekey:databaseHost",
  index: "the endpoint in its record",
  queue: "rekey:queueUrl (the address of its region)",
} as const;

/** The current credential must be accepted, and a wrong one and the former ones refused. */
async function tryAll(
  { subject }: Target,
  endpoint: ProbeEndpoint,
  current: Credential,
  formers: readonly Credential[],
  timeoutMs: number,
  run: Run,
): Promise<Failure | undefined> {
  const service = subject.kind.probe?.service ?? "database";
  const [what, server] = [nameOf(current), service === "queue" ? service : subject.kind.noun];
  const at = `(${shownEndpoint(endpoint, current)})`;
  const moreTime = "Raise withinSeconds if the platform needs longer.";
  const wrong = { ...current, value: randomBytes(24).toString("base64url") };
  const all = [current, wrong, ...formers];
  const request = { owner: ownerOf(subject), endpoint, timeoutMs };
  run.platform.secrets.add(all.map(({ value }) => value));
  for (const credential of all) {
    const result = await run.platform.probe({ ...request, credential });
    if (result.kind === (credential === current ? "accepted" : "refused")) continue;
    const isOfFormer = formers.includes(credential);
    if (result.kind === "unknown") {
      const which = credential === current ? "the new" : credential === wrong ? "a wrong" : "a former";
      const check = `Check ${addresses[service]}, rekey:proxy and rekey:caFile, and whether the ${server} is active.`;
      const reason = `${which} ${what} could not be tried: ${result.why} ${at}`;
      return { reason, advice: `${check} ${moreTime}`, isOfFormer };
    }
    const otherwise =
      result.kind === "refused"
        ? `the new ${what} is refused: ${result.words}`
        : credential === wrong
          ? `the ${server} is open to everyone: it accepts any ${what}`
          : `a former ${what} is still accepted`;
    const check = credential === wrong ? `it requires a ${what}` : "the reset was applied";
    const advice = `Check at the platform whether ${check}, and check ${addresses[service]}. ${moreTime}`;
    return { reason: `${otherwise} ${at}`, advice, isOfFormer };
  }
  return undefined;
}
