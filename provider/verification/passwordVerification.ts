import { type VerificationTarget } from "./targets";
import { type Credential } from "./probe";
import { resetsAreSaved, VerificationError } from "../platform/errors";
import { type RequestQueue } from "../platform/requestQueue";
import { byId, parsed } from "../rotation/shardState";
import { type FormerCredential, secretOf, verify, type VerificationFailure, type VerificationTools } from "./attempts";
import { type Applied, type CheckFailure, type Difference, type Resource } from "../rotation/resource";

/** What a PasswordVerification saves. */
export interface PasswordVerificationOutputs {
  readonly subject: string;
  readonly verified: boolean;
  readonly verifiedAt?: string;
  readonly formerRefused?: boolean;
  /** JSON text of the databases with the credentials that were tried. */
  readonly targets: string;
}

/** Outputs that are always secret. */
export const secretPasswordVerificationOutputs = [
  "targets",
] as const satisfies readonly (keyof PasswordVerificationOutputs)[];

/** The outputs that a program sees. The others hold what was verified. */
export const shownVerificationOutputs = ["verified", "verifiedAt", "formerRefused"] as const;

/** The names of all outputs. */
const passwordVerificationOutputs = [
  "subject",
  ...shownVerificationOutputs,
  ...secretPasswordVerificationOutputs,
] as const satisfies readonly (keyof PasswordVerificationOutputs)[];

export interface PasswordVerificationInputs {
  /** The id of the database, or the URN of the fleet. */
  readonly subject: string;
  /** JSON text of a list of `VerificationTarget`, which contains credentials. */
  readonly targets: string;
  readonly withinSeconds?: number | null;
}

/** The saved state of a database. */
interface SavedDatabase {
  readonly databaseId: string;
  /** Of the rotation that was verified last, or whose credential is not known. */
  readonly rotatedAt?: string | undefined;
  /** The credential that was verified last; undefined if none is known. */
  readonly credential?: Credential | undefined;
  /** Whether a later verification failed. */
  readonly failed?: true | undefined;
  /** Other credentials that were tried as the current one, and were not refused since; the newest first. */
  readonly tried?: readonly FormerCredential[] | undefined;
  /** Confirmed resets when the newest credential was tried. */
  readonly rotationCount?: number | undefined;
  /** Whether former credentials exist that are not known here, and so cannot be tried. */
  readonly forgotten?: true | undefined;
  /** Whether all former credentials were refused; false if some are forgotten, undefined if there were none. */
  readonly formerRefused?: boolean | undefined;
}

interface Failure extends VerificationFailure {
  readonly target: VerificationTarget;
}

/** The result for one database. */
interface Result {
  readonly target: VerificationTarget;
  readonly saved: SavedDatabase;
  readonly failure?: VerificationFailure | undefined;
}

/** What a verification needs of the run. */
export interface VerificationSession {
  readonly options: {
    readonly platform: Pick<VerificationTools, "probe"> & { queueWithin(concurrency?: number): RequestQueue };
    readonly timer: VerificationTools["timer"];
    readonly now: () => Date;
  };
}

export const passwordVerification: Resource<
  PasswordVerificationInputs,
  PasswordVerificationOutputs,
  VerificationSession
> = {
  idInput: "subject",
  outputs: passwordVerificationOutputs,
  secretOutputs: secretPasswordVerificationOutputs,
  hiddenInputs: [],
  decidingInputs: ["subject", "targets"],
  check,
  diff,
  apply,
};

const defaultWithinSeconds = 30;
/** Databases that are named in one message. */
const maxNamed = 20;
/** Credentials of one database that are remembered in addition to the one that was verified last. */
const mostTried = 5;

export function check(inputs: PasswordVerificationInputs, unknown: ReadonlySet<string>): CheckFailure[] {
  const { checkInputs, passwordVerificationInputs } =
    require("../rotation/inputs") as typeof import("../rotation/inputs");
  const failures = checkInputs(passwordVerificationInputs, { ...inputs }, unknown);
  return failures.map((failure) => ({ ...failure, advice: resetsAreSaved }));
}

export function diff(saved: PasswordVerificationOutputs, inputs: PasswordVerificationInputs): Difference {
  if (saved.subject !== inputs.subject) return { changes: true, replaces: ["subject"] };
  const before = openTargets(saved);
  const targets = targetsOf(inputs);
  return { changes: targets.length !== before.size || targets.some((target) => isDue(target, before)) };
}

/** Only databases that were rotated since are contacted. */
export async function apply(
  saved: PasswordVerificationOutputs | undefined,
  inputs: PasswordVerificationInputs,
  session: VerificationSession,
): Promise<Applied<PasswordVerificationOutputs>> {
  const { platform, timer, now } = session.options;
  const before = saved ? openTargets(saved) : new Map<string, SavedDatabase>();
  const endsAt = timer.now() + (inputs.withinSeconds ?? defaultWithinSeconds) * 1000;
  const targets = targetsOf(inputs);
  const due = new Set(targets.filter((target) => target.access !== undefined && isDue(target, before)));
  const tools = { probe: platform.probe, queue: platform.queueWithin(), timer };
  const results = await Promise.all(
    targets.map(async (target): Promise<Result> => {
      const entry = before.get(target.databaseId);
      if (entry && target.access && !due.has(target)) return { target, saved: entry };
      return { target, ...(await verifyDatabase(target, entry, endsAt, tools)) };
    }),
  );
  const failures = results.flatMap(({ target, failure }) => (failure ? { target, ...failure } : []));
  const failed = failures.length > 0;
  const databases = results.map(({ saved: database }) => database);
  const verifiedAt = due.size > 0 && !failed ? now().toISOString() : saved?.verifiedAt;
  const refused = databases.map(({ formerRefused }) => formerRefused);
  const outputs: PasswordVerificationOutputs = {
    subject: inputs.subject,
    verified: !failed && unverifiedIn(targets).length === 0,
    ...(verifiedAt !== undefined && { verifiedAt }),
    ...(!failed && refused.includes(true) && !refused.includes(false) && { formerRefused: true }),
    targets: JSON.stringify(databases),
  };
  if (failed) return { outputs, failed: failureOf(failures, targets.length) };
  return { outputs, pluginWarning: unverifiedWarning(targets) };
}

