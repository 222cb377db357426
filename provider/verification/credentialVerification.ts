import { nameOf } from "../platform/credential";
import { StateError, VerificationError } from "../platform/errors";
import { keyOf, ownerOf } from "../platform/secretKind";
import { isObject, isSet } from "../records/fields";
import { isUnknown } from "../records/properties";
import { type InputProblem, type Notice, type Planned, type Resource, type Result } from "../resource";
import { type AccessCredential } from "../rotation/access";
import { secondsProblem } from "../rotation/arguments";
import { saltedMark } from "../rotation/memory";
import { type Desired } from "../rotation/plan";
import { replacedIn } from "../rotation/rotate";
import { connectionInput } from "../rotation/rotation";
import { type Run } from "../run";
import { type Tools, verify } from "./attempts";
import { accessProblem, type Failure, isSameCredential, type Target, targetsIn, triedAs } from "./targets";

export interface CredentialVerificationInputs extends Pick<Desired, "connection"> {
  /** JSON text of one `Access`, or of a map of names to them. */
  readonly access: string;
  readonly withinSeconds?: number | null | undefined;
}

/** What a CredentialVerification saves. */
export interface CredentialVerificationOutputs {
  readonly subject: string;
  readonly verified: boolean;
  readonly verifiedAt?: string;
  readonly formerRefused?: true;
  /** JSON text of a map of secrets to what is remembered of them. */
  readonly memory: string;
}

/** What is remembered of one secret. It has no value that the rotation does not save. */
interface Entry {
  /** Confirmed resets when it was last tried. */
  readonly count: number;
  /** The current credential, if it was accepted. */
  readonly accepted?: Tried;
  /** Those that were tried as the current one, and were not refused since; the newest first. */
  readonly tried?: readonly Tried[];
  /** Whether there are other former ones, which are not known here. */
  readonly forgotten?: true;
  /** Whether all former ones were refused; false if some were not tried, undefined if there were none. */
  readonly formerRefused?: boolean | undefined;
}

/** A credential, the confirmed resets when it was the current one, and its user. */
type Tried = AccessCredential & { readonly count: number; readonly username?: string | undefined };

type Memory = ReadonlyMap<string, Entry>;

/** What was found for one secret. */
interface Verified {
  readonly target: Target;
  readonly entry: Entry;
  readonly failure?: Failure | undefined;
}

const defaultWithinSeconds = 30;
/** Secrets that are named in one message. */
const maxNamed = 20;
/** Credentials of one secret that are remembered: one that was accepted, and those of five failures after it. */
const maxTried = 6;

export const credentialVerification: Resource<CredentialVerificationInputs, CredentialVerificationOutputs> = {
  idInput: "subject",
  onlyId: "verification",
  outputs: { subject: "plain", verified: "plain", verifiedAt: "plain", formerRefused: "plain", memory: "secret" },
  inputs: (schemas) => ({
    required: ["access"],
    schemas: {
      access: schemas.z.unknown().superRefine(schemas.refuse(accessProblem)),
      ...connectionInput(schemas),
      withinSeconds: schemas.z.unknown().superRefine(schemas.refuse(secondsProblem)),
    },
  }),
  check,
  plan,
  apply,
};

function check({ access, connection }: CredentialVerificationInputs): InputProblem[] {
  if (isUnknown(access) || !isSet(connection)) return [];
  const other = targetsIn(access).find((target) => target.subject.kind.probe !== undefined);
  return other ? [{ property: "connection", problem: `is for databases only: ${other.name} has its own address` }] : [];
}

function plan(saved: CredentialVerificationOutputs | undefined, { access }: CredentialVerificationInputs): Planned {
  if (!saved || isUnknown(access)) return { changes: true, notices: [] };
  const before = readMemory(saved);
  const targets = targetsIn(access);
  return { changes: targets.length !== before.size || targets.some((one) => isDue(one, before)), notices: [] };
}

/** Whether a secret was reset, has another credential, or failed, since it was verified. */
function isDue({ subject, access: { count, current } }: Target, before: Memory): boolean {
  const entry = before.get(keyOf(subject));
  if (entry?.count !== count) return true;
  const { accepted } = entry;
  if (!accepted || !current) return accepted !== current;
  // A value that is not saved any more is replaced by its mark.
  return "value" in accepted !== "value" in current || !isSameCredential(accepted, current);
}

/** Only secrets that are due are contacted. */
async function apply(
  saved: CredentialVerificationOutputs | undefined,
  { access, connection, withinSeconds }: CredentialVerificationInputs,
  run: Run,
): Promise<Result<CredentialVerificationOutputs>> {
  const { clock } = run.options;
  const before: Memory = saved ? readMemory(saved) : new Map();
  const endsAtMs = clock.elapsedMs() + (withinSeconds ?? defaultWithinSeconds) * 1000;
  const tools = { run, endsAtMs, queue: run.platform.queueWithin() };
  const own = Object.entries(connection ?? {}).filter(([, value]) => isSet(value));
  const targets = targetsIn(access, Object.fromEntries(own));
  const due = new Set(targets.filter((target) => isDue(target, before)));
  const results = await Promise.all(
    targets.map(async (target): Promise<Verified> => {
      const entry = before.get(keyOf(target.subject));
      return entry && !due.has(target) ? { target, entry } : verifyTarget(target, entry, tools);
    }),
  );
  const failure = failureOf(results);
  const open = targets.filter((target) => target.access.current === undefined);
  const isVerified = failure === undefined && [...due].some((target) => !open.includes(target));
  const verifiedAt = isVerified ? clock.now().toISOString() : saved?.verifiedAt;
  const refused = results.map(({ entry }) => entry.formerRefused);
  const outputs: CredentialVerificationOutputs = {
    subject: "verification",
    verified: failure === undefined && open.length === 0,
    ...(verifiedAt !== undefined && { verifiedAt }),
    ...(failure === undefined && refused.includes(true) && !refused.includes(false) && { formerRefused: true }),
    memory: JSON.stringify(Object.fromEntries(results.map(({ target, entry }) => [keyOf(target.subject), entry]))),
  };
  return { outputs, failure, notices: open.length === 0 ? [] : [notVerified(open)] };
}

