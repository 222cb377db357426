import { type Credential, credentialNoun } from "../domain/endpoint";
import { outputsAreFormer, RekeyError } from "../domain/errors";
import { ownerOf } from "../domain/secretKind";
import { isObject, isSet } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import {
  type InputProblem,
  type Notice,
  type Planned,
  type Resource,
  type Result,
} from "../resource/resource";
import { type AccessCredential, plainTextProblem } from "../rotation/access";
import { type Desired } from "../rotation/desired";
import { saltedMark } from "../rotation/marks";
import { parsed } from "../rotation/state";
import { connectionInput } from "../rotation/rotationInputs";
import { type Run } from "../run/run";
import { type Failure, type Tools, verify } from "./attempts";
import { formersOf, isFormerRefused } from "./formers";
import {
  keptNotice,
  type OverlappingTarget,
  plannedRetirement,
  retiredNotice,
  retireFormerOf,
  unknownRetirement,
  waitingNotice,
} from "./retirement";
import { connectionIn, connectionsIn, type Target, targetsIn } from "./targets";

export interface CredentialVerificationInputs extends Pick<Desired, "connection"> {
  /** JSON text of one `Access`, or of a map of names to them. */
  readonly access: string;
  readonly withinSeconds?: number | null | undefined;
  readonly retireFormer?: boolean | null | undefined;
}

/** What a CredentialVerification saves. */
export interface CredentialVerificationOutputs {
  readonly subject: string;
  readonly verified: boolean;
  readonly verifiedAt?: string | undefined;
  readonly formerRefused?: true | undefined;
  readonly formerRetiredAt?: string | undefined;
  /** JSON text of a map of secrets to what is remembered of them. */
  readonly memory: string;
}

/** What is saved of one secret: what was verified last, and the result. */
interface Entry {
  /** Confirmed resets, and the mark of the current credential; undefined if that was not known. */
  readonly count: number;
  readonly mark?: string | undefined;
  readonly failure?: Failure | undefined;
  readonly formerRefused?: true | undefined;
  /**
   * The credential that the last successful verification has accepted, with its value if the rotation saves values:
   * after the next reset, it must be refused.
   */
  readonly accepted?: AccessCredential | undefined;
  /** The former one that is valid until it is retired. It was not tried, as far as it is known, and must be then. */
  readonly kept?: { readonly former?: AccessCredential | undefined } | undefined;
  /** When this resource has retired the former one, or has found that it was. */
  readonly retiredAt?: string | undefined;
}

type Entries = ReadonlyMap<string, Entry>;

/** What was found for one secret. */
interface Verified {
  readonly target: Target;
  readonly entry: Entry;
  readonly notices?: readonly Notice[];
}

/** What one call verifies with. */
interface Verification extends Tools {
  readonly retireFormer: boolean;
}

const defaultWithinSeconds = 30;

export const credentialVerification: Resource<
  CredentialVerificationInputs,
  CredentialVerificationOutputs
> = {
  idInput: "subject",
  onlyId: "verification",
  outputs: {
    subject: "plain",
    verified: "plain",
    verifiedAt: "plain",
    formerRefused: "plain",
    formerRetiredAt: "plain",
    memory: "secret",
  },
  inputs: (schemas) => {
    const access = schemas.z.unknown().superRefine(schemas.refuseIf(accessProblem));
    const seconds = "must be a number of seconds above 0";
    const withinSeconds = schemas.z.number(seconds).positive(seconds);
    return {
      required: ["access"],
      schemas: { access, ...connectionInput(schemas), withinSeconds, retireFormer: schemas.flag },
    };
  },
  check,
  plan,
  apply,
};

/** As for a rotation: a password is never sent in plain text, and what is wrong is reported before anything is sent. */
function check({ access, connection }: CredentialVerificationInputs, run: Run): InputProblem[] {
  const own = connectionIn(connection);
  // While the access is unknown, the host may be that of the rotation.
  if (isUnknown(connection) || (isUnknown(access) && own.host === undefined)) return [];
  const connections = isUnknown(access) ? [own] : connectionsIn(targetsIn(access, own));
  const problems = connections.map((one) =>
    plainTextProblem(one, run.options.settings.databaseHost),
  );
  const problem = problems.find(isSet);
  return problem === undefined
    ? []
    : [{ property: "connection", problem: `has a tls that ${problem}` }];
}

/** What is wrong with an input `access`. It is a secret, so nothing of it is shown. */
function accessProblem(given: unknown): string | undefined {
  try {
    targetsIn(given as string);
    return undefined;
  } catch {
    return "must be the output `access` of a rotation or a fleet";
  }
}

function plan(
  saved: CredentialVerificationOutputs | undefined,
  { access, retireFormer }: CredentialVerificationInputs,
): Planned {
  const retires = retireFormer === true;
  if (isUnknown(access)) return { changes: true, notices: retires ? [unknownRetirement] : [] };
  const before = entriesIn(saved);
  const targets = targetsIn(access);
  const due = targets.filter((target) =>
    isDue(target, before.get(ownerOf(target.subject)), retires),
  );
  const retired = retires ? due.filter(({ retire }) => retire !== undefined) : [];
  return {
    changes: !saved || targets.length !== before.size || due.length > 0,
    notices: retired.map(plannedRetirement),
  };
}

