import { subjectOf, type VerificationAccess, type VerificationTarget } from "./targets";
import { type ClientEndpoint } from "../platform/address";
import { type Credential, nameOf, type ProbeEndpoint, secretOf } from "../platform/credential";
import { ownerOf, type SecretKind, type Subject } from "../platform/secretKind";
import { resetsAreSaved, VerificationError } from "../platform/errors";
import { secondsProblem } from "../rotation/arguments";
import { listed } from "../rotation/notices";
import { replacedIn } from "../rotation/saved";
import { unreadableIn } from "../rotation/saving";
import { byId, parsed } from "../rotation/shardState";
import { isMarkOf, like, nameIn, type UnsavedCredential } from "./unsaved";
import { type FormerCredential, verify, type VerificationFailure, type VerificationTools } from "./attempts";
import { type CheckFailure, type Difference, type Resource, type Result, type Schemas } from "../resource";
import { type Run } from "../run";

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
  /** The id of the database, what else has the secret and its id, or the URN of the fleet. */
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
  /** The credential that was verified last, or its mark; undefined if none is known. */
  readonly credential?: Credential | UnsavedCredential | undefined;
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

/** What was found for one database. */
interface Verified {
  readonly target: VerificationTarget;
  readonly saved: SavedDatabase;
  readonly failure?: VerificationFailure | undefined;
}

export const passwordVerification: Resource<PasswordVerificationInputs, PasswordVerificationOutputs> = {
  idInput: "subject",
  outputs: passwordVerificationOutputs,
  secretOutputs: secretPasswordVerificationOutputs,
  decidingInputs: ["subject", "targets"],
  inputs: (schemas) => ({
    required: ["subject", "targets"],
    schemas: { ...verificationInputs(schemas).schemas, subject: schemas.internal, targets: schemas.internal },
  }),
  check: ({ subject }, unknown, run) => (unknown.has("subject") ? [] : checkReadable(subject, run)),
  reported: (failure) => ({ ...failure, advice: resetsAreSaved }),
  diff,
  apply,
};

/** The inputs of a verification without what is verified. */
export function verificationInputs({ z, refuse }: Schemas) {
  return { required: [], schemas: { withinSeconds: z.unknown().superRefine(refuse(secondsProblem)) } };
}

/** Refuses in the preview what could only fail after the reset. */
function checkReadable(subject: string, run: Run): CheckFailure[] {
  if (!unreadableIn(run).has(subject)) return [];
  const reason =
    "its rotation or fleet has saveCredentials: false, and this platform cannot be read, so the new password would not be known. Set rekey:databasePath, or remove saveCredentials or this verification";
  return [{ property: "subject", reason }];
}

const defaultWithinSeconds = 30;
/** Databases that are named in one message. */
const maxNamed = 20;
/** Credentials of one database that are remembered in addition to the one that was verified last. */
const mostTried = 5;

function diff(saved: PasswordVerificationOutputs, inputs: PasswordVerificationInputs): Difference {
  if (saved.subject !== inputs.subject) return { changes: true, replaces: ["subject"], notices: [] };
  const before = openTargets(saved);
  const targets = targetsOf(inputs);
  const changes = targets.length !== before.size || targets.some((target) => isDue(target, before));
  return { changes, notices: [] };
}

/** Only databases that were rotated since are contacted. */
async function apply(
  saved: PasswordVerificationOutputs | undefined,
  inputs: PasswordVerificationInputs,
  run: Run,
): Promise<Result<PasswordVerificationOutputs>> {
  const { clock } = run.options;
  const before = saved ? openTargets(saved) : new Map<string, SavedDatabase>();
  const endsAt = clock.elapsedMs() + (inputs.withinSeconds ?? defaultWithinSeconds) * 1000;
  const targets = targetsOf(inputs);
  const due = new Set(targets.filter((target) => target.access !== undefined && isDue(target, before)));
  const queue = run.platform.queueWithin();
  const results = await Promise.all(
    targets.map(async (target): Promise<Verified> => {
      const entry = before.get(target.databaseId);
      if (entry && target.access && !due.has(target)) return { target, saved: entry };
      return { target, ...(await verifyDatabase(target, entry, { endsAt, queue, run })) };
    }),
  );
  const failure = failureOf(results);
  const databases = results.map(({ saved: database }) => database);
  const verifiedAt = due.size > 0 && !failure ? clock.now().toISOString() : saved?.verifiedAt;
  const refused = databases.map(({ formerRefused }) => formerRefused);
  const outputs: PasswordVerificationOutputs = {
    subject: inputs.subject,
    verified: !failure && unverifiedIn(targets).length === 0,
    ...(verifiedAt !== undefined && { verifiedAt }),
    ...(!failure && refused.includes(true) && !refused.includes(false) && { formerRefused: true }),
    targets: JSON.stringify(databases),
  };
  return { outputs, failure, notices: [] };
}