/** Verifies one secret, and returns what to remember of it. */
async function verifyTarget(target: Target, entry: Entry | undefined, tools: Tools): Promise<Verified> {
  const { username } = target;
  const { count, current } = target.access;
  const { accepted, tried = [], forgotten = false } = entry ?? {};
  const known = [...replacedInRun(target, tools.run), ...(accepted ? [accepted] : []), ...tried];
  // A reset that was not verified, for example because the run was killed.
  const isIncomplete = forgotten || (entry !== undefined && count > entry.count + 1);
  const remember = (all: readonly Tried[]): Entry => {
    return {
      count,
      tried: all.slice(0, maxTried),
      ...((isIncomplete || all.length > maxTried) && { forgotten: true }),
    };
  };
  if (!current) return { target, entry: remember(known) };
  const isCurrent = (one: Tried) => isSameCredential(one, current);
  const formers = known.filter((one) => !isCurrent(one));
  const triable = formers.flatMap((one) => ("value" in one && one.name === current.name ? [one] : []));
  const isReturned = known.some((one) => one.count < count && isCurrent(one));
  const tries = triable.map((one) => triedAs(one, one.username));
  const failure = isReturned ? returnedAgain(target, current) : await verify(target, current, tries, tools);
  const now: Tried = { ...current, count, username };
  if (failure) {
    const all = known.some(isCurrent) ? known : [now, ...known];
    return { target, entry: remember("mark" in current ? all.map((one) => marked(one, current.salt)) : all), failure };
  }
  const isOpen = isIncomplete || !formers.every((one) => triable.some((other) => isSameCredential(one, other)));
  const formerRefused = isOpen ? false : formers.length > 0 || undefined;
  return { target, entry: { count, accepted: now, formerRefused } };
}

/** What resets of this run have replaced, if it is not saved: no later run can try it. */
function replacedInRun({ subject, username, access: { count, current } }: Target, run: Run): Tried[] {
  if (!current || "value" in current) return [];
  const { name } = current;
  const values = new Set(replacedIn(subject, run).flatMap((credentials) => credentials[name] ?? []));
  return [...values].map((value) => ({ name, value, count: count - 1, username }));
}

/** A credential without its value. */
function marked(one: Tried, salt: string): Tried {
  if ("mark" in one) return one;
  const { value, ...others } = one;
  return { ...others, mark: saltedMark(salt, value), salt };
}

function returnedAgain({ subject }: Target, { name }: AccessCredential): Failure {
  const what = nameOf(triedAs({ name, value: "" }));
  const reason = `the former ${what} is still accepted: the platform returned it as the new one`;
  return { reason, advice: `Set a new version, which resets the ${subject.kind.word} again.` };
}

/** @throws StateError if it is damaged: nothing is claimed from a part of it */
function readMemory({ memory }: CredentialVerificationOutputs): Memory {
  let entries: unknown;
  try {
    entries = JSON.parse(memory);
  } catch {
    // Reported below.
  }
  const isEntry = (one: unknown) => isObject(one) && typeof one["count"] === "number";
  if (isObject(entries) && Object.values(entries).every(isEntry)) return new Map(Object.entries(entries)) as Memory;
  const advice = "Take the verification out of the state: the next `up` creates it again, and resets nothing.";
  throw new StateError({ output: "memory", reason: "cannot be read", advice });
}

function failureOf(results: readonly Verified[]): VerificationError | undefined {
  const failures = results.flatMap(({ target, failure }) => (failure ? { target, ...failure } : []));
  const [first] = failures;
  if (!first) return undefined;
  const advice = [...new Set(failures.map((failure) => failure.advice))].join(" ");
  const lines = named(failures.map(({ target, reason }) => `${target.name}: ${reason}`));
  const happened =
    results.length === 1
      ? `The rotation of ${ownerOf(first.target.subject)} is not verified: ${first.reason}.`
      : `The rotations of ${failures.length} of ${results.length} databases are not verified:\n  ${lines.join("\n  ")}`;
  return new VerificationError({ happened, advice });
}

/** For secrets without a known credential, for example after a reset that was not confirmed. */
function notVerified(open: readonly Target[]): Notice {
  const names = named(open.map(({ name }) => name)).join(", ");
  return { text: `Not verified, because no current credential is known: ${names}.`, isWarning: true };
}

function named(lines: readonly string[]): readonly string[] {
  return lines.length > maxNamed ? [...lines.slice(0, maxNamed), `and ${lines.length - maxNamed} more`] : lines;
}
