import { nameOf } from "../platform/endpoint";
import { VerificationError } from "../platform/errors";
import { keyOf } from "../platform/secretKind";
import { isObject, isSet } from "../records/fields";
import { isUnknown } from "../records/properties";
import { type Notice, type Planned, type Resource, type Result } from "../resource";
import { type AccessCredential } from "../rotation/access";
import { parsed } from "../rotation/memory";
import { type Desired } from "../rotation/plan";
import { formerIn } from "../rotation/rotate";
import { connectionInput } from "../rotation/rotation";
import { type Run } from "../run";
import { type Tools, verify } from "./attempts";
import { accessProblem, type Failure, isSameCredential, type Target, targetsIn } from "./targets";

export interface CredentialVerificationInputs extends Pick<Desired, "connection"> {
  /** JSON text of one `Access`, or of a map of names to them. */
  readonly access: string;
  readonly withinSeconds?: number | null | undefined;
}

/** What a CredentialVerification saves. */
export interface CredentialVerificationOutputs {
  readonly subject: string;
  readonly verified: boolean;
  readonly verifiedAt?: string | undefined;
  readonly formerRefused?: true | undefined;
  /** JSON text of a map of secrets to what is remembered of them. */
  readonly memory: string;
}

/** What is remembered of one secret. It has no value that the rotation does not save. */
interface Entry {
  /** Confirmed resets when it was last tried. */
  readonly count: number;
  /** The current credential, if all of it was verified. */
  readonly accepted?: Tried;
  /** Otherwise, the last one that was. */
  readonly former?: Tried | undefined;
  /** Whether the former ones were refused; false if one was not tried, undefined if there was none. */
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
  plan,
  apply,
};

/** Why a value of `withinSeconds` cannot be used, if it cannot. */
function secondsProblem(value: unknown): string | undefined {
  const isUsable = typeof value === "number" && Number.isFinite(value) && value > 0;
  return isUsable ? undefined : "must be a number of seconds above 0";
}

function plan(saved: CredentialVerificationOutputs | undefined, { access }: CredentialVerificationInputs): Planned {
  if (!saved || isUnknown(access)) return { changes: true, notices: [] };
  const before = readMemory(saved);
  const targets = targetsIn(access);
  return { changes: targets.length !== before.size || targets.some((one) => isDue(one, before)), notices: [] };
}

/** Whether a secret was reset, has another credential, or failed, since it was verified. */
function isDue({ subject, count, current }: Target, before: Memory): boolean {
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
  const before = readMemory(saved);
  const endsAtMs = clock.elapsedMs() + (withinSeconds ?? defaultWithinSeconds) * 1000;
  const tools = { run, endsAtMs, queue: run.platform.queueWithin() };
  const own = Object.entries(connection ?? {}).filter(([, value]) => isSet(value));
  const targets = targetsIn(access, Object.fromEntries(own));
  const due = targets.filter((target) => isDue(target, before));
  const results = await Promise.all(
    targets.map(async (target): Promise<Verified> => {
      const entry = before.get(keyOf(target.subject));
      return entry && !due.includes(target) ? { target, entry } : verifyTarget(target, entry, tools);
    }),
  );
  const failure = failureOf(results);
  const open = targets.filter(({ current }) => current === undefined);
  const isVerified = failure === undefined && due.some(({ current }) => current !== undefined);
  const refused = results.map(({ entry }) => entry.formerRefused);
  const outputs: CredentialVerificationOutputs = {
    subject: "verification",
    verified: failure === undefined && open.length === 0,
    verifiedAt: isVerified ? clock.now().toISOString() : saved?.verifiedAt,
    formerRefused: failure || !refused.includes(true) || refused.includes(false) ? undefined : true,
    memory: JSON.stringify(Object.fromEntries(results.map(({ target, entry }) => [keyOf(target.subject), entry]))),
  };
  return { outputs, failure, notices: open.length === 0 ? [] : [notVerified(open)] };
}

/** Verifies one secret, and returns what to remember of it. */
async function verifyTarget(target: Target, entry: Entry | undefined, tools: Tools): Promise<Verified> {
  const { count, current, username } = target;
  const former = entry?.accepted ?? entry?.former;
  if (!current) return { target, entry: { count, former } };
  const isSame = former !== undefined && isSameCredential(former, current);
  const others = former && !isSame ? [former] : [];
  const tries = [...formerInRun(target, current, tools.run), ...others].flatMap((one) => {
    return "value" in one && one.name === current.name && !isSameCredential(one, current) ? [one] : [];
  });
  const failure =
    isSame && former.count < count ? returnedAgain(target, current) : await verify(target, current, tries, tools);
  // A value that the rotation does not save any more is forgotten.
  const kept = former && "value" in former && "mark" in current ? undefined : former;
  if (failure) return { target, entry: { count, former: kept }, failure };
  // A reset that was not verified has replaced one that is not known here.
  const isGap = entry !== undefined && ![0, 1].includes(count - (former?.count ?? NaN));
  const isTried = others.every((one) => tries.some((other) => isSameCredential(one, other)));
  const formerRefused = isGap || !isTried ? false : tries.length > 0 || undefined;
  return { target, entry: { count, accepted: { ...current, count, username }, formerRefused } };
}

/** What resets of this run have replaced, if it is not saved: no later run can try it. */
function formerInRun({ subject, username, count }: Target, current: AccessCredential, run: Run): Tried[] {
  if ("value" in current) return [];
  const { name } = current;
  const values = new Set(formerIn(subject, run).flatMap((credentials) => credentials[name] ?? []));
  return [...values].map((value) => ({ name, value, count: count - 1, username }));
}

function returnedAgain({ subject }: Target, current: AccessCredential): Failure {
  const reason = `the former ${nameOf(current)} is still accepted: the platform returned it as the new one`;
  return { reason, advice: `Set a new version, which resets the ${subject.kind.word} again.` };
}

/** What is damaged is not known: it is verified again, and nothing is claimed from it. */
function readMemory(saved: CredentialVerificationOutputs | undefined): Memory {
  const entries = parsed(saved?.memory);
  const isEntry = ([, one]: [string, unknown]) => isObject(one) && typeof one["count"] === "number";
  return new Map(isObject(entries) ? (Object.entries(entries).filter(isEntry) as [string, Entry][]) : []);
}

function failureOf(results: readonly Verified[]): VerificationError | undefined {
  const failures = results.flatMap(({ target, failure }) => (failure ? { name: target.name, ...failure } : []));
  if (failures.length === 0) return undefined;
  const lines = named(failures.map(({ name, reason }) => `${name}: ${reason}`));
  const advice = [...new Set(failures.map((failure) => failure.advice))].join(" ");
  return new VerificationError({ happened: `Not verified:\n  ${lines.join("\n  ")}`, advice });
}

/** For secrets without a known credential, for example after a reset that was not confirmed. */
function notVerified(open: readonly Target[]): Notice {
  const names = named(open.map(({ name }) => name)).join(", ");
  return { text: `Not verified, because no current credential is known: ${names}.`, isWarning: true };
}

function named(lines: readonly string[]): readonly string[] {
  return lines.length > maxNamed ? [...lines.slice(0, maxNamed), `and ${lines.length - maxNamed} more`] : lines;
}