/** Verifies a database, and returns what to save of it. */
async function verifyDatabase(
  target: VerificationTarget,
  entry: SavedDatabase | undefined,
  tools: VerificationTools,
): Promise<Pick<Verified, "saved" | "failure">> {
  const { databaseId, rotatedAt, rotationCount, access, unsaved } = target;
  const known = entry ? knownIn(entry) : [];
  // A rotation that was not verified, for example because the run was killed.
  const isGap = (rotationCount ?? 0) > (entry?.rotationCount ?? Infinity) + 1;
  if (access === undefined) {
    const kept = unsaved ? remembered([], true) : remembered(known, entry?.forgotten || isGap);
    return { saved: { databaseId, rotatedAt, rotationCount, ...kept } };
  }
  const { credential } = access;
  const current: Current = { credential, rotatedAt };
  const subject = subjectOf(target);
  const replaced = replacedCredentials(subject, credential, known, tools.run);
  const formers = [...replaced, ...known].filter((one) => isFormer(one, current));
  const forgotten = entry?.forgotten || isGap || (isLost(entry, current) && replaced.length === 0);
  const formerRefused = forgotten ? false : formers.length > 0 || undefined;
  const endpoint = probeEndpointOf(subject.kind, access, tools.run);
  const failure = await verify({ subject, endpoint, credential, formers }, tools);
  if ("mark" in credential) {
    if (failure) return { saved: { databaseId, failed: true, rotationCount, ...remembered([], true) }, failure };
    return { saved: { databaseId, rotatedAt, rotationCount, credential, formerRefused } };
  }
  const others = (list: readonly FormerCredential[]) => list.filter((one) => !isSame(one, current));
  if (failure) {
    const tried = [{ credential, rotatedAt }, ...others(entry?.tried ?? [])];
    return { saved: { databaseId, ...entry, failed: true, rotationCount, ...remembered(tried, forgotten) }, failure };
  }
  const rest = others(known).filter((one) => !formers.includes(one));
  return { saved: { databaseId, rotatedAt, rotationCount, credential, ...remembered(rest), formerRefused } };
}

/** The credential that is verified now, which may be known by its mark only, and the time of its rotation. */
type Current = Pick<SavedDatabase, "rotatedAt"> & Pick<VerificationAccess, "credential">;

/** What resets of this run have replaced, if it is not saved: only this run can try it. */
function replacedCredentials(
  subject: Subject,
  credential: Current["credential"],
  known: readonly FormerCredential[],
  run: Run,
): FormerCredential[] {
  if (!("mark" in credential)) return [];
  const secrets = new Set(known.map((one) => secretOf(one.credential)));
  return replacedIn(subject, run).flatMap((credentials) => {
    const one = like(credential, credentials);
    if (!one || secrets.has(secretOf(one))) return [];
    secrets.add(secretOf(one));
    return [{ credential: one }];
  });
}

/** Whether the credential that was verified last was replaced, and is known by its mark only. */
function isLost(entry: SavedDatabase | undefined, current: Current): boolean {
  const last = entry?.credential;
  return last !== undefined && "mark" in last && !isSameSecret(last, current.credential);
}

function isSameSecret(a: Current["credential"], b: Current["credential"]): boolean {
  if ("mark" in a) return "mark" in b ? a.mark === b.mark : isMarkOf(a, b);
  return "mark" in b ? isMarkOf(b, a) : secretOf(a) === secretOf(b);
}

/** Where the credential of a target is tried. @throws SettingsError if a setting is missing or cannot be used */
function probeEndpointOf({ probe }: SecretKind, { credential, ...place }: VerificationAccess, run: Run): ProbeEndpoint {
  if (!probe || "host" in place) return place as ClientEndpoint;
  const { restUrl = run.options.queueUrl() } = place;
  return { ...probe, baseUrl: restUrl.replace(/\/$/, "") };
}

/** All credentials whose values a saved database has, the newest first. */
function knownIn({ tried = [], credential, rotatedAt }: SavedDatabase): FormerCredential[] {
  return [...tried, ...(credential && !("mark" in credential) ? [{ credential, rotatedAt }] : [])];
}

function remembered(tried: readonly FormerCredential[], forgotten = false): Pick<SavedDatabase, "tried" | "forgotten"> {
  return {
    tried: tried.length > 0 ? tried.slice(0, mostTried) : undefined,
    forgotten: forgotten || tried.length > mostTried || undefined,
  };
}

/** Whether the rotation of a credential must have invalidated another one, which can be tried like it. */
function isFormer({ credential, rotatedAt }: FormerCredential, current: Current): boolean {
  if (nameOf(credential) !== nameIn(current.credential)) return false;
  return rotatedAt !== current.rotatedAt || !isSameSecret(credential, current.credential);
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

function failureOf(results: readonly Verified[]): VerificationError | undefined {
  const count = results.length;
  const failures = results.flatMap(({ target, failure }) => (failure ? { target, ...failure } : []));
  const [first] = failures;
  if (!first) return undefined;
  const advice = [...new Set(failures.map((failure) => failure.advice))].join(" ");
  if (count === 1) {
    const happened = `The rotation of ${ownerOf(subjectOf(first.target))} is not verified: ${first.reason}.`;
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
  const names = unverified.map(({ name }) => name);
  return `Not verified, because no current credential is known: ${listed(names, maxNamed)}.`;
}
