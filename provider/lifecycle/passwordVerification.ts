import { type Credential } from "../api/databaseProbe";
import { type Endpoint } from "../api/endpoint";
import { VerificationError } from "../api/errors";
import {
  type Applied,
  type CheckFailure,
  type Difference,
  type PasswordVerificationOutputs,
  secretPasswordVerificationOutputs,
} from "./resource";
import { type Session } from "./session";
import { byId, parsed } from "./shardState";
import { verify, type VerificationFailure } from "./verification";

/** A database after its rotation. */
export interface VerificationTarget {
  readonly databaseId: string;
  /** Its name in the program. */
  readonly name: string;
  /** Time of the last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  /** Undefined if no credential is known. */
  readonly access?: (Endpoint & { readonly credential: Credential }) | undefined;
}

export interface PasswordVerificationInputs {
  /** The id of the database, or the URN of the fleet. */
  readonly subject: string;
  /** JSON text of a list of `VerificationTarget`, which contains credentials. */
  readonly targets: string;
  readonly withinSeconds?: number | null;
}

/** The saved state of a database. */
interface VerifiedTarget {
  readonly databaseId: string;
  readonly rotatedAt?: string | undefined;
  /** The credential that was verified; undefined if none was known. */
  readonly credential?: Credential | undefined;
  /** If none was known: the one that was verified before. */
  readonly former?: Credential | undefined;
  /** Whether the credential before this one was refused; undefined if none was known. */
  readonly formerRefused?: true | undefined;
}

interface Failure extends VerificationFailure {
  readonly target: VerificationTarget;
}

function isFailure(result: VerifiedTarget | Failure): result is Failure {
  return "target" in result;
}

export const secretOutputs = secretPasswordVerificationOutputs;

/** Inputs that decide whether anything is verified. */
export const decidingInputs = ["subject", "targets"] as const;

const defaultWithinSeconds = 30;
/** Databases that are named in one message. */
const mostNamed = 20;

export function check(inputs: PasswordVerificationInputs, unknown: ReadonlySet<string>): CheckFailure[] {
  const { checkInputs, passwordVerificationInputs } = require("./inputs") as typeof import("./inputs");
  return checkInputs(passwordVerificationInputs, { ...inputs }, unknown);
}

export function diff(saved: PasswordVerificationOutputs, inputs: PasswordVerificationInputs): Difference {
  if (saved.subject !== inputs.subject) return { changes: true, replaces: ["subject"] };
  const before = openTargets(saved);
  const targets = targetsOf(inputs);
  return { changes: targets.length !== before.size || targets.some((target) => isDue(target, before)) };
}

/** Creates if nothing is saved, else updates. Only databases that were rotated since are contacted. */
export async function apply(
  saved: PasswordVerificationOutputs | undefined,
  inputs: PasswordVerificationInputs,
  session: Session,
): Promise<Applied<PasswordVerificationOutputs>> {
  const { platform, timer, now } = session.options;
  const before = saved ? openTargets(saved) : new Map<string, VerifiedTarget>();
  const endsAt = timer.now() + (inputs.withinSeconds ?? defaultWithinSeconds) * 1000;
  const targets = targetsOf(inputs);
  const due = new Set(targets.filter((target) => target.access !== undefined && isDue(target, before)));
  const tools = { probe: platform.probe, queue: platform.queueWithin(), timer };
  const results = await Promise.all(
    targets.map(async (target): Promise<VerifiedTarget | Failure> => {
      const { databaseId, rotatedAt, access } = target;
      const entry = before.get(databaseId);
      if (access === undefined) return { databaseId, rotatedAt, former: entry?.credential ?? entry?.former };
      if (entry && !due.has(target)) return entry;
      const { credential, ...endpoint } = access;
      const former = formerOf(target, entry);
      const failure = await verify({ databaseId, endpoint, credential, former }, endsAt, tools);
      return failure
        ? { target, ...failure }
        : { databaseId, rotatedAt, credential, ...(former && { formerRefused: true }) };
    }),
  );
  // Nothing is saved, so that the next `up` verifies all of them again.
  const failures = results.filter(isFailure);
  if (failures.length > 0) throw failureOf(failures, targets.length);
  const verified = results.filter((result): result is VerifiedTarget => !isFailure(result));
  const unverified = targets.filter(({ access }) => access === undefined);
  const verifiedAt = due.size > 0 ? now().toISOString() : saved?.verifiedAt;
  const outputs: PasswordVerificationOutputs = {
    subject: inputs.subject,
    verified: unverified.length === 0,
    ...(verifiedAt !== undefined && { verifiedAt }),
    ...(verified.some(({ formerRefused }) => formerRefused) && { formerRefused: true }),
    targets: JSON.stringify(verified),
  };
  return unverified.length === 0 ? { outputs } : { outputs, notice: noticeOf(unverified) };
}

/** Whether a database was rotated, or has another credential, since it was verified. */
function isDue({ databaseId, rotatedAt, access }: VerificationTarget, before: Map<string, VerifiedTarget>): boolean {
  const entry = before.get(databaseId);
  return !entry || entry.rotatedAt !== rotatedAt || !isSame(entry.credential, access?.credential);
}

function isSame(a: Credential | undefined, b: Credential | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The credential that the last rotation must have invalidated, if it is of the same kind. */
function formerOf({ rotatedAt, access }: VerificationTarget, entry: VerifiedTarget | undefined) {
  const former = entry?.credential ?? entry?.former;
  if (!former || !access || entry?.rotatedAt === rotatedAt) return undefined;
  return "password" in former === "password" in access.credential ? former : undefined;
}

function targetsOf({ targets }: PasswordVerificationInputs): VerificationTarget[] {
  return JSON.parse(targets) as VerificationTarget[];
}

/** @throws StateError if the saved output is damaged */
function openTargets({ targets }: PasswordVerificationOutputs): Map<string, VerifiedTarget> {
  return byId<VerifiedTarget>(parsed(targets), "targets");
}

function failureOf(failures: readonly Failure[], count: number): VerificationError {
  const advice = [...new Set(failures.map((failure) => failure.advice))].join(" ");
  const [first] = failures;
  if (count === 1 && first) {
    const database = JSON.stringify(first.target.databaseId);
    return new VerificationError(`The rotation of database ${database} is not verified: ${first.reason}.`, advice);
  }
  const lines = failures.slice(0, mostNamed).map(({ target, reason }) => `\n  ${target.name}: ${reason}`);
  const more = failures.length > mostNamed ? `\n  and ${failures.length - mostNamed} more` : "";
  return new VerificationError(
    `The rotations of ${failures.length} of ${count} databases are not verified:${lines.join("")}${more}`,
    advice,
  );
}

function noticeOf(unverified: readonly VerificationTarget[]): string {
  const names = unverified.slice(0, mostNamed).map(({ name }) => JSON.stringify(name));
  const more = unverified.length > mostNamed ? ` and ${unverified.length - mostNamed} more` : "";
  return `Not verified, because no current credential is known: ${names.join(", ")}${more}.`;
}