/** Verifies a database, and returns what to save of it. */
async function verifyDatabase(
  target: VerificationTarget,
  entry: SavedDatabase | undefined,
  endsAt: number,
  tools: VerificationTools,
): Promise<Pick<Result, "saved" | "failure">> {
  const { databaseId, rotatedAt, rotationCount, access } = target;
  const known = entry ? knownIn(entry) : [];
  // A rotation that was not verified, for example because the run was killed.
  const isGap = (rotationCount ?? 0) > (entry?.rotationCount ?? Infinity) + 1;
  const forgotten = entry?.forgotten || isGap;
  if (access === undefined) return { saved: { databaseId, rotatedAt, rotationCount, ...remembered(known, forgotten) } };
  const { credential, ...endpoint } = access;
  const current: FormerCredential = { credential, rotatedAt };
  const formers = known.filter((one) => isFormer(one, current));
  const failure = await verify({ databaseId, endpoint, credential, formers }, endsAt, tools);
  const others = (list: readonly FormerCredential[]) => list.filter((one) => !isSame(one, current));
  if (failure) {
    const tried = [current, ...others(entry?.tried ?? [])];
    return { saved: { databaseId, ...entry, failed: true, rotationCount, ...remembered(tried, forgotten) }, failure };
  }
  const rest = others(known).filter((one) => !formers.includes(one));
  const formerRefused = forgotten ? false : formers.length > 0 || undefined;
  return { saved: { databaseId, rotatedAt, rotationCount, credential, ...remembered(rest), formerRefused } };
}

/** All credentials that a saved database knows, the newest first. */
function knownIn({ tried = [], credential, rotatedAt }: SavedDatabase): FormerCredential[] {
  return [...tried, ...(credential ? [{ credential, rotatedAt }] : [])];
}

function remembered(tried: readonly FormerCredential[], forgotten = false): Pick<SavedDatabase, "tried" | "forgotten"> {
  return {
    tried: tried.length > 0 ? tried.slice(0, mostTried) : undefined,
    forgotten: forgotten || tried.length > mostTried || undefined,
  };
}

/** Whether the rotation of a credential must have invalidated another one, which can be tried like it. */
function isFormer(one: FormerCredential, current: FormerCredential): boolean {
  if ("password" in one.credential !== "password" in current.credential) return false;
  return one.rotatedAt !== current.rotatedAt || secretOf(one.credential) !== secretOf(current.credential);
}

function unverifiedIn(targets: readonly VerificationTarget[]): VerificationTarget[] {
  return targets.filter(({ access }) => access === undefined);
}

/** Whether a database was rotated, has another credential, or failed, since it was verified. */
function isDue({ databaseId, rotatedAt, access }: VerificationTarget, before: Map<string, SavedDatabase>): boolean {
  const entry = before.get(databaseId);
  return (
    !entry || entry.failed === true || entry.rotatedAt !== rotatedAt || !isSame(entry.credential, access?.credential)
  );
}

function isSame(a: object | undefined, b: object | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function targetsOf({ targets }: PasswordVerificationInputs): VerificationTarget[] {
  return JSON.parse(targets) as VerificationTarget[];
}

/** @throws StateError if the saved output is damaged */
function openTargets({ targets }: PasswordVerificationOutputs): Map<string, SavedDatabase> {
  return byId<SavedDatabase>(parsed(targets), "targets");
}

function failureOf(failures: readonly Failure[], count: number): VerificationError {
  const advice = [...new Set(failures.map((failure) => failure.advice))].join(" ");
  const [first] = failures;
  if (count === 1 && first) {
    const database = JSON.stringify(first.target.databaseId);
    const happened = `The rotation of database ${database} is not verified: ${first.reason}.`;
    return new VerificationError({ happened, advice });
  }
  const lines = failures.slice(0, maxNamed).map(({ target, reason }) => `\n  ${target.name}: ${reason}`);
  const more = failures.length > maxNamed ? `\n  and ${failures.length - maxNamed} more` : "";
  const happened = `The rotations of ${failures.length} of ${count} databases are not verified:${lines.join("")}${more}`;
  return new VerificationError({ happened, advice });
}

/** The warning about databases whose credential is not known; undefined if there are none. */
export function unverifiedWarning(targets: readonly VerificationTarget[]): string | undefined {
  const unverified = unverifiedIn(targets);
  if (unverified.length === 0) return undefined;
  const names = unverified.slice(0, maxNamed).map(({ name }) => JSON.stringify(name));
  const more = unverified.length > maxNamed ? ` and ${unverified.length - maxNamed} more` : "";
  return `Not verified, because no current credential is known: ${names.join(", ")}${more}.`;
}