/**
 * Whether a secret is to be verified, because it was changed or failed, or its former one is, or is to be, retired; or
 * must be saved without its value.
 */
function isDue(target: Target, entry: Entry | undefined, retires: boolean): boolean {
  if (!entry || entry.failure || !isAbout(entry, target)) return true;
  if (entry.kept && (retires || !target.retire)) return true;
  return withoutUnsaved(entry.accepted, target) !== entry.accepted;
}

/** Whether an entry is about the credential that is current now. */
function isAbout({ count, mark }: Entry, target: Target): boolean {
  return count === target.count && mark === target.current?.mark;
}

/** A credential without its value, if the rotation does not save values any more. */
function withoutUnsaved(accepted: Entry["accepted"], { current }: Target): Entry["accepted"] {
  if (accepted?.value === undefined || !current || current.value !== undefined) return accepted;
  return { ...accepted, value: undefined };
}

async function apply(
  saved: CredentialVerificationOutputs | undefined,
  { access, connection, withinSeconds, retireFormer }: CredentialVerificationInputs,
  run: Run,
): Promise<Result<CredentialVerificationOutputs>> {
  const { clock } = run.options;
  const before = entriesIn(saved);
  const endsAtMs = clock.elapsedMs() + (withinSeconds ?? defaultWithinSeconds) * 1000;
  const queue = run.platform.queueWithin();
  const tools: Verification = { run, endsAtMs, queue, retireFormer: retireFormer === true };
  const results = await Promise.all(
    targetsIn(access, connectionIn(connection)).map((target) =>
      verifyTarget(target, before.get(ownerOf(target.subject)), tools),
    ),
  );
  const isNew = results.some(
    ({ target, entry }) => target.current && before.get(ownerOf(target.subject)) !== entry,
  );
  const failure = failureOf(results);
  const verifiedAt = isNew && !failure ? clock.now().toISOString() : saved?.verifiedAt;
  const open = results.flatMap(({ target }) => (target.current ? [] : target.name));
  const verified = !failure && open.length === 0;
  const outputs: CredentialVerificationOutputs = {
    subject: "verification",
    verified,
    verifiedAt,
    formerRefused: verified ? areFormersRefused(results) : undefined,
    formerRetiredAt: lastRetirement(results),
    memory: JSON.stringify(
      Object.fromEntries(results.map(({ target, entry }) => [ownerOf(target.subject), entry])),
    ),
  };
  const said = results.flatMap(({ notices = [] }) => notices);
  return { outputs, failure, notices: [...said, ...(open.length > 0 ? [notVerified(open)] : [])] };
}

function lastRetirement(results: readonly Verified[]): string | undefined {
  return results
    .flatMap(({ entry }) => entry.retiredAt ?? [])
    .toSorted()
    .at(-1);
}

/** For example after a reset that was not confirmed. */
function notVerified(names: readonly string[]): Notice {
  const text = `Not verified, because no current credential is known: ${named(names).join(", ")}.`;
  return { text, isWarning: true };
}

/** Verifies one secret, if it is due, and returns what to save of it. */
async function verifyTarget(
  target: Target,
  entry: Entry | undefined,
  tools: Verification,
): Promise<Verified> {
  if (entry && !isDue(target, entry, tools.retireFormer)) return { target, entry };
  const { count, current, retire } = target;
  const next: Entry = {
    count,
    mark: current?.mark,
    accepted: withoutUnsaved(entry?.accepted, target),
  };
  if (!current) return { target, entry: next };
  const lasting = lastingFailure(entry, target);
  if (lasting) return { target, entry: { ...next, failure: lasting } };
  const before = beforeOf(entry, target);
  const formers = formersOf({ ...target, current }, before ?? {}, tools.run);
  if (retire) return verifyOverlap({ ...target, current, retire }, entry, formers, tools);
  const failure = await failureIn(target, current, formers, tools);
  if (failure) return { target, entry: { ...next, kept: keptIn(entry, target), failure } };
  const formerRefused = isFormerRefused(target, before, formers) || undefined;
  const retiredAt = entry && isAbout(entry, target) ? entry.retiredAt : undefined;
  return {
    target,
    entry: { count, mark: current.mark, accepted: current, formerRefused, retiredAt },
  };
}

/** Why a secret is not verified, without secrets. */
async function failureIn(
  target: Target,
  current: AccessCredential,
  formers: readonly Credential[],
  tools: Tools,
): Promise<Failure | undefined> {
  const failure = await verify(target, current, formers, tools);
  return failure && { ...failure, reason: tools.run.redacted(failure.reason) };
}

/** What the former one is compared with: that which is kept, or what was accepted before. */
function beforeOf(entry: Entry | undefined, target: Target): Pick<Entry, "accepted"> | undefined {
  const kept = keptIn(entry, target);
  return kept ? { accepted: kept.former } : entry;
}

function keptIn(entry: Entry | undefined, target: Target): Entry["kept"] {
  return entry && isAbout(entry, target) ? entry.kept : undefined;
}

/** Verifies a secret whose former one is valid, and then retires that, if it is asked for. */
async function verifyOverlap(
  target: OverlappingTarget,
  entry: Entry | undefined,
  formers: readonly Credential[],
  tools: Verification,
): Promise<Verified> {
  const { count, current } = target;
  const kept = keptIn(entry, target) ?? { former: formerToKeep(target, formers) };
  const proven: Entry = { count, mark: current.mark, accepted: current, kept };
  const refused = await failureIn(target, current, [], tools);
  if (refused) {
    return { target, entry: { ...proven, accepted: entry?.accepted, failure: refused } };
  }
  if (!tools.retireFormer) return { target, entry: proven, notices: [keptNotice(target)] };
  const result = await retireFormerOf(target, tools.run);
  if (result && "waits" in result) {
    return { target, entry: proven, notices: [waitingNotice(target, result.waits)] };
  }
  if (result) return { target, entry: { ...proven, failure: result } };
  const retiredAt = tools.run.options.clock.now().toISOString();
  const notices = [retiredNotice(target)];
  const failure = await failureIn(target, current, formers, tools);
  if (failure) return { target, entry: { ...proven, retiredAt, failure }, notices };
  const formerRefused = isFormerRefused(target, { accepted: kept.former }, formers) || undefined;
  return { target, entry: { ...proven, kept: undefined, formerRefused, retiredAt }, notices };
}

/** The former one, with its value if the rotation saves values: it must be refused once it is retired. */
function formerToKeep(
  { former, current, salt }: OverlappingTarget,
  formers: readonly Credential[],
): AccessCredential | undefined {
  const known = formers.find(({ value }) => saltedMark(salt, value) === former?.mark);
  return former && { ...former, value: current.value === undefined ? undefined : known?.value };
}

/** The last failure, if no later run can show that it has ended. */
function lastingFailure(entry: Entry | undefined, target: Target): Failure | undefined {
  if (!entry?.failure || !isAbout(entry, target)) return undefined;
  return isLasting(entry.failure, target) ? entry.failure : undefined;
}

/** Whether a failure stays one until the next reset: it is about a former credential that is not saved. */
function isLasting({ isOfFormer }: Failure, { current }: Target): boolean {
  return isOfFormer === true && current?.value === undefined;
}

/** Whether all credentials that resets have replaced were refused; undefined if one was not, or none was replaced. */
function areFormersRefused(results: readonly Verified[]): true | undefined {
  const replaced = results.filter(
    ({ target: { former, count } }) => former !== undefined || count > 1,
  );
  return (replaced.length > 0 && replaced.every(({ entry }) => entry.formerRefused)) || undefined;
}

/** What is damaged is not known: it is verified again, and nothing is claimed from it. */
function entriesIn(saved: CredentialVerificationOutputs | undefined): Entries {
  const entries = parsed(saved?.memory);
  const isEntry = ([, one]: [string, unknown]) => isObject(one) && typeof one["count"] === "number";
  return new Map(
    isObject(entries) ? (Object.entries(entries).filter(isEntry) as [string, Entry][]) : [],
  );
}

function failureOf(results: readonly Verified[]): RekeyError | undefined {
  const failures = results.flatMap(({ target, entry: { failure } }) =>
    failure ? [{ target, failure }] : [],
  );
  if (failures.length === 0) return undefined;
  const lines = named(failures.map(({ target, failure }) => `${target.name}: ${failure.reason}`));
  const advice = [...new Set(failures.map(adviceFor))].join(" ");
  const isAll = failures.every(({ target, failure }) => isLasting(failure, target));
  const next = isAll ? "fails again" : "verifies again";
  const text = `Not verified:\n  ${lines.join("\n  ")}\nThe rotation itself is saved. ${outputsAreFormer} The next \`up\` ${next}, and resets nothing. ${advice}`;
  const codes = new Set(failures.map(({ failure }) => failure.code));
  const code = codes.size === 1 ? failures[0]?.failure.code : undefined;
  return new RekeyError(code ?? "REKEY_VERIFICATION_FAILED", text, "not sent");
}

function adviceFor({
  target,
  failure,
}: {
  readonly target: Target;
  readonly failure: Failure;
}): string {
  const { subject, current } = target;
  if (!current || !isLasting(failure, target)) return failure.advice;
  return `${failure.advice} The former ${credentialNoun(current)} is not saved, so no later run can try it: this stays a failure until the next reset. Set a new version, which resets the ${subject.kind.word}.`;
}

/** Secrets that are named in one message. */
const maxNamed = 20;

function named(lines: readonly string[]): readonly string[] {
  return lines.length > maxNamed
    ? [...lines.slice(0, maxNamed), `and ${lines.length - maxNamed} more`]
    : lines;
}
